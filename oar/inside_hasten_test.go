package oar

import (
	"testing"
	"time"

	"accordion/oar/observe"
)

// OAR lays a word aside that comes too soon after a pass: who was released and waits still has it told again, now and then.
func TestOARIsToldAgainOfWhatItHasNotBegun(t *testing.T) {
	companion := func(state, joined string) *observe.Job { return &observe.Job{OARState: state, Joined: joined} }
	for _, c := range []struct {
		name       string
		job        observe.Job
		since      time.Duration
		plan, slow bool
	}{
		{"held", observe.Job{OARState: "Waiting"}, time.Hour, false, false},
		{"released just now", observe.Job{OARState: "Waiting", Released: true}, time.Second, false, false},
		{"released a while ago", observe.Job{OARState: "Waiting", Released: true}, hastenEvery, true, true},
		{"being launched", observe.Job{OARState: "toLaunch", Released: true}, time.Hour, false, false},
		{"running", observe.Job{OARState: "Running", Released: true}, time.Hour, false, false},
		{"its companion waits", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Waiting", observe.AtStart)}}, 0, true, false},
		{"its companion runs", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Running", observe.AtStart)}}, 0, false, false},
		{"it grows", observe.Job{OARState: "Running", Companions: []*observe.Job{companion("Waiting", "")}}, 0, false, false},
	} {
		if plan, slow := unplanned(&c.job, c.since); plan != c.plan || slow != c.slow {
			t.Errorf("%s: plan %v, slow %v; want %v, %v", c.name, plan, slow, c.plan, c.slow)
		}
	}
}
