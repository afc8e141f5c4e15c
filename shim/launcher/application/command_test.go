package application

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandsAreMarked(t *testing.T) {
	for line, want := range map[string]string{
		"sbatch -p main job.sh 1":                "sbatch --parsable -H --comment=launch=7 -p main job.sh 1",
		"env A=1 /usr/bin/sbatch job.sh":         "env A=1 /usr/bin/sbatch --parsable -H --comment=launch=7 job.sh",
		"sudo -u x oarsub -q evolve -S ./job.sh": "sudo -u x oarsub -t launch=7 -q evolve -S ./job.sh",
	} {
		c, ok := ReadCommand(strings.Fields(line))
		if d := cmp.Diff(want, strings.Join(c.Marked(7), " ")); !ok || d != "" {
			t.Error(d)
		}
	}
	if _, ok := ReadCommand([]string{"./solve", "sbatch.sh"}); ok {
		t.Error("what is no batch command is taken for one")
	}
}

func TestJobNumbersAreRead(t *testing.T) {
	sbatch, _ := ReadCommand([]string{"sbatch"})
	oarsub, _ := ReadCommand([]string{"oarsub"})
	for _, c := range []struct {
		command Command
		printed string
		want    int64
	}{
		{sbatch, "4711\n", 4711},
		{sbatch, "4711;east\n", 4711},
		{sbatch, "welcome to the cluster\n12\n", 12},
		{sbatch, "Submitted batch job 12\n", 0},
		{sbatch, "", 0},
		{oarsub, "[ADMISSION RULE] Modify resource description\nOAR_JOB_ID=55\n", 55},
		{oarsub, "OAR_JOB_ID=-5\n", 0},
		{oarsub, "55\n", 0},
	} {
		got, err := c.command.Job(c.printed)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q: %d, %v", c.printed, got, err)
		}
	}
}

func TestImpossibleCommands(t *testing.T) {
	dir := t.TempDir()
	with, without, other := filepath.Join(dir, "with"), filepath.Join(dir, "without"), filepath.Join(dir, "other")
	for path, text := range map[string]string{
		with:    "#!/bin/sh\neval \"$(/opt/accordion part)\" || exit\n",
		without: "#!/bin/sh\n./solve\n",
		other:   "no script",
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		words   []string
		several bool
		want    string // part of the error; "" if there is no error
	}{
		{[]string{"sbatch", "-o", other, without}, false, ""},
		{[]string{"sbatch", "-o", other, without}, true, without + ` has no "accordion part" in it`},
		{[]string{"sbatch", with, "--comment=mine"}, true, ""},
		{[]string{"sbatch", with, without}, true, ""},
		{[]string{"sbatch", "--comment=mine", with}, false, "sbatch --comment: "},
		{[]string{"sbatch", "-a", "1-3", with}, false, "sbatch --array: "},
		{[]string{"sbatch", "--wrap=accordion part"}, true, ""},
		{[]string{"sbatch", "--wrap", "sleep 1"}, true, `sleep 1 has no "accordion part" in it`},
		{[]string{"oarsub", without + " 3"}, true, `has no "accordion part" in it`},
		{[]string{"oarsub", "--array", "3", with}, true, "oarsub --array: "},
		{[]string{"sbatch", "elsewhere.sh"}, true, ""}, // the script cannot be read, so the command is accepted
	} {
		command, _ := ReadCommand(c.words)
		err := command.Check(c.several)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.words, err, c.want)
		}
	}
}
