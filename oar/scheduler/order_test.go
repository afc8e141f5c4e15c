package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/oar/planner"
)

// full returns a cluster of two hosts, both in use until second 100050. Each job requests both hosts, so that the jobs are planned one
// after another. It is second 100000, and the pause between two jobs is 60 s, OAR's default.
func full(by string, claims ...claim) (*translator, error) {
	ask := func(id int64, submitted, walltime core.Time) *waiting {
		w := request(id, walltime, level{"network_address", 2})
		w.submitted = submitted
		return w
	}
	tr := cluster(
		ask(1, 96000, 620),  // a medium job, which has waited more than five times its walltime
		ask(2, 99000, 7200), // a long job
		ask(3, 99100, 600),  // a medium job
		ask(4, 99900, 30),   // a short job, and not a medium one although the pause adds a minute
		ask(5, 99950, 300),  // a medium job, with less work than job 3
	)
	p, err := policy.Pass(by)
	tr.planner, tr.now, tr.conf.SecurityTime = p, 100000, 60
	tr.state.claims = append([]claim{{job: 9, state: "Running", from: 99000, walltime: 990, resources: []int64{10, 20, 30, 40}}}, claims...)
	return tr, err
}

// planned returns the jobs' places in the order of their starts.
func (p *problem) planned(t *testing.T, now core.Time) []planner.Placed {
	t.Helper()
	plan := p.plan(now, func() bool { return false })
	if err := p.check(now, plan); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(plan, func(a, b planner.Placed) int { return cmp.Compare(a.Start, b.Start) })
	return plan
}

func TestJobsRankByWhenTheyWereSubmittedAndForHowLongTheyRun(t *testing.T) {
	for by, want := range map[string]string{
		"repeated+share":        "[1 2 3 4 5]",
		"easy+least":            "[1 2 3 4 5]",
		"traditional":           "[1 4 3 5 2]", // job 1 counts as short because of its long wait
		"traditional:top":       "[1 4 3 5 2]",
		"scojo-p":               "[1 4 3 5 2]",
		"scojo-p:nonpredictive": "[1 4 3 5 2]",
		"share":                 "[1 4 5 3 2]", // a job that has waited for a quarter of an hour goes first
		"share:900s":            "[1 2 3 4 5]", // least work first
	} {
		tr, err := full(by)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var order []int64
		for _, one := range p.planned(t, tr.now) {
			order = append(order, one.Job)
		}
		if got := fmt.Sprint(order); got != want {
			t.Errorf("by %s they are planned in the order %s, want %s", by, got, want)
		}
	}
}

// From second 100200 to 100700 the hosts belong to the plan of a queue with a higher priority. Only the short job fits before that plan, in
// any order.
func TestPlansOfAQueueWithAHigherPriorityStay(t *testing.T) {
	for _, by := range []string{"repeated+share", "easy+least", "traditional", "scojo-p", "share", "share:900s"} {
		tr, err := full(by, claim{job: 8, state: "Waiting", from: 100200, walltime: 440, resources: []int64{10, 20, 30, 40}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		plan := p.planned(t, tr.now)
		if first, second := plan[0], plan[1]; len(plan) != 5 || first.Job != 4 || first.Start != 100050 || second.Start != 100700 {
			t.Errorf("by %s job %d is planned at %d, and job %d at %d; want job 4 at 100050, and no job before 100700", by, first.Job, first.Start, second.Job, second.Start)
		}
	}
}
