package sched

import (
	"cmp"
	"slices"

	"accordion/core"
)

// line is what waits, and the rectangles that run. As long as no nodes are given back, a job that was passed over once is not
// looked at again: only what is behind seenDue and seen is, unless turned.
type line struct {
	policy  rules
	machine core.Machine
	asOf    core.Time
	runs    Running // rectangles; those whose end has come count as free

	patient bool                // jobs wait before they are due
	dues    jobTable[core.Time] // when each waiting job is due, where jobs wait for it

	came  uint32         // jobs submitted so far
	due   waitingList    // those that are due, in the order in which they became it
	last  age            // of the last job of due, or of one that is due later
	young waitingList    // all others, in the order of the queue
	aside []waiter       // jobs that never fit the machine; under EASY also jobs that start later
	opens core.Time      // when the first of the latter begins
	odd   jobTable[*odd] // the jobs of due and young with more than one step or choice; their lists have the least that they ask for

	ages    ByEnd     // when each of the young up to seen becomes due, its number when it came; those that wait no more are left in it
	soonest core.Time // none of the others becomes due before
	seenDue int       // how many jobs of due were passed over
	seen    int       // how many jobs of young were passed over
	turned  bool      // who was passed over may start
	early   bool      // a job became due that goes before others that were due: reservations may be another's
}

// An odd is a waiting job that is not a rectangle: it has several steps or choices.
type odd struct {
	core.Job
	wakes core.Time // it does not begin before…
	as    uint32    // …as long as no more nodes are given back than these times
}

func newLine(p rules, m core.Machine) line {
	return line{policy: p, patient: p.Ages(), machine: m, asOf: -core.Forever, soonest: core.Forever, opens: core.Forever, turned: true}
}

// submit puts a job in its list.
func (s *line) submit(now core.Time, j *core.Job) {
	due := -core.Forever
	if s.patient {
		due = s.policy.due(j)
	}
	s.waits(now, j, due, s.came)
	s.came++
}

// waits puts a job in its list that becomes due at an instant.
func (s *line) waits(now core.Time, j *core.Job, due core.Time, came uint32) {
	w, fits := s.asked(now, j)
	if !fits {
		s.aside = append(s.aside, waiter{*j, due, came})
		return
	}
	w.Came = came
	if s.policy.rigid {
		due = s.policy.rank(w.Length)
	}
	if !s.isRectangle(j) {
		s.odd.Set(j.ID, &odd{Job: *j})
	}
	if s.patient {
		s.dues.Set(j.ID, due)
	}
	if due <= now {
		s.becomesDue(w, due)
		return
	}
	s.soonest = min(s.soonest, due)
	s.young.Push(w)
}

// isRectangle reports whether a job is a number of nodes for a time, from whenever they are free. It ends some day, so that
// no other job has to wait for it forever.
func (s *line) isRectangle(j *core.Job) bool {
	return s.policy.rigid || len(j.Choices) == 1 && len(j.Choices[0]) == 1 && j.Choices[0][0].Duration < core.Forever/2 && j.Begin == 0 && j.Margin == 0 && j.Guard == 0 && !j.Foreign
}

// asked returns what a job asks for at least, and false when the job has to stand aside.
func (s *line) asked(now core.Time, j *core.Job) (w waitingJob, fits bool) {
	if !s.policy.rigid {
		return easyAsked(j, s.machine.Nodes)
	}
	if len(j.Choices) == 0 || !runnable(j.Choices[0]) || j.Choices[0].Peak() >= hole {
		return w, false
	}
	ep := j.Choices[0]
	w = waitingJob{Length: min(ep.Total(), core.Forever), ID: j.ID, Nodes: int32(ep.Peak())}
	if int(w.Nodes) > s.machine.Nodes {
		return w, false
	}
	if j.Begin > now {
		s.opens = min(s.opens, j.Begin)
		return w, false
	}
	return w, true
}

// admit has those wait again that stand aside: some begin now.
func (s *line) admit(now core.Time) {
	all := s.aside
	s.aside, s.opens = nil, core.Forever
	for i := range all {
		s.waits(now, &all[i].Job, all[i].due, all[i].came)
	}
}

// easyAsked returns what a job asks for at least: of several profiles, and of each from its begin on. It is false when the job never fits so many
// nodes.
func easyAsked(j *core.Job, machine int) (w waitingJob, fits bool) {
	w = waitingJob{Length: core.Forever, ID: j.ID, Nodes: hole - 1}
	for _, ep := range j.Choices {
		if !runnable(ep) || ep.Peak() > min(machine, hole-1) {
			continue
		}
		fits = true
		first, length := ep[0].Nodes, core.Time(0)
		for _, step := range ep {
			if step.Nodes < first {
				break
			}
			length += step.Duration
		}
		w.Nodes, w.Length = min(w.Nodes, int32(first)), min(w.Length, length)
	}
	return w, fits
}

// becomesDue puts a job behind those that became due before, or together and came before.
func (s *line) becomesDue(w waitingJob, due core.Time) {
	a := age{due, w.Came}
	if s.due.Jobs > 0 && a.before(s.last) {
		s.due.Insert(w, s.before)
		s.turned, s.early = true, true
		return
	}
	s.turned = s.turned || s.due.Jobs == 0 // it may have the reservation
	s.due.Push(w)
	s.last = a
}

// before says which of two jobs that are due goes before the other.
func (s *line) before(a, b waitingJob) bool { return s.age(&a).before(s.age(&b)) }

func (s *line) age(w *waitingJob) age {
	due := -core.Forever
	switch {
	case s.patient:
		due, _ = s.dues.Get(w.ID)
	case s.policy.rigid:
		due = s.policy.rank(w.Length)
	}
	return age{due, w.Came}
}

// grow has those be due that have become it.
func (s *line) grow(now core.Time) {
	if s.opens <= now {
		s.admit(now)
	}
	if s.soonest <= now { // nobody looked at it when it was submitted
		s.watch()
		s.turned = true
	}
	for last := len(s.ages) - 1; last >= 0 && s.ages[last].End <= now; last-- {
		a := s.ages[last]
		s.ages = s.ages[:last]
		if i := at(s.young.All, uint32(a.ID)); i >= 0 {
			s.becomesDue(s.removeYoung(i), a.End)
		}
	}
}

// at is the number of the job that came as so manieth, among jobs in the order of the queue; −1 when it is not there.
func at(all []waitingJob, came uint32) int {
	i, there := slices.BinarySearchFunc(all, came, func(w waitingJob, came uint32) int { return cmp.Compare(w.Came, came) })
	if !there || all[i].Nodes == hole {
		return -1
	}
	return i
}

// removeYoung takes number i out of young.
func (s *line) removeYoung(i int) waitingJob {
	w := s.young.Remove(i)
	s.seen = min(s.seen, len(s.young.All))
	return w
}

// watch notes when those become due that have been passed over now. Most start at once, so that nobody need be told of them before.
func (s *line) watch() {
	for i := s.seen; i < len(s.young.All); i++ {
		if w := &s.young.All[i]; w.Nodes != hole {
			a := s.age(w)
			s.ages.Add(RunningJob{End: a.due, ID: core.JobID(a.came)})
		}
	}
	s.seen, s.soonest = len(s.young.All), core.Forever
}

// tidy makes the lists short, before all are looked at.
func (s *line) tidy() {
	s.watch()
	s.due.Tidy()
	s.young.Tidy()
	s.turned = false
}

// passed notes that all were looked at.
func (s *line) passed() { s.seenDue, s.seen = len(s.due.All), len(s.young.All) }

// leaves removes a waiting job. It does nothing if it does not know the job.
func (s *line) leaves(id core.JobID) {
	if i := s.due.Find(id); i >= 0 {
		s.due.Remove(i)
	} else if i := s.young.Find(id); i >= 0 {
		s.removeYoung(i)
	}
	s.dues.Take(id)
	s.odd.Take(id)
	s.aside = slices.DeleteFunc(s.aside, func(w waiter) bool { return w.ID == id })
	s.turned = true
}

// resized has all wait anew, for some may exceed the machine now, and others fit it.
func (s *line) resized(now core.Time, m core.Machine) {
	all := s.all()
	s.machine, s.turned = m, true
	s.due, s.young, s.ages, s.aside, s.odd = waitingList{}, waitingList{}, nil, nil, jobTable[*odd]{}
	s.seenDue, s.seen, s.soonest, s.opens = 0, 0, core.Forever, core.Forever
	for i := range all {
		s.waits(now, &all[i].Job, all[i].due, all[i].came)
	}
}

// all are the jobs that wait, in the order of the queue.
func (s *line) all() []waiter {
	all := slices.Clone(s.aside)
	for _, list := range [][]waitingJob{s.due.All, s.young.All} {
		for i := range list {
			if w := &list[i]; w.Nodes != hole {
				all = append(all, waiter{s.job(w), s.age(w).due, w.Came})
			}
		}
	}
	slices.SortFunc(all, func(a, b waiter) int { return cmp.Compare(a.came, b.came) })
	return all
}

// job is a waiting job.
func (s *line) job(w *waitingJob) core.Job {
	if o, is := s.odd.Get(w.ID); is {
		return o.Job
	}
	return core.Job{ID: w.ID, Choices: []core.EP{{{Duration: w.Length, Nodes: int(w.Nodes)}}}}
}

// promise is that of a rectangle that runs.
func (s *line) promise(id core.JobID) (core.Allocation, bool) {
	h, began, runs := s.runs.Get(id)
	if !runs {
		return core.Allocation{}, false
	}
	return core.Allocation{Job: id, Start: began, EP: core.EP{{Duration: h.End - began, Nodes: h.Nodes}}}, true
}

// plain is the same as one that knows guards.
func (s *line) plain() *plain {
	p := newPlain(s.policy.Patient, s.machine)
	for _, w := range s.all() {
		p.waits(w.Job, w.due)
	}
	s.runs.Each(func(h RunningJob) {
		a, _ := s.promise(h.ID)
		p.running = append(p.running, changingFrom(a))
	})
	return p
}

func (s *line) clone() line {
	c := *s
	c.runs, c.dues = s.runs.Clone(), s.dues.Clone()
	c.due, c.young, c.ages, c.aside = s.due.Clone(), s.young.Clone(), slices.Clone(s.ages), slices.Clone(s.aside)
	c.odd = s.odd.Map(func(o *odd) *odd { same := *o; return &same })
	return c
}
