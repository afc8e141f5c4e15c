package patient

import (
	"slices"

	"accordion/core"
	"accordion/core/guard"
	"accordion/core/held"
	"accordion/core/mold"
	"accordion/core/profile"
	"accordion/core/queue"
)

// state is the state of EASY.
type state struct {
	policy  EASY
	machine core.Machine
	waiting []waiter        // in the order of the queue
	running []held.Changing // in the order in which they came
	places  []core.Planned  // the reservations, as of the last pass

	guarded bool // a job has, or had, a guard
	view    *profile.Profile
	outlook guard.Outlook // beside view, where guarded
	chooser mold.Chooser
}

// waiter is a job that waits.
type waiter struct {
	core.Job
	due core.Time
}

func newState(p EASY, m core.Machine) *state {
	p.Reservations = max(p.Reservations, 1)
	return &state{policy: p, machine: m, view: profile.New(0)}
}

// Submit implements queue.State. A job without choices, or of which no choice fits the machine, waits and holds nobody up.
func (s *state) Submit(_ core.Time, j core.Job) {
	s.guarded = s.guarded || j.Guard > 0
	s.waiting = append(s.waiting, waiter{j, s.policy.due(j)})
}

// Running implements queue.State. It replaces what was known of the job, running or waiting.
func (s *state) Running(now core.Time, a core.Allocation) {
	r := held.Told(now, a)
	s.End(now, a.Job)
	s.guarded = s.guarded || a.Guard > 0
	s.running = append(s.running, r)
}

// End implements queue.State. It is nothing when the job is unknown.
func (s *state) End(_ core.Time, id core.JobID) {
	s.running = slices.DeleteFunc(s.running, func(r held.Changing) bool { return r.Job == id })
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.ID == id })
	s.places = slices.DeleteFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// Nodes implements queue.State.
func (s *state) Nodes(_ core.Time, m core.Machine) { s.machine = m }

// Next implements queue.State.
func (s *state) Next(now core.Time) core.Time {
	next := core.Forever
	for i := range s.running {
		next = min(next, s.running[i].Next(now))
	}
	for i := range s.places {
		if at := s.places[i].Start; at > now {
			next = min(next, at)
		}
	}
	for i := range s.waiting {
		if at := s.waiting[i].Begin; at > now {
			next = min(next, at)
		}
	}
	return next
}

// Promise implements queue.Promiser.
func (s *state) Promise(id core.JobID) (core.Allocation, bool) {
	for i := range s.running {
		if s.running[i].Job == id {
			return s.running[i].Allocation, true
		}
	}
	return core.Allocation{}, false
}

// Plan implements queue.State: what starts now, and the reservations.
func (s *state) Plan(now core.Time) core.Plan {
	c := s.copy()
	return core.Plan{Jobs: append(c.pass(now, nil), c.places...)}
}

// Clone implements queue.State.
func (s *state) Clone() queue.State { return s.copy() }

func (s *state) copy() *state {
	return &state{
		policy: s.policy, machine: s.machine, waiting: slices.Clone(s.waiting), running: slices.Clone(s.running),
		places: slices.Clone(s.places), guarded: s.guarded, view: profile.New(0),
	}
}
