package two_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/scripts/lab"
)

var long = flag.Bool("accordion.long", false, "start an application 20 times, and judge how long a start takes")

// An application that wants all that it can have starts on both while a job grows on each and others come and go.
func TestAnApplicationStartsOnBothWhileJobsGrowThere(t *testing.T) {
	t.Parallel()
	labs := lab.Two(t, 4, 4, lab.Users("alice", "bob"), lab.Delegate(" "))
	labs.Do(t, "serve")
	times := 3
	if *long {
		times = 20
	}
	var took []float64
	for n := range times {

		if n%2 == 0 { // as long as two starts, about
			labs.Sbatch(t, "bob", eachOnce, "--comment=ep=1x10s,2x20s")
			labs.Oarsub(t, "bob", strings.ReplaceAll(eachOnce, "\n", ";"), "-q", "evolve", "-t", "ep=1x10s,2x20s")
		}
		labs.Sbatch(t, "bob", "sleep 5", "-N1", "-t1")
		labs.Oarsub(t, "bob", "sleep 5", "-l", "nodes=1,walltime=0:1:0")
		a := launch(t, labs, fmt.Sprint("start", n), "exec:./two", "", "sleep 2") // a model may well do without one of them while jobs run there
		a.ends(t, 4*time.Minute, "0")
		a.ran(t, 0.2)
		took = append(took, a.said(t, "all parts run", 1)-a.said(t, "started on", 1))
	}
	slices.Sort(took)
	t.Logf("seconds from start to go: %.1f", took)
	if median, worst := took[len(took)/2], slices.Max(took); *long && (median >= 6 || worst >= 15) {
		t.Errorf("from start to go it takes %.1f s (median) and %.1f s (worst), want 6 and 15 at most", median, worst)
	}
	settled(t, labs)

	cem := launch(t, labs, "cem", "cem:work=120,iterations=10", "", "sleep 2") // on idle clusters all hosts of both are best
	cem.ends(t, 2*time.Minute, "0")
	cem.ran(t, 0.2)
	settled(t, labs)
}
