package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sizing"
)

// plain is the definition word by word: each pass starts from what runs, and nothing else is remembered. It plans where jobs have
// guards, are started by others or are sized by a rule. Without these state does the same, and is quicker.
type plain struct {
	policy  Patient
	machine core.Machine
	waiting []waiter       // in the order of the queue
	running []Changing     // in the order in which they came
	places  []core.Planned // the reservations, as of the last pass

	view    *profile.Profile
	outlook outlook // beside view
	chooser moldable.Chooser

	crowd *SystemLoad   // nil without a sizing
	world *sizing.World // as crowd was when the pass began
}

// waiter is a job that waits.
type waiter struct {
	core.Job
	due  core.Time
	came uint32 // its rank, where it is not told by the place in a list
}

func newPlain(p Patient, m core.Machine) *plain {
	s := &plain{policy: p, machine: m, view: profile.New(0)}
	if p.Sizing != nil {
		s.crowd = NewSystemLoad(m, p.Sizing, sizing.HalfReference)
	}
	return s
}

// waits puts a job behind all others.
func (s *plain) waits(j core.Job, due core.Time) {
	s.waiting = append(s.waiting, waiter{Job: j, due: due})
}

// Submit implements sched.State. A job without choices, or of which no choice fits the machine, waits and holds nobody up.
func (s *plain) Submit(now core.Time, j core.Job) {
	if s.crowd != nil {
		s.crowd.Submit(now, j)
	}
	s.waits(j, s.policy.due(&j))
}

// Running implements sched.State. It replaces what was known of the job, running or waiting.
func (s *plain) Running(now core.Time, a core.Allocation) {
	r := Told(now, a)
	s.forget(a.Job)
	s.running = append(s.running, r)
	if s.crowd != nil {
		s.crowd.Running(now, a)
	}
}

// End implements sched.State. It is nothing when the job is unknown.
func (s *plain) End(now core.Time, id core.JobID) {
	s.forget(id)
	if s.crowd != nil {
		s.crowd.End(now, id)
	}
}

// forget takes a job out.
func (s *plain) forget(id core.JobID) {
	s.running = slices.DeleteFunc(s.running, func(r Changing) bool { return r.Job == id })
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.ID == id })
	s.places = slices.DeleteFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// Nodes implements sched.State.
func (s *plain) Nodes(_ core.Time, m core.Machine) {
	s.machine = m
	if s.crowd != nil {
		s.crowd.Nodes(m)
	}
}

// Next implements sched.State.
func (s *plain) Next(now core.Time) core.Time {
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

// Promise implements sched.Promiser.
func (s *plain) Promise(id core.JobID) (core.Allocation, bool) {
	for i := range s.running {
		if s.running[i].Job == id {
			return s.running[i].Allocation, true
		}
	}
	return core.Allocation{}, false
}

// Plan implements sched.State: what starts now, and the reservations, in the order of the queue.
func (s *plain) Plan(now core.Time) core.Plan {
	rank := ranks(s.waiting)
	c := s.copy(s.crowd)
	return core.Plan{Jobs: inOrder(append(c.pass(now, nil), c.places...), rank)}
}

// clone returns an independent copy.
func (s *plain) clone() *plain {
	if s.crowd == nil {
		return s.copy(nil)
	}
	return s.copy(s.crowd.Clone())
}

// copy is a copy with a crowd of its own, or with one that the copy does not change.
func (s *plain) copy(all *SystemLoad) *plain {
	return &plain{
		policy: s.policy, machine: s.machine, waiting: slices.Clone(s.waiting), running: slices.Clone(s.running),
		places: slices.Clone(s.places), view: profile.New(0), crowd: all,
	}
}

// Starts implements sched.State. Shrinks come first, then growths, then what begins: those due first. When it was not called at the
// instant of a change, the change is reported late, at the size of this instant.
func (s *plain) Starts(now core.Time, into []core.Start) []core.Start {
	into = Resize(s.running, now, into)
	for _, p := range s.pass(now, nil) {
		into = append(into, core.Start{Job: p.Job, Choice: p.Choice, Nodes: p.EP.At(0), Begins: true})
		if s.crowd != nil {
			s.crowd.Begin(now, p.Job, p.EP.Peak(), p.End())
		}
	}
	return into
}

// pass starts what fits now, and makes the reservations anew.
func (s *plain) pass(now core.Time, into []core.Planned) []core.Planned {
	s.renew(now)
	s.places = s.places[:0]
	begun, given := len(into), 0
	for _, w := range s.order(now) {
		j, of, ok := s.sized(w.Job)
		if !ok {
			continue
		}
		p, ok := s.now(now, j)
		starts := ok
		if !ok && (w.Foreign || w.due <= now && given < s.policy.Reservations) {
			p, ok = s.outlook.Best(&s.chooser, s.view, now, j)
		}
		if !ok {
			continue
		}
		p.Choice = of(p.Choice)
		s.outlook.Occupy(s.view, &p, max(now, w.Begin))
		switch {
		case starts:
			s.running = append(s.running, changingFrom(p.Allocation))
			into = append(into, p)
		case w.Foreign:
			s.places = append(s.places, p)
		default:
			s.places = append(s.places, p)
			given++
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		return slices.ContainsFunc(into[begun:], func(p core.Planned) bool { return p.Job == w.ID })
	})
	return into
}

// sized is a job with the choices only that the rule lets it have, and which of all its choices these are. It is false where it may have
// none on this machine.
func (s *plain) sized(j core.Job) (_ core.Job, of func(int) int, ok bool) {
	same := func(choice int) int { return choice }
	if s.crowd == nil || len(j.Choices) < 2 {
		return j, same, true
	}
	sizes := s.crowd.Sizes(j.ID)
	if sizes == nil || sizes.Several {
		return j, same, true
	}
	lo, hi, ok := sizes.Range(s.crowd.Sizing.Factor(s.world, sizes), s.machine.Nodes)
	if ok {
		j.Choices = sizes.Choices[lo : hi+1]
	}
	return j, func(choice int) int { return sizes.Choice(lo + choice) }, ok
}

// renew makes the view of what runs.
func (s *plain) renew(now core.Time) {
	s.view.Clear(s.machine.Nodes)
	for i := range s.running {
		if a := &s.running[i].Allocation; a.End() > now {
			s.view.Add(a.Start, a.EP)
		}
	}
	s.outlook.Renew(now, s.view, asAllocations(s.running))
	if s.crowd != nil {
		s.world = s.crowd.World(now)
	}
}

// now is the place of a job that begins now: of its choices that do, the one that completes first.
func (s *plain) now(now core.Time, j core.Job) (best core.Planned, found bool) {
	if j.Begin > now {
		return best, false
	}
	for i := range j.Choices {
		one := j
		one.Choices = j.Choices[i : i+1]
		p, ok := s.chooser.Earliest(s.outlook.Room(s.view, j).Without(0, nil), now, one, now+one.Choices[0].Total()+1)
		if ok {
			begin, clear := s.outlook.Clear(p, j.Margin)
			ok = clear && begin == now
		}
		if p.Choice = i; ok && (!found || p.End() < best.End() || p.End() == best.End() && p.EP.Peak() < best.EP.Peak()) {
			best, found = p, true
		}
	}
	return best, found
}
