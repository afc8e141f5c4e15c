package slurm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/scripts/lab"
	"accordion/shim/shell"
)

var (
	writes = regexp.MustCompile("`(#(?:EP|MOLD|SBATCH --(?:ep|mold|comment)=) ?[^`…]+|sbatch [^`…]*--(?:ep|mold|comment|array)=[^`…]+)`")
	lines  = regexp.MustCompile(`(?m)^    (#(?:EP|MOLD) \S+)`)
)

// ways are how the guides say that users may write what a job needs: lines for scripts, and calls of sbatch.
func ways(t *testing.T) (all []string) {
	t.Helper()
	for _, guide := range []string{"README.md", "docs/user.md"} {
		text, err := os.ReadFile(filepath.Join("..", guide))
		if err != nil {
			t.Fatal(err)
		}
		right, _, _ := strings.Cut(string(text), "\n## When it is refused")
		for _, expression := range []*regexp.Regexp{writes, lines} {
			for _, found := range expression.FindAllStringSubmatch(right, -1) {
				all = append(all, strings.ReplaceAll(found[1], `\|`, "|")) // as a table has it
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Every way that the guides show is taken by a real sbatch, and makes a job whose request the sidecar finds.
func TestARealSlurmTakesWhatTheGuidesSayThatUsersWrite(t *testing.T) {
	t.Parallel()
	lab := lab.TakeSlurm(t, 16, lab.Fast())
	all := ways(t)
	if len(all) < 10 {
		t.Errorf("the guides show only %q", all)
	}
	for _, way := range all {
		script, options := "#!/bin/sh\n"+way+"\nsleep 1\n", []string{"sbatch", "--parsable", "--hold"}
		if strings.HasPrefix(way, "sbatch ") {
			words, err := shell.Split(way)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			script, options = "#!/bin/sh\nsleep 1\n", append(options, words[1:]...)
		}
		if strings.Contains(way, "--array=") { // makes tasks of what the script says
			script = "#!/bin/sh\n#EP 1x5m,2x5m\nsleep 1\n"
		}
		id, said, err := lab.Exec("alice", script, options...)
		if err != nil || withoutAway(said) != "" {
			t.Errorf("%s: %v, %s", way, err, said)
			continue
		}
		job := lab.Run(t, "root", "scontrol", "-o", "show", "job", id)
		if !regexp.MustCompile(`\b(AdminComment|Comment)=(\S*:)?(ep|mold)=`).MatchString(job) {
			t.Errorf("%s: the job has no request: %s", way, job)
		}
		lab.Run(t, "alice", "scancel", id)
	}
}

// The first job of the README, as it stands there, has two nodes and then five.
func TestTheFirstJobOfTheReadmeGrowsOnARealSlurm(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)slurm-lab exec -- (sbatch .*?[^\\])\n`).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatal("the README submits no job")
	}
	words, err := shell.Split(strings.ReplaceAll(found[1], "\\\n", " "))
	if err != nil {
		t.Fatal(err)
	}
	lab := lab.TakeSlurm(t, 8, lab.Fast())
	p := serving(t, lab, "")
	id := strings.TrimPrefix(lab.Run(t, "alice", words...), "Submitted batch job ")
	for _, nodes := range []string{"2", "5"} {
		lab.Await(t, 2*time.Minute, "the job runs on "+nodes+" nodes", func() bool {
			return client(t, lab, "squeue", "-h", "-j", id, "-t", "R", "-o", "%D") == nodes
		})
	}
	lab.Await(t, 2*time.Minute, "it is over", func() bool {
		return client(t, lab, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T") == "COMPLETED"
	})
	clean(t, p)
}
