package slurm_test

import (
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// submitLab returns a lab for tests of job_submit.lua in a real slurmctld.
func submitLab(t *testing.T) *lab.SlurmLab {
	t.Helper()
	return lab.TakeSlurm(t, 4, lab.Users("alice", "bob"))
}

// One submission takes about 50 ms, so lua_test.go tests the plug-in's messages in general, without Slurm.
func TestABadRequestIsRefusedInOneLineAndNothingIsQueued(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	rubbish := strings.Repeat("\xc3\x28\xa0", 60*1024/3)
	for name, test := range map[string]struct {
		script  string
		options []string
		says    []string // parts of the message
	}{
		"empty":                  {"#EP", nil, []string{`""`, "NODESxDURATION"}},
		"zero nodes":             {"#EP 0x20s", nil, []string{`"0"`, "a number of nodes from 1"}},
		"zero seconds":           {"#EP 2x0s", nil, []string{`"0s"`, "500s, 90m, 1h30m, 2d"}},
		"negative":               {"#EP 2x20s,-3x20s", nil, []string{`"-3"`, "a number of nodes"}},
		"a bare number":          {"#EP 2x500", nil, []string{`"500"`, "500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"}},
		"overflow":               {"#EP 2x99999999999999999999d", nil, []string{`"99999999999999999999d"`, "3650 days"}},
		"1,025 steps":            {"#EP " + strings.Repeat("1x1s,2x1s,", 512) + "1x1s", nil, []string{`"1x1s"`, "1024 steps"}},
		"more than the pool":     {"#EP 2x20s,5x20s", nil, []string{`"5x20s"`, "4 nodes of partition main"}},
		"another encoding":       {"#EP 2\xd720s", nil, []string{`2\xd720s`, "NODESxDURATION"}},
		"60 KiB of rubbish":      {"#EP " + rubbish, nil, []string{`\xc3(\xa0`, "NODESxDURATION"}},
		"over 64 KiB of rubbish": {"#EP " + rubbish + rubbish, nil, []string{"longer than 65536 bytes", "#EP lines"}},
		"a colon (found/21)":     {"#EP:1x20s,2x20s", nil, []string{"script line 2", `write "#EP 1x20s,2x20s"`}},
		"a blank (found/21)":     {"#EP 1x20s, 2x20s", nil, []string{`" 2x20s"`, "no blanks after the comma"}},
		"a capital X":            {"#EP 1x20s,4X20s", nil, []string{`"4X20s"`, "; write 4x20s"}},
		"minutes in a word":      {"#EP 1x20min", nil, []string{`"20min"`, "; write 1x20m"}},
		"half an hour more":      {"true", []string{"--comment=ep=2x1.5h"}, []string{`"1.5h"`, "; write 2x1h30m"}},
		"blanks in the comment":  {"true", []string{"--comment=ep=2 x 20m"}, []string{`"ep=2 x 20m"`, "; write ep=2x20m"}},
		"a bare comment":         {"true", []string{"--comment=ep"}, []string{"--comment=ep=5x500s,10x1h"}},
		"in the comment":         {"true", []string{"--comment=ep=2x500"}, []string{`"500"`, "500s"}},
		"rubbish in the comment": {"true", []string{"--comment=ep=" + strings.Repeat("9", 60000)}, []string{`"9999999`, "NODESxDURATION"}},
		"configurations":         {"#MOLD 4x2h|8x70", nil, []string{`"70"`, "500s"}},
		"too wide":               {"#MOLD 4x2h|8x70m", nil, []string{`"8x1h10m"`, "4 nodes"}},
		"contradicting -N":       {"#EP 2x20s", []string{"-N3"}, []string{"--nodes contradicts"}},
		"contradicting -t":       {"#EP 2x20s", []string{"-t10"}, []string{"--time contradicts"}},
		"heterogeneous":          {"#EP 2x20s", []string{"-N2", ":", "-N1"}, []string{"heterogeneous"}},
		"an expander":            {"true", []string{"--dependency=expand:1"}, []string{"expand"}},
		"our reservation":        {"true", []string{"--reservation=accordion-1"}, []string{"accordion-"}},
	} {
		t.Run(name, func(t *testing.T) {
			id, said, err := lab.Sbatch("bob", test.script, test.options...)
			if err == nil {
				t.Fatalf("it was accepted as job %s", id)
			}
			// The second line is sbatch's own message that the submission failed. It is always the same.
			lines := strings.Split(said, "\n")
			if len(lines) != 2 || !strings.Contains(lines[0], "accordion: ") || !strings.Contains(lines[1], "Batch job submission failed") || len(lines[0]) > 400 {
				t.Fatalf("sbatch says %d lines: %.1000q", len(lines), said)
			}
			for _, piece := range test.says {
				if !strings.Contains(lines[0], piece) {
					t.Errorf("no %s in: %s", piece, lines[0])
				}
			}
		})
	}
	if jobs := lab.Run(t, "root", "squeue", "-h", "-a"); jobs != "" {
		t.Errorf("pending: %s", jobs)
	}
}

func TestALineAfterTheFirstCommandIsToldAtSubmission(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	id, said, err := lab.Sbatch("bob", "true\n#EP 1x20s,2x20s", "-p", "shared")
	if err != nil || id == "" || !strings.Contains(said, "script line 3: ") || !strings.Contains(said, "is not read") {
		t.Errorf("job %q, %q, %v", id, said, err)
	}
}

func TestAManagedJobIsHeldAndItsOwnerCanOnlyCancelIt(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	id := lab.Submit(t, "alice", "#EP 2x20s,4x20s,3x20s\nsrun hostname", "--comment=run 7")
	show := func(format string) string { return lab.Run(t, "alice", "squeue", "-h", "-j", id, "-o", format) }
	if got, want := show("%t %p %D %l %k"), "PD 0.00000000000000 2 1:00 ep=2x20s,4x20s,3x20s run 7"; got != want {
		t.Errorf("the job is %q, want %q", got, want)
	}
	if mark := lab.Run(t, "root", "squeue", "-h", "-j", id, "-O", "admin_comment:60"); strings.TrimSpace(mark) != "accordion:ep=2x20s,4x20s,3x20s" {
		t.Errorf("its mark is %q", mark)
	}
	for _, change := range [][]string{
		{"release", id}, {"update", "JobId=" + id, "Priority=1000"}, {"update", "JobId=" + id, "Nice=5"},
		{"update", "JobId=" + id, "NumNodes=1"}, {"update", "JobId=" + id, "TimeLimit=5"}, {"update", "JobId=" + id, "Comment=ep=1x1s"},
		{"update", "JobId=" + id, "Requeue=1"}, {"update", "JobId=" + id, "Name=x"}, {"hold", id},
	} {
		if _, said, err := lab.Exec("alice", "", append([]string{"scontrol"}, change...)...); err == nil && !strings.Contains(said, "denied") {
			t.Errorf("scontrol %s: the owner may do it: %q", strings.Join(change, " "), said)
		}
	}
	if got := show("%t %p %D %k"); got != "PD 0.00000000000000 2 ep=2x20s,4x20s,3x20s run 7" {
		t.Errorf("after the owner's attempts the job is %q", got)
	}
	lab.Run(t, "alice", "scancel", id)
	lab.Await(t, time.Minute, "the job is cancelled", func() bool { return show("%t") == "" })
}

func TestAProfileOf1024StepsIsWholeInTheMark(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	profile := strings.TrimSuffix(strings.Repeat("1x1h30m20s,2x1h30m20s,", 512), ",")
	id := lab.Submit(t, "alice", "#EP "+profile)
	if shown := lab.Run(t, "root", "scontrol", "-o", "show", "job", id); !strings.Contains(shown, "AdminComment=accordion:ep="+profile+" ") {
		t.Errorf("not in the mark: %.2000s", shown)
	}
}

func TestOrdinaryJobsRunBesideThePlugin(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	array := lab.Submit(t, "bob", "echo $SLURM_ARRAY_TASK_ID", "--array=1-2", "--comment=run 7", "-p", "shared")
	lab.Await(t, time.Minute, "the array ends", func() bool { return lab.Run(t, "bob", "squeue", "-h", "-j", array) == "" })
	for _, task := range []string{"1", "2"} {
		if got := strings.TrimSpace(lab.File("bob", "slurm-"+array+"_"+task+".out")); got != task {
			t.Errorf("task %s printed %q", task, got)
		}
	}
}
