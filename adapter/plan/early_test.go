package plan

import (
	"slices"
	"testing"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/sched"
)

// If the start of a job's next step was put off while its application waited for it, the job goes
// on as soon as that delays no other job. This is also true at sites where no application may
// continue before its promised second.
func TestJobThatWasPutOffGoesOnWhenThatDelaysNoOther(t *testing.T) {
	const promised, moved = 81, 145
	all := core.Job{ID: 7, Choices: []core.EP{{{Duration: 50, Nodes: 14}}}} // a job that needs all nodes that the other job does not hold now
	for _, c := range []struct {
		name    string
		now     core.Time
		meant   core.Time
		asks    bool
		allowed bool // the site lets applications go on early
		waits   []core.Job
		want    core.Time // expected end of the job's step
	}{
		{"it was put off", 90, promised, true, false, nil, 90},
		{"… and the promised second has not come", 80, promised, true, false, nil, moved},
		{"… and it still works", 90, promised, false, false, nil, moved},
		{"… and a waiting job needs its nodes", 90, promised, true, false, []core.Job{all}, moved},
		{"it is early", 90, moved, true, false, nil, moved},
		{"it is early, where the site lets it go on", 90, moved, true, true, nil, 90},
	} {
		t.Run(c.name, func(t *testing.T) {
			job, _ := twoInTurn()
			job.Promise, job.PlannedEnd = []core.Time{moved, moved + 27}, c.meant
			if c.asks {
				job.Question = &managed.Question{}
			}
			in := Input{Now: c.now, Settings: managed.Settings{Policy: sched.Repeated{}, Advance: c.allowed}}
			like := core.Machine{Nodes: 16}
			m := &machine{World: &World{Input: in, Nodes: make([]string, like.Nodes), drafts: []*managed.Job{job}}, state: in.Settings.Policy.New(like)}
			m.kept = m.keepPromises(like, nil)
			m.state.Running(c.now, m.kept[0])
			for _, j := range c.waits {
				m.enter(Waiter{Job: j})
			}
			m.Planned = m.state.Plan(c.now)
			went := m.advance()
			if want := []core.Time{c.want, c.want + 27}; went != (c.want == c.now) || !slices.Equal(job.Promise, want) {
				t.Errorf("it is promised %v (improved: %v), want %v", job.Promise, went, want)
			}
		})
	}
}

// If a later step needs more nodes than the machine still has, an application that continued early
// would hold the nodes of its next step forever.
func TestEarlyApplicationDoesNotGoOnIntoStepWithoutEnd(t *testing.T) {
	job := runs(1, 0, 0, 2, core.EP{{Duration: 20, Nodes: 2}, {Duration: 20, Nodes: 3}, {Duration: 20, Nodes: 10}}, 50, 70, 90)
	job.Question = &managed.Question{}
	in := Input{Now: 10, Settings: managed.Settings{Policy: sched.Repeated{}, Advance: true}}
	m := &machine{World: &World{Input: in, Nodes: make([]string, 8), drafts: []*managed.Job{job}}}
	m.kept = []core.Allocation{{Job: 1, Start: 10, EP: job.Remaining(10)}}
	went := m.advance()
	if want := []core.Time{50, 70, 90}; went || !slices.Equal(job.Promise, want) {
		t.Errorf("on 8 nodes it is promised %v (improved: %v), want %v", job.Promise, went, want)
	}
}
