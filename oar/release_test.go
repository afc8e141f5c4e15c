package oar_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"accordion/internal/lab"
)

// The test runs the main actions briefly on the OAR of Debian's next release, 2.6. A job grows and shrinks although the sidecar is killed
// meanwhile, and so does a job that never calls accordion step. A moldable job gets its choice. Wrong requests are refused with one line,
// and the holder of a reservation does not start. With ACCORDION_TEST_OAR_RELEASE=2.6 all other tests run on that release.
func TestMainActsOnTheOtherRelease(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 9, lab.Release("2.6"), lab.Users("alice", "bob"))
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	grows := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x24s,4x12s,1x12s", 22, "10 10"))
	wide := submitScript(t, lab, "bob", fmt.Sprintf(speaker, "3x24s,1x12s", 22, "10"))
	mute := submitScript(t, lab, "alice", fmt.Sprintf(silent, "1x24s,2x12s", 72))
	lab.Await(t, long, "the sidecar's jobs run", func() bool {
		return lab.SQL(t, "select count(*) from jobs where state = 'Running' and job_id in ("+strings.Join([]string{grows, wide, mute}, ", ")+")") == "3"
	})
	lab.Do(t, "serve-stop", "--kill")
	molds := lab.Submit(t, "bob", "true", "-q", "evolve", "-l", "nodes=9,walltime=0:1:0", "-l", "nodes=2,walltime=0:2:0")
	lab.Do(t, "serve") // accordion step waits for a sidecar for ten seconds
	for _, job := range []string{grows, wide, mute, molds} {
		ends(t, lab, job)
	}
	if got := stepSizes(t, lab, "alice", grows); !slices.Equal(got, []int{2, 4, 1}) {
		t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 4, 1", grows, got)
	}
	checkReached(t, lab, "alice", grows, []int{2, 4, 1})
	checkReached(t, lab, "bob", wide, []int{3, 1})
	if got := sizesSeen(t, lab, "alice", mute); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("from inside, silent job %s had %v nodes in turn, want 1, 2", mute, got)
	}
	if got := hosts(t, lab, molds); len(got) != 2 && len(got) != 9 {
		t.Errorf("the moldable job ran on %v, want two nodes or nine", got)
	}
	awaitNothingLeft(t, lab)
	nodesAreClean(t, lab)
	checkNoOverlap(t, lab)
	lab.Do(t, "serve-stop")
	lab.Run(t, "bob", "bash", "-c", "printf '#!/bin/bash\n#EP 2x12s,3x12s\ntrue\n' >slurm.sh; chmod +x slurm.sh")
	for _, wrong := range [][]string{{"-S", "./slurm.sh"}, {"-t", "ep=2x12s,3", "true"}, {"-t", "ep=2x12s,3x12s", "-l", "nodes=5", "true"}, {"-t", "ep=20x12s", "true"}} {
		before := lab.SQL(t, everyJob)
		_, says, err := lab.Exec("bob", append([]string{"oarsub", "-q", "evolve"}, wrong...)...)
		if err == nil || !strings.HasPrefix(says, "accordion: ") || strings.Contains(says, "\n") || lab.SQL(t, everyJob) != before {
			t.Errorf("oarsub %v ends with %v and prints %q; want that it is refused in one line and nothing is queued", wrong, err, says)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, errs, err := lab.ExecWithin(long, "root", "env", "ACCORDION_TEST_INSIDE_OAR_LAB="+lab.Database, program, "-test.run=^TestInsideTheLab$/^a_holder_never_begins$", "-test.v"); err != nil || !strings.Contains(out, "--- PASS: TestInsideTheLab/a_holder") {
		t.Errorf("a holder never begins: %v\n%s\n%s", err, out, errs)
	}
}
