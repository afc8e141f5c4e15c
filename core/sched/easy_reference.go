package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sizing"
)

// reference implements the definition of Patient word by word. Each pass begins with the running jobs, and nothing else is
// remembered. reference is used if jobs have guards, are foreign, or are sized by a rule. In all other cases easyState makes
// the same plan faster.
type reference struct {
	policy  Patient
	machine core.Machine
	waiting []waiter       // in queue order
	running []Active       // in the order in which they were added
	places  []core.Planned // the reservations, as of the last pass

	view    *profile.Profile
	guards  guardView // protects jobs with guards; `view` counts all guards as used
	chooser moldable.Chooser

	load  *SystemLoad   // nil without a sizing
	world *sizing.World // load when the pass began
}

// waiter is a waiting job.
type waiter struct {
	core.Job
	due core.Time
	seq uint32 // submission number; set only if the position in a list does not give the order
}

func newReference(p Patient, m core.Machine) *reference {
	s := &reference{policy: p, machine: m, view: profile.New(0)}
	if p.Sizing != nil {
		s.load = NewSystemLoad(m, p.Sizing, sizing.HalfReference)
	}
	return s
}

// enqueue adds a job behind all others.
func (s *reference) enqueue(j core.Job, due core.Time) {
	s.waiting = append(s.waiting, waiter{Job: j, due: due})
}

// Submit implements State. A job without choices, or of which no choice fits the machine, waits and delays no other
// job.
func (s *reference) Submit(now core.Time, j core.Job) {
	if s.load != nil {
		s.load.Submit(now, j)
	}
	s.enqueue(j, s.policy.due(&j))
}

// Running implements State. It replaces what is known of the job, running or waiting.
func (s *reference) Running(now core.Time, a core.Allocation) {
	r := NewActive(now, a)
	s.forget(a.Job)
	s.running = append(s.running, r)
	if s.load != nil {
		s.load.Running(now, a)
	}
}

// End implements State. It ignores an unknown job.
func (s *reference) End(now core.Time, id core.JobID) {
	s.forget(id)
	if s.load != nil {
		s.load.End(now, id)
	}
}

// forget removes a job.
func (s *reference) forget(id core.JobID) {
	s.running = slices.DeleteFunc(s.running, func(r Active) bool { return r.Job == id })
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.ID == id })
	s.places = slices.DeleteFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// Nodes implements State.
func (s *reference) Nodes(_ core.Time, m core.Machine) {
	s.machine = m
	if s.load != nil {
		s.load.Nodes(m)
	}
}

// Next implements State.
func (s *reference) Next(now core.Time) core.Time {
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

// Promise implements Promiser.
func (s *reference) Promise(id core.JobID) (core.Allocation, bool) {
	for i := range s.running {
		if s.running[i].Job == id {
			return s.running[i].Allocation, true
		}
	}
	return core.Allocation{}, false
}

// Plan implements State. The plan has what starts now and the reservations, in queue order.
func (s *reference) Plan(now core.Time) core.Plan {
	rank := ranks(s.waiting)
	c := s.copy(s.load)
	return core.Plan{Jobs: inOrder(append(c.pass(now, nil), c.places...), rank)}
}

// clone returns an independent copy.
func (s *reference) clone() *reference {
	if s.load == nil {
		return s.copy(nil)
	}
	return s.copy(s.load.Clone())
}

// copy returns a copy that uses the given load.
func (s *reference) copy(all *SystemLoad) *reference {
	return &reference{
		policy: s.policy, machine: s.machine, waiting: slices.Clone(s.waiting), running: slices.Clone(s.running),
		places: slices.Clone(s.places), view: profile.New(0), load: all,
	}
}

// Starts implements State. It reports shrinks first, then growths, then starts, first of the jobs that are due. If it
// was not called at the time of a change, it reports the change late, with the present size.
func (s *reference) Starts(now core.Time, into []core.Start) []core.Start {
	into = Resize(s.running, now, into)
	for _, p := range s.pass(now, nil) {
		into = append(into, core.Start{Job: p.Job, Choice: p.Choice, Nodes: p.EP.At(0), Begins: true})
		if s.load != nil {
			s.load.Begin(now, p.Job, p.EP.Peak(), p.End())
		}
	}
	return into
}

// pass starts what fits now and makes all reservations again.
func (s *reference) pass(now core.Time, into []core.Planned) []core.Planned {
	s.renew(now)
	s.places = s.places[:0]
	begun, given := len(into), 0
	for _, w := range s.order(now) {
		j, of, ok := s.sized(w.Job)
		if !ok {
			continue
		}
		p, ok := s.startNow(now, j)
		starts := ok
		if !ok && (w.Foreign || w.due <= now && given < s.policy.Reservations) {
			p, ok = s.guards.Best(&s.chooser, s.view, now, j)
		}
		if !ok {
			continue
		}
		p.Choice = of(p.Choice)
		s.guards.Occupy(s.view, &p, max(now, w.Begin))
		switch {
		case starts:
			s.running = append(s.running, activeFrom(p.Allocation))
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

// sized returns a job with only the choices that the sizing rule permits. `of` converts an index in these
// choices to an index in the job's own choices. ok is false if the rule permits no size on this machine.
func (s *reference) sized(j core.Job) (_ core.Job, of func(int) int, ok bool) {
	same := func(choice int) int { return choice }
	if s.load == nil || len(j.Choices) < 2 {
		return j, same, true
	}
	sizes := s.load.Sizes(j.ID)
	if sizes == nil || sizes.Several {
		return j, same, true
	}
	lo, hi, ok := sizes.Range(s.load.Sizing.Factor(s.world, sizes), s.machine.Nodes)
	if ok {
		j.Choices = sizes.Choices[lo : hi+1]
	}
	return j, func(choice int) int { return sizes.Choice(lo + choice) }, ok
}

// renew builds the view of the running jobs.
func (s *reference) renew(now core.Time) {
	s.view.Clear(s.machine.Nodes)
	for i := range s.running {
		if a := &s.running[i].Allocation; a.End() > now {
			s.view.Add(a.Start, a.EP)
		}
	}
	s.guards.Renew(now, s.view, asAllocations(s.running))
	if s.load != nil {
		s.world = s.load.World(now)
	}
}

// startNow returns the place of a job that can start now. If several choices can start now, it takes the one
// that completes first.
func (s *reference) startNow(now core.Time, j core.Job) (best core.Planned, found bool) {
	if j.Begin > now {
		return best, false
	}
	for i := range j.Choices {
		one := j
		one.Choices = j.Choices[i : i+1]
		p, ok := s.chooser.Earliest(s.guards.Room(s.view, j).Without(0, nil), now, one, now+one.Choices[0].Total()+1)
		if ok {
			begin, clear := s.guards.Clear(p, j.Margin)
			ok = clear && begin == now
		}
		if p.Choice = i; ok && (!found || p.End() < best.End() || p.End() == best.End() && p.EP.Peak() < best.EP.Peak()) {
			best, found = p, true
		}
	}
	return best, found
}
