package oar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/scripts/lab"
)

// oarwalltime makes a job shorter, so that its profile does not fit any more, and longer again.
func TestAShortenedWalltimeIsPlannedWithAndToldOnARealOAR(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 5, lab.Users("alice"))
	lab.Do(t, "serve")
	t.Cleanup(func() { sidecarsWords(t, lab) })
	job := submitScript(t, lab, "alice", fmt.Sprintf(speaker, "2x60s,4x12s,1x12s", 58, "10 10"))
	lab.Await(t, long, "the job runs", func() bool { return lab.State(t, job) == "Running" })
	lab.Await(t, long, "its script has begun, and what it is told finds its file", func() bool {
		return strings.Contains(lab.Run(t, "alice", "ls"), "reached."+job)
	})
	journal := func(word string) {
		t.Helper()
		lab.Await(t, long, "the journal says that the job is "+word, func() bool {
			return strings.Contains(lab.Run(t, "root", "accordion", "journal", "--job", job), " "+word+": its limit was ")
		})
	}
	lab.Run(t, "alice", "oarwalltime", job, "0:0:55")
	journal("shortened")
	lab.Run(t, "root", "oarwalltime", job, "0:10:0")
	journal("restored")
	ends(t, lab, job)
	if got := stepSizes(t, lab, "alice", job); !slices.Equal(got, []int{2, 4, 1}) {
		t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 4, 1", job, got)
	}
	said := lab.Run(t, "alice", "sh", "-c", "cat OAR."+job+".stderr")
	for _, want := range []string{"accordion: the limit of this job was shortened to 55s: it ends at ", ", in step 1 of 3", "accordion: the limit of this job was lengthened to 10m: it ends at ", ", in step 3 of 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("job %s reads\n%s\nwant %q in it", job, said, want)
		}
	}
	nothingLeft(t, lab)
	noOverlap(t, lab)
}
