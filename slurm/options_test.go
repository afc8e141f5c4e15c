package slurm_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The SPANK plug-in does not parse the options. job_submit.lua does, so slurmctld rejects a wrong option.
// lua_test.go tests the messages in general, without Slurm.
func TestAWrongOptionIsRefusedInOneLineAndNothingIsQueued(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	const form = "500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"
	rubbish := strings.Repeat("\xc3\x28\xa0\n", 16*1024)
	for name, test := range map[string]struct {
		command []string
		script  string
		says    []string
	}{
		"sbatch":              {[]string{"sbatch", "--ep=2x500"}, "#!/bin/sh\n", []string{"sbatch: error: accordion: evolution profile, --ep, column 3:", `"500"`, form}},
		"loose":               {[]string{"sbatch", "--ep=8X1h"}, "#!/bin/sh\n", []string{"--ep, column 1:", `"8X1h"`, "; write 8x1h"}},
		"salloc":              {[]string{"salloc", "--ep=2x20s,0x1h", "true"}, "", []string{"salloc: error: accordion: evolution profile, --ep,", `"0"`, "a number of nodes from 1"}},
		"srun":                {[]string{"srun", "--mold=2x1h|4", "true"}, "", []string{"srun: error: accordion: moldable configurations, --mold, column 6:", `"4"`, "NODESxDURATION"}},
		"a line":              {[]string{"sbatch"}, "#!/bin/sh\n#SBATCH --ep=2x20s,-3x20s\n", []string{"--ep,", `"-3"`, "a number of nodes"}},
		"a moldable line":     {[]string{"sbatch"}, "#!/bin/sh\n#SBATCH --mold=4x2h|8x70\n", []string{"--mold,", `"70"`, form}},
		"empty":               {[]string{"sbatch", "--ep="}, "#!/bin/sh\n", []string{`""`, "NODESxDURATION"}},
		"64 KiB of rubbish":   {[]string{"sbatch", "--ep=" + rubbish}, "#!/bin/sh\n", []string{`\xc3(\xa0\x0a`, "NODESxDURATION"}},
		"both":                {[]string{"sbatch", "--ep=2x1h", "--mold=2x1h"}, "#!/bin/sh\n", []string{"either evolving or moldable"}},
		"both, one in a line": {[]string{"sbatch", "--ep=2x1h"}, "#!/bin/sh\n#SBATCH --mold=2x1h\n", []string{"either evolving or moldable"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, said, err := lab.Exec("bob", test.script, test.command...)
			// The second line is the client's own message that the submission failed.
			line, own, two := strings.Cut(said, "\n")
			if err == nil || out != "" || !two || strings.Contains(own, "\n") || strings.Contains(own, "accordion") || len(line) > 400 {
				t.Fatalf("want a line of refusal and the client's own: %v, %q, %.1000q", err, out, said)
			}
			for _, piece := range test.says {
				if !strings.Contains(line, piece) {
					t.Errorf("no %s in: %s", piece, line)
				}
			}
		})
	}
	if jobs := lab.Run(t, "root", "squeue", "-h", "-a"); jobs != "" {
		t.Errorf("pending: %s", jobs)
	}
}

// awayMessage matches what sbatch prints about a profile while no sidecar runs.
var awayMessage = regexp.MustCompile(`(?m)^sbatch: accordion: (the sidecar is away since|no sidecar is running).*\n?`)

// withoutAway returns a client's output without the message that no sidecar runs.
func withoutAway(said string) string {
	return strings.TrimSpace(awayMessage.ReplaceAllString(said, ""))
}

func TestAnOptionReachesThePlannerFromEveryClient(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	long := strings.TrimSuffix(strings.Repeat("1x1h30m20s,2x1h30m20s,", 512), ",")
	for name, test := range map[string]struct {
		command []string
		script  string
		mark    string
	}{
		"sbatch":                   {[]string{"sbatch", "--ep=2x20s,4x20s"}, "#!/bin/sh\n", "ep=2x20s,4x20s"},
		"a line":                   {[]string{"sbatch"}, "#!/bin/sh\n#SBATCH --ep=2x20s,4x20s\n", "ep=2x20s,4x20s"},
		"a moldable line":          {[]string{"sbatch"}, "#!/bin/sh\n#SBATCH --mold=2x2h|4x70m\n", "mold=2x2h|4x1h10m"},
		"the command line wins":    {[]string{"sbatch", "--ep=1x1m"}, "#!/bin/sh\n#SBATCH --ep=2x20s\n", "ep=1x1m"},
		"1,024 steps":              {[]string{"sbatch", "--ep=" + long}, "#!/bin/sh\n", "ep=" + long},
		"the same in the script":   {[]string{"sbatch", "--ep=3x1h"}, "#!/bin/sh\n#EP 3x60m\n", "ep=3x1h"},
		"beside a comment":         {[]string{"sbatch", "--ep=3x1h", "--comment=run 7"}, "#!/bin/sh\n", "ep=3x1h"},
		"with options that follow": {[]string{"sbatch", "--ep", "3x1h", "-n6"}, "#!/bin/sh\n", "ep=3x1h"},
	} {
		t.Run(name, func(t *testing.T) {
			out, said, err := lab.Exec("alice", test.script, append(test.command, "--parsable")...)
			if err != nil || withoutAway(said) != "" {
				t.Fatalf("refused: %v, %.400s", err, said)
			}
			isHeldAs(t, lab.Run(t, "root", "scontrol", "-o", "show", "job", out), test.mark)
		})
	}
	lab.Clear(t)
	// These clients wait for their allocation, and end when it is cancelled.
	for _, client := range []string{"salloc", "srun"} {
		t.Run(client, func(t *testing.T) {
			ended := make(chan string, 1)
			go func() {
				_, said, err := lab.Exec("alice", "", client, "--ep=2x20s,4x20s", "-J", "from-"+client, "true")
				ended <- fmt.Sprint(err, said)
			}()
			var id string
			lab.Await(t, time.Minute, client+"'s job is queued", func() bool {
				select {
				case said := <-ended:
					t.Fatalf("it does not wait: %s", said)
				default:
				}
				id = lab.Run(t, "root", "squeue", "-h", "-n", "from-"+client, "-o", "%A")
				return id != ""
			})
			isHeldAs(t, lab.Run(t, "root", "scontrol", "-o", "show", "job", id), "ep=2x20s,4x20s")
			lab.Run(t, "alice", "scancel", id)
			<-ended
		})
	}
}

// isHeldAs checks that the job, as scontrol shows it, is held and has the mark.
func isHeldAs(t *testing.T, job, mark string) {
	t.Helper()
	for _, want := range []string{"JobState=PENDING", "Priority=0 ", "AdminComment=accordion:" + mark + " "} {
		if !strings.Contains(job, want) {
			t.Errorf("no %.100s in %.1500s", want, job)
		}
	}
}

func TestAnOptionThatContradictsTheScriptIsRefusedAtSubmission(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	id, said, err := lab.Sbatch("bob", "#EP 2x20s,4x20s", "--ep=2x20s")
	if err == nil || !strings.Contains(said, "--ep says something else than the script's #EP line: say it once") {
		t.Errorf("job %s: %v, %s", id, err, said)
	}
	for _, command := range []string{"sbatch -N1 --ep=2x20s,4x20s", "salloc -N1 --ep=2x20s,4x20s true", "srun -N1 --ep=2x20s,4x20s true"} {
		_, said, err := lab.Exec("bob", "#!/bin/sh\n", strings.Fields(command)...)
		if err == nil || !strings.Contains(said, "--nodes contradicts") {
			t.Errorf("%s: %v, %s", command, err, said)
		}
	}
}

func TestThePluginsOptionsDisturbNoOrdinaryJobAndNoStep(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	id := lab.Submit(t, "bob", "srun sh -c 'env | grep -c -i accordion_ep'; echo over", "-N2")
	lab.Await(t, time.Minute, "the job ends", func() bool { return lab.Run(t, "bob", "squeue", "-h", "-j", id) == "" })
	out := lab.File("bob", "slurm-"+id+".out")
	if !strings.Contains(out, "over") || strings.Contains(out, "spank") || strings.Contains(strings.ToLower(out), "accordion:") {
		t.Errorf("the job printed %q", out)
	}
}

// Slurm puts a job's options into its environment, where sbatch and srun inside the job find them.
func TestWhatAnEvolvingJobSubmitsIsOrdinaryUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	inside := []string{"env", "_SLURM_SPANK_OPTION_accordion_ep=2x20s,3x20s", "SLURM_SPANK__SLURM_SPANK_OPTION_accordion_ep=2x20s,3x20s",
		"SLURM_SPANK__SLURM_SPANK_OPTION_accordion_mold=2x20s", "sbatch", "--parsable", "--begin=now+1hour"}
	for name, test := range map[string]struct {
		options []string
		mark    string
	}{
		"ordinary": {nil, ""},
		"another":  {[]string{"--ep=1x1h"}, "AdminComment=accordion:ep=1x1h "},
	} {
		t.Run(name, func(t *testing.T) {
			id, said, err := lab.Exec("alice", "#!/bin/sh\n", append(inside, test.options...)...)
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			job := lab.Run(t, "root", "scontrol", "-o", "show", "job", id)
			if strings.Contains(job, "AdminComment=") != (test.mark != "") || !strings.Contains(job, test.mark) {
				t.Errorf("want mark %q in %s", test.mark, job)
			}
		})
	}
}
