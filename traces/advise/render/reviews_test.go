package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/traces/advise"
)

// reviews returns the review of six jobs of ada that kept to their line alike.
func reviews() []advise.Review {
	line := core.EP{{Duration: 120, Nodes: 2}, {Duration: 280, Nodes: 5}, {Duration: 60, Nodes: 1}}
	job := advise.ManagedRun{User: "ada", Line: "ep=2x120s,5x280s,1x60s", Declared: line, Began: 1000, Actual: []core.Time{100, 300, 51}, Ended: true}
	return advise.Reviews([]advise.ManagedRun{job, job, job, job, job, job}, advise.Options{})
}

func TestReviewShowsEachStepAndTheBetterLine(t *testing.T) {
	want := `ada ep=2x120s,5x280s,1x60s: 6 runs
  step 1, 2 nodes: told 2m, took 1m40s, and up to 1m40s in 90 %
  step 2, 5 nodes: told 4m40s, took 5m, and up to 5m in 90 %; late in 6, by up to 20s
  step 3, 1 node: told 1m, took 51s, and up to 51s in 90 %
  better: #EP 2x1m50s,5x5m30s,1x57s   on time in 2 of the last 2, as it is in 0

6 jobs with 1 line. A step lasts from when its nodes are there until the script says that it is over; the last one, until the sidecar sees the job's end.
`
	if diff := cmp.Diff(want, Reviews(reviews(), 6, 10, 0.9)); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
}

func TestReviewsAreCutAtTheTop(t *testing.T) {
	all := append(reviews(), reviews()...)
	if got := Reviews(all, 12, 1, 0.9); !strings.Contains(got, "… and 1 more line (--top)\n") || strings.Count(got, "6 runs") != 1 {
		t.Error(got)
	}
	if got := Reviews(nil, 0, 1, 0.9); got != "No job that carried a line is over.\n" {
		t.Error(got)
	}
}
