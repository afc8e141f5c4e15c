package queue

import (
	"slices"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/waiting"
)

// line is a queue of rigid jobs and what runs, for the policies that see a job as so many nodes for so long: FCFS and EASY.
// A job whose profile changes is its peak for its total duration there, and of several choices the first one counts.
//
// It is made for millions of jobs a second: what runs is sorted by requested end, nothing is searched by hashing, and once
// its arrays have grown it asks for no memory.
type line struct {
	order   Order
	machine core.Machine
	free    int       // nodes; below 0 when nodes were lost
	asOf    core.Time // when free was counted
	came    uint32    // jobs submitted so far
	waiting waiting.List
	head    waiting.Reservation
	aside   []aside   // neither first nor back-filled, whatever is free
	runs    held.Runs // those whose end has come count as free
	others  []held.Changing
	stale   bool // something may start that was passed over before
}

// aside is a job that cannot start: it begins later, or exceeds the machine.
type aside struct {
	waiting.Job
	begin core.Time
}

// never is more nodes than any machine has: of a job without a profile that can be run.
const never = waiting.Hole - 1

func newLine(m core.Machine, o Order) line {
	m.Nodes = max(m.Nodes, 0)
	return line{order: o, machine: m, free: m.Nodes, stale: true}
}

// Submit implements State. A job that exceeds the machine waits and holds nobody up.
func (s *line) Submit(now core.Time, j core.Job) {
	w := waiting.Job{Length: core.Forever, ID: j.ID, Nodes: never, Came: s.came}
	s.came++
	if len(j.Choices) > 0 && runnable(j.Choices[0]) {
		w.Length, w.Nodes = j.Choices[0].Total(), int32(min(j.Choices[0].Peak(), never))
	}
	if j.Begin > now || int(w.Nodes) > s.machine.Nodes {
		s.aside = append(s.aside, aside{w, j.Begin})
		return
	}
	s.enqueue(w)
}

// runnable says whether all steps take time and no negative number of nodes.
func runnable(ep core.EP) bool {
	for _, step := range ep {
		if step.Duration < 1 || step.Nodes < 0 || step.Duration > core.Forever {
			return false
		}
	}
	return len(ep) > 0
}

// enqueue puts a job in its place of the queue.
func (s *line) enqueue(w waiting.Job) {
	all := s.waiting.All
	if len(all) == 0 || s.order == FirstCome && all[len(all)-1].Came < w.Came {
		s.stale = s.stale || s.waiting.Jobs == 0
		s.waiting.Push(w)
		return
	}
	s.waiting.Insert(w, s.before)
	s.stale = true
}

// before says which of two jobs ranks before the other.
func (s *line) before(a, b waiting.Job) bool {
	if x, y := s.order.key(a.Length), s.order.key(b.Length); x != y {
		return x < y
	}
	return a.Came < b.Came
}

// admit lets those into the queue for which there is no reason any more to stand aside.
func (s *line) admit(now core.Time) {
	kept := s.aside[:0]
	for _, a := range s.aside {
		if a.begin > now || int(a.Nodes) > s.machine.Nodes {
			kept = append(kept, a)
			continue
		}
		s.enqueue(a.Job)
	}
	s.aside = kept
}

// Running implements State.
func (s *line) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.stale = true
	s.head.Drop()
	if len(a.EP) == 1 && a.Start <= now && a.End() <= core.Forever {
		end := max(a.End(), -core.Forever) // as far as differences of times reach
		s.hold(held.Job{End: end, ID: a.Job, Nodes: a.EP[0].Nodes})
		return
	}
	s.others = append(s.others, held.Told(now, a))
}

// hold enters a job that runs.
func (s *line) hold(h held.Job) {
	s.runs.Add(h)
	s.free -= h.Nodes
}

// End implements State. It is nothing when the job is unknown.
func (s *line) End(_ core.Time, id core.JobID) {
	if h, overdue, runs := s.runs.Take(id); runs {
		if !overdue {
			s.free += h.Nodes
			s.head.Ended(h)
			s.stale = true
		}
		return
	}
	s.stale = true
	if i := s.waiting.Find(id); i >= 0 {
		s.waiting.Remove(i)
		return
	}
	s.aside = slices.DeleteFunc(s.aside, func(a aside) bool { return a.ID == id })
	s.others = slices.DeleteFunc(s.others, func(r held.Changing) bool { return r.Job == id })
}

// Nodes implements State.
func (s *line) Nodes(_ core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	s.free += m.Nodes - s.machine.Nodes
	s.machine, s.stale = m, true
	s.head.Drop()
	s.waiting.Pack()
	for _, w := range s.waiting.All { // some may exceed it now
		s.aside = append(s.aside, aside{Job: w, begin: -core.Forever})
	}
	s.waiting = waiting.List{}
}

// advance counts what is free at an instant.
func (s *line) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
		s.stale = true
		s.head.Drop()
	}
	s.asOf = now
	if freed := s.runs.Pass(now); freed != 0 {
		s.free += freed
		s.stale = true
	}
	if len(s.aside) > 0 {
		s.admit(now)
	}
}

// start moves number i of the queue to what runs.
func (s *line) start(now core.Time, i int, into []core.Start) []core.Start {
	w := s.waiting.Remove(i)
	h := held.Job{End: min(core.Forever, now+min(w.Length, core.Forever)), ID: w.ID, Nodes: int(w.Nodes)}
	s.hold(h)
	s.head.Began(h)
	return append(into, core.Start{Job: w.ID, Nodes: int(w.Nodes), Begins: true})
}

// heads starts the first jobs of the queue as long as they fit.
func (s *line) heads(now core.Time, into []core.Start) []core.Start {
	for s.waiting.Jobs > 0 && int(s.waiting.All[s.waiting.First].Nodes) <= s.free {
		into = s.start(now, s.waiting.First, into)
	}
	return into
}

// Next implements State: the next requested end of a running job, or what stands aside.
func (s *line) Next(now core.Time) core.Time {
	next := s.runs.Next(now)
	for _, a := range s.aside {
		if a.begin > now && int(a.Nodes) <= s.machine.Nodes {
			next = min(next, a.begin)
		}
	}
	for i := range s.others {
		next = min(next, s.others[i].Next(now))
	}
	return next
}

// clone is an independent copy.
func (s *line) clone() line {
	c := *s
	c.waiting = s.waiting.Clone()
	c.aside, c.others = slices.Clone(s.aside), slices.Clone(s.others)
	c.runs = s.runs.Clone()
	return c
}
