package slurm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"

	"github.com/kballard/go-shellquote"
)

var (
	writes = regexp.MustCompile("`(#(?:EP|MOLD|SBATCH --(?:ep|mold|comment)=) ?[^`…]+|sbatch [^`…]*--(?:ep|mold|comment|array)=[^`…]+)`")
	lines  = regexp.MustCompile(`(?m)^    (#(?:EP|MOLD) \S+)`)
)

// ways returns the ways in which users may write a job's request according to the guides: lines in scripts, and
// options of sbatch.
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
				all = append(all, strings.ReplaceAll(found[1], `\|`, "|")) // as in a table
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A real sbatch accepts every way that the guides show, and the sidecar finds the request of each job.
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
			words, err := shellquote.Split(way)
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			script, options = "#!/bin/sh\nsleep 1\n", append(options, words[1:]...)
		}
		if strings.Contains(way, "--array=") { // this way submits the job's script as an array
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

// readmeBlock returns the lines of the README's block that contains `words`. It joins continued lines and removes
// comments.
func readmeBlock(t *testing.T, words string) []string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile(`(?m)(^    .*\n)+`).FindAllString(string(text), -1) {
		if strings.Contains(block, words) {
			block = regexp.MustCompile(`(?m)^    | {2,}# .*$`).ReplaceAllString(block, "")
			return strings.Split(strings.TrimSpace(strings.ReplaceAll(block, "\\\n", "")), "\n")
		}
	}
	t.Fatalf("the README has no block with %q", words)
	return nil
}

// TestTheReadmesSlurmExampleRunsOnThisMachine runs the README's commands that boot a Slurm, as printed, and the
// commands in the sentences below. Then the README's first script runs there, as printed.
func TestTheReadmesSlurmExampleRunsOnThisMachine(t *testing.T) {
	t.Parallel()
	lab := lab.Slurm(t, 8) // `up 8` below finds this lab
	exports := ""
	try := func(line string) (string, error) {
		c := lab.Shell(t.Context(), exports+line)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(line string) string {
		t.Helper()
		out, err := try(line)
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return out
	}
	for _, line := range readmeBlock(t, "slurm-lab up 8") {
		switch {
		case strings.HasPrefix(line, "eval "):
			exports = line + "\n"
			must("")
		case line == "accordion status": // this line is repeated until the sidecar has read the queue
			lab.Await(t, 2*time.Minute, "accordion status shows the job on 2 nodes", func() bool {
				out, err := try(line)
				return err == nil && regexp.MustCompile(`alice\s.*\brunning\b.*\b1/2\b`).MatchString(out)
			})
		default:
			must(line)
		}
	}
	jobs := func() string { return strings.TrimSpace(must(`squeue -h -t R,CG,PD -o "%T %D"`)) }
	lab.Await(t, 2*time.Minute, "squeue shows the job on 5 nodes", func() bool { return jobs() == "RUNNING 5" })
	must(`(timeout 60 accordion journal --follow || true) | grep -m 1 grew`) // the pipeline ends when grep has found its line
	lab.Await(t, 2*time.Minute, "the job has ended", func() bool { return jobs() == "" })
	for name, program := range map[string]string{"preprocess": "two", "solve": "five", "postprocess": "three"} {
		must("./scripts/slurm-lab exec -- sh -c 'printf \"#!/bin/sh\\necho " + program + "\\n\" >" + name + "; chmod +x " + name + "'")
	}
	out, said, err := lab.Exec("alice", strings.Join(readmeBlock(t, "./preprocess"), "\n")+"\n", "sbatch", "--output=first.out")
	if err != nil {
		t.Fatalf("sbatch: %v %s %s", err, out, said)
	}
	lab.Await(t, 3*time.Minute, "the README's script has ended", func() bool {
		return strings.Contains(lab.File("alice", "first.out"), "three") && jobs() == ""
	})
	for word, want := range map[string]int{"two\n": 2, "five\n": 5, "three\n": 3} {
		if got := strings.Count(lab.File("alice", "first.out"), word); got != want {
			t.Errorf("%d lines %q, want %d:\n%s", got, word, want, lab.File("alice", "first.out"))
		}
	}
	must("./scripts/slurm-lab down")
	if _, err := os.Stat(lab.Dir); !os.IsNotExist(err) {
		t.Errorf("the lab's folder is still there: %v", err)
	}
}

// TestTheDemoOnARealSlurm runs the demo as printed, with its lab and its page in other places.
//
//	ACCORDION_TEST_SLURM=required go test ./slurm -run TheDemoOnARealSlurm -v -args -accordion.long
func TestTheDemoOnARealSlurm(t *testing.T) {
	t.Parallel()
	if !*long {
		t.Skip("takes three minutes: -args -accordion.long")
	}
	lab := lab.Slurm(t, 1) // for its folder and its ports
	lab.Do(t, "down")
	page := filepath.Join(t.TempDir(), "accordion-demo.html")
	if out, err := lab.Shell(t.Context(), "./scripts/demo --on slurm --out "+page).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "ep=2x20s,5x25s,3x20s") {
		t.Errorf("no chart in %s: %v", page, err)
	}
}
