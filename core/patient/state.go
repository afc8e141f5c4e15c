package patient

import (
	"accordion/core"
	"accordion/core/crowd"
	"accordion/core/queue"
)

// state is the state of EASY: rigid as long as it may be, then quick as long as no job has a guard or is somebody else's, and plain from then on, or where a rule
// sizes them. Two of the three are nil.
type state struct {
	rigid *rigid
	quick *quick
	plain *plain

	asRequested bool // it is Rigid's, to which no job has a guard
}

func newState(p rules, m core.Machine) *state {
	p.Reservations = max(p.Reservations, 1)
	m.Nodes = max(m.Nodes, 0)
	if p.Sizing != nil {
		return &state{plain: newPlain(p.EASY, m)}
	}
	if p.Reservations > 1 {
		return &state{quick: newQuick(p, m)}
	}
	return &state{rigid: newRigid(p, m), asRequested: p.rigid}
}

// is is the one that there is.
func (s *state) is() queue.State {
	switch {
	case s.rigid != nil:
		return s.rigid
	case s.quick != nil:
		return s.quick
	}
	return s.plain
}

// odd is told that there is more than rectangles.
func (s *state) odd() {
	if s.rigid != nil {
		s.quick, s.rigid = s.rigid.quick(), nil
	}
}

// plainly says whether something is there that quick does not know.
func (s *state) plainly(unknown bool) {
	if !unknown || s.asRequested {
		return
	}
	if s.odd(); s.quick != nil {
		s.plain, s.quick = s.quick.plain(), nil
	}
}

// Submit implements queue.State. A job without choices, or of which no choice fits the machine, waits and holds nobody up.
func (s *state) Submit(now core.Time, j core.Job) {
	s.plainly(j.Guard > 0 || j.Foreign)
	if s.rigid != nil && s.rigid.isRectangle(&j) {
		s.rigid.submit(now, &j)
		return
	}
	s.odd()
	s.is().Submit(now, j)
}

// Running implements queue.State. It replaces what was known of the job, running or waiting.
func (s *state) Running(now core.Time, a core.Allocation) {
	s.plainly(a.Guard > 0)
	if !isRun(now, &a) {
		s.odd()
	}
	s.is().Running(now, a)
}

// End implements queue.State. It is nothing when the job is unknown.
func (s *state) End(now core.Time, id core.JobID) { s.is().End(now, id) }

// Nodes implements queue.State.
func (s *state) Nodes(now core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	s.is().Nodes(now, m)
}

// Starts implements queue.State. Shrinks come first, then growths, then what begins: those due first. When it was not called at the
// instant of a change, the change is reported late, at the size of this instant.
func (s *state) Starts(now core.Time, into []core.Start) []core.Start {
	if s.rigid != nil {
		return s.rigid.Starts(now, into)
	}
	return s.is().Starts(now, into)
}

// Next implements queue.State.
func (s *state) Next(now core.Time) core.Time { return s.is().Next(now) }

// Promise implements queue.Promiser.
func (s *state) Promise(id core.JobID) (core.Allocation, bool) {
	return s.is().(queue.Promiser).Promise(id)
}

// Crowd implements queue.Sizer.
func (s *state) Crowd() *crowd.Crowd {
	if s.plain == nil {
		return nil
	}
	return s.plain.crowd
}

// Plan implements queue.State: what starts now, and the reservations, in the order of the queue.
func (s *state) Plan(now core.Time) core.Plan { return s.is().Plan(now) }

// Clone implements queue.State.
func (s *state) Clone() queue.State {
	switch {
	case s.rigid != nil:
		return &state{rigid: s.rigid.copy(), asRequested: s.asRequested}
	case s.quick != nil:
		return &state{quick: s.quick.copy(), asRequested: s.asRequested}
	}
	return &state{plain: s.plain.Clone().(*plain)}
}
