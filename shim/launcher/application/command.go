package application

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Command is a command that submits a batch job. It contains sbatch or oarsub.
type Command struct {
	words []string
	at    int // index of the word that is sbatch or oarsub
}

// ReadCommand finds sbatch or oarsub among the words. `ok` is false if there is neither.
func ReadCommand(words []string) (c Command, ok bool) {
	at := slices.IndexFunc(words, func(w string) bool {
		base := filepath.Base(w)
		return base == "sbatch" || base == "oarsub"
	})
	return Command{words, at}, at >= 0
}

func (c Command) isOAR() bool { return filepath.Base(c.words[c.at]) == "oarsub" }

// Marked returns the command with options that hold the job and mark it as a part of an application.
func (c Command) Marked(application int64) []string {
	mark := "launch=" + strconv.FormatInt(application, 10)
	more := []string{"--parsable", "-H", "--comment=" + mark}
	if c.isOAR() {
		more = []string{"-t", mark}
	}
	return slices.Insert(slices.Clone(c.words), c.at+1, more...)
}

var (
	oarJob   = regexp.MustCompile(`(?m)^OAR_JOB_ID=([0-9]+)\s*$`)
	slurmJob = regexp.MustCompile(`(?m)^([0-9]+)(;\S*)?\s*$`)
)

// Job parses the job's number from the command's output.
func (c Command) Job(printed string) (int64, error) {
	form := slurmJob
	if c.isOAR() {
		form = oarJob
	}
	all := form.FindAllStringSubmatch(printed, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("it printed no job number: %s", firstLine(printed))
	}
	job, err := strconv.ParseInt(all[len(all)-1][1], 10, 64)
	if err != nil || job < 1 {
		return 0, fmt.Errorf("it printed no job number: %s", all[len(all)-1][0])
	}
	return job, nil
}

// Check returns an error if the command cannot work. The command must not have options that the launcher itself sets, and must not submit
// several jobs. If there are several parts, its script must call accordion part. Check ignores scripts that it cannot read.
func (c Command) Check(several bool) error {
	name := filepath.Base(c.words[c.at])
	scripts := c.scripts()
	for _, w := range c.words[c.at+1:] {
		switch {
		case slices.ContainsFunc(scripts, func(s script) bool { return s.word == w }):
			return barrier(scripts, several) // the rest belongs to the script
		case name == "sbatch" && (w == "--comment" || strings.HasPrefix(w, "--comment=")):
			return errors.New("sbatch --comment: the comment says which application the job is of: leave it out")
		case name == "sbatch" && (w == "--array" || strings.HasPrefix(w, "--array=") || w == "-a"):
			return errors.New("sbatch --array: an application has one job on each cluster")
		case name == "oarsub" && (w == "--array" || strings.HasPrefix(w, "--array")):
			return errors.New("oarsub --array: an application has one job on each cluster")
		}
	}
	return barrier(scripts, several)
}

// script is a job script, or a command that takes its place.
type script struct{ word, text string }

// mostScript is the maximum number of bytes of a script that are read.
const mostScript = 1 << 20

// scripts returns the readable scripts among the words. These are files that begin with #!, and the value of --wrap.
func (c Command) scripts() (all []script) {
	rest := c.words[c.at+1:]
	for i, w := range rest {
		if text, wrap := strings.CutPrefix(w, "--wrap="); wrap {
			all = append(all, script{w, text})
			continue
		}
		if w == "--wrap" && i+1 < len(rest) {
			all = append(all, script{rest[i+1], rest[i+1]})
			continue
		}
		fields := strings.Fields(w) // oarsub takes a command and its arguments as one word
		if len(fields) == 0 || strings.HasPrefix(w, "-") {
			continue
		}
		if info, err := os.Stat(fields[0]); err != nil || !info.Mode().IsRegular() || info.Size() > mostScript {
			continue
		}
		if text, err := os.ReadFile(fields[0]); err == nil && strings.HasPrefix(string(text), "#!") {
			all = append(all, script{w, string(text)})
		}
	}
	return all
}

var callsPart = regexp.MustCompile(`(?i)accordion\S*\s+part\b`)

func barrier(scripts []script, several bool) error {
	if !several || len(scripts) == 0 {
		return nil
	}
	if slices.ContainsFunc(scripts, func(s script) bool { return callsPart.MatchString(s.text) }) {
		return nil
	}
	return fmt.Errorf(`%s has no "accordion part" in it, and is one of several parts: none would ever begin. Write before what the parts do together: eval "$(accordion part)" || exit`,
		scripts[0].word)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 200
	if len(line) > most {
		line = line[:most] + "…"
	}
	return strconv.Quote(line)
}
