package sched

import (
	"cmp"
	"slices"

	"accordion/core"
)

// easyQueue holds the waiting jobs and the running rectangles. A job that was checked once is not checked again
// until nodes are released. Unless `recheck` is set, only the jobs from index `seenDue` of `due` on, and from
// index `seen` of `notDue` on, are checked.
type easyQueue struct {
	policy  rules
	machine core.Machine
	asOf    core.Time
	runs    RunningByEnd // running rectangles; the nodes of jobs whose requested end has passed count as free

	patient bool                // jobs wait before they are due
	dues    jobTable[core.Time] // when each waiting job becomes due, if patient

	submitted  uint32            // number of jobs submitted so far
	due        waitingList       // jobs that are due, in the order in which they became due
	last       dueRank           // rank of the last job in due, or a later rank
	notDue     waitingList       // all other jobs, in queue order
	ineligible []waiter          // jobs that never fit the machine; under EASY also jobs with a later Begin
	firstBegin core.Time         // the earliest Begin of an ineligible job
	shaped     jobTable[*shaped] // the jobs of due and notDue that are not rectangles; the two lists have their smallest need

	dueTimes  ByEnd     // due times and submission numbers of the first `seen` jobs of `notDue`, and of some jobs that no longer wait
	firstDue  core.Time // no job that dueTimes does not have becomes due before this time
	seenDue   int       // how many entries of due were checked
	seen      int       // how many entries of notDue were checked
	recheck   bool      // jobs that were checked may start now
	reordered bool      // a job became due that goes before others that are due: reservations may move to another job
}

// A shaped is a waiting job that is not a rectangle: it has several steps or choices.
type shaped struct {
	core.Job
	retryAt core.Time // the job does not start before this time, unless nodes are released meanwhile
	asOf    uint32    // value of easyState.releases when retryAt was computed
}

// dueRank orders jobs that are due: by the time at which they became due, then by submission.
type dueRank struct {
	due core.Time
	seq uint32
}

// before reports whether a goes before b.
func (a dueRank) before(b dueRank) bool {
	return a.due < b.due || a.due == b.due && a.seq < b.seq
}

func newEasyQueue(p rules, m core.Machine) easyQueue {
	return easyQueue{policy: p, patient: p.Ages(), machine: m, asOf: -core.Forever, firstDue: core.Forever, firstBegin: core.Forever, recheck: true}
}

// submit adds a job to its list.
func (s *easyQueue) submit(now core.Time, j *core.Job) {
	due := -core.Forever
	if s.patient {
		due = s.policy.due(j)
	}
	s.enqueue(now, j, due, s.submitted)
	s.submitted++
}

// enqueue adds a job to its list. The job becomes due at the given time.
func (s *easyQueue) enqueue(now core.Time, j *core.Job, due core.Time, came uint32) {
	w, fits := s.need(now, j)
	if !fits {
		s.ineligible = append(s.ineligible, waiter{*j, due, came})
		return
	}
	w.Seq = came
	if s.policy.rigid {
		due = s.policy.rank(w.Length)
	}
	if !s.isRectangle(j) {
		s.shaped.Set(j.ID, &shaped{Job: *j})
	}
	if s.patient {
		s.dues.Set(j.ID, due)
	}
	if due <= now {
		s.addDue(w, due)
		return
	}
	s.firstDue = min(s.firstDue, due)
	s.notDue.Push(w)
}

// isRectangle reports whether a job needs one number of nodes for one finite time, and can start whenever these nodes are free.
// The time must be finite so that no other job waits forever for the job's end.
func (s *easyQueue) isRectangle(j *core.Job) bool {
	return s.policy.rigid || len(j.Choices) == 1 && len(j.Choices[0]) == 1 && j.Choices[0][0].Duration < core.Forever/2 && j.Begin == 0 && j.Margin == 0 && j.Guard == 0 && !j.Foreign
}

// need returns the least that a job needs. fits is false if the job is ineligible for now.
func (s *easyQueue) need(now core.Time, j *core.Job) (w waitingJob, fits bool) {
	if !s.policy.rigid {
		return leastNeed(j, s.machine.Nodes)
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
		s.firstBegin = min(s.firstBegin, j.Begin)
		return w, false
	}
	return w, true
}

// retryIneligible adds the ineligible jobs to the queue again: some may start now.
func (s *easyQueue) retryIneligible(now core.Time) {
	all := s.ineligible
	s.ineligible, s.firstBegin = nil, core.Forever
	for i := range all {
		s.enqueue(now, &all[i].Job, all[i].due, all[i].seq)
	}
}

// leastNeed returns the fewest nodes and the shortest time with which a job could start: over all its profiles,
// counted from their first steps. fits is false if the job never fits a machine of that many nodes.
func leastNeed(j *core.Job, machine int) (w waitingJob, fits bool) {
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

// addDue adds a job behind the jobs that became due before it. The new job is also behind the jobs that became
// due at the same time and were submitted before it.
func (s *easyQueue) addDue(w waitingJob, due core.Time) {
	a := dueRank{due, w.Seq}
	if s.due.Jobs > 0 && a.before(s.last) {
		s.due.Insert(w, s.before)
		s.recheck, s.reordered = true, true
		return
	}
	s.recheck = s.recheck || s.due.Jobs == 0 // as the first due job it may get the reservation
	s.due.Push(w)
	s.last = a
}

// before reports whether due job a goes before b.
func (s *easyQueue) before(a, b waitingJob) bool { return s.dueRank(&a).before(s.dueRank(&b)) }

func (s *easyQueue) dueRank(w *waitingJob) dueRank {
	due := -core.Forever
	switch {
	case s.patient:
		due, _ = s.dues.Get(w.ID)
	case s.policy.rigid:
		due = s.policy.rank(w.Length)
	}
	return dueRank{due, w.Seq}
}

// promoteDue moves the jobs that have become due to the list of due jobs.
func (s *easyQueue) promoteDue(now core.Time) {
	if s.firstBegin <= now {
		s.retryIneligible(now)
	}
	if s.firstDue <= now { // dueTimes does not have the job's due time
		s.trackDue()
		s.recheck = true
	}
	for last := len(s.dueTimes) - 1; last >= 0 && s.dueTimes[last].End <= now; last-- {
		a := s.dueTimes[last]
		s.dueTimes = s.dueTimes[:last]
		if i := indexOf(s.notDue.All, uint32(a.ID)); i >= 0 {
			s.addDue(s.removeNotDue(i), a.End)
		}
	}
}

// indexOf returns the index of the job with a submission number among jobs in queue order, or -1.
func indexOf(all []waitingJob, came uint32) int {
	i, there := slices.BinarySearchFunc(all, came, func(w waitingJob, came uint32) int { return cmp.Compare(w.Seq, came) })
	if !there || all[i].Nodes == hole {
		return -1
	}
	return i
}

// removeNotDue removes the entry at index i from notDue.
func (s *easyQueue) removeNotDue(i int) waitingJob {
	w := s.notDue.Remove(i)
	s.seen = min(s.seen, len(s.notDue.All))
	return w
}

// trackDue starts to track the due times of the jobs that have just been checked. Most jobs start immediately
// and are never tracked.
func (s *easyQueue) trackDue() {
	for i := s.seen; i < len(s.notDue.All); i++ {
		if w := &s.notDue.All[i]; w.Nodes != hole {
			a := s.dueRank(w)
			s.dueTimes.Add(RunningJob{End: a.due, ID: core.JobID(a.seq)})
		}
	}
	s.seen, s.firstDue = len(s.notDue.All), core.Forever
}

// tidy shortens the lists before all their jobs are checked.
func (s *easyQueue) tidy() {
	s.trackDue()
	s.due.Tidy()
	s.notDue.Tidy()
	s.recheck = false
}

// markSeen records that all jobs were checked.
func (s *easyQueue) markSeen() { s.seenDue, s.seen = len(s.due.All), len(s.notDue.All) }

// remove removes a waiting job. It does nothing if it does not know the job.
func (s *easyQueue) remove(id core.JobID) {
	if i := s.due.Find(id); i >= 0 {
		s.due.Remove(i)
	} else if i := s.notDue.Find(id); i >= 0 {
		s.removeNotDue(i)
	}
	s.dues.Take(id)
	s.shaped.Take(id)
	s.ineligible = slices.DeleteFunc(s.ineligible, func(w waiter) bool { return w.ID == id })
	s.recheck = true
}

// setMachine adds all waiting jobs again: some may exceed the new machine, others may now fit it.
func (s *easyQueue) setMachine(now core.Time, m core.Machine) {
	all := s.all()
	s.machine, s.recheck = m, true
	s.due, s.notDue, s.dueTimes, s.ineligible, s.shaped = waitingList{}, waitingList{}, nil, nil, jobTable[*shaped]{}
	s.seenDue, s.seen, s.firstDue, s.firstBegin = 0, 0, core.Forever, core.Forever
	for i := range all {
		s.enqueue(now, &all[i].Job, all[i].due, all[i].seq)
	}
}

// all returns the waiting jobs, in queue order.
func (s *easyQueue) all() []waiter {
	all := slices.Clone(s.ineligible)
	for _, list := range [][]waitingJob{s.due.All, s.notDue.All} {
		for i := range list {
			if w := &list[i]; w.Nodes != hole {
				all = append(all, waiter{s.job(w), s.dueRank(w).due, w.Seq})
			}
		}
	}
	slices.SortFunc(all, func(a, b waiter) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// job returns the waiting job of a list entry.
func (s *easyQueue) job(w *waitingJob) core.Job {
	if o, is := s.shaped.Get(w.ID); is {
		return o.Job
	}
	return core.Job{ID: w.ID, Choices: []core.EP{{{Duration: w.Length, Nodes: int(w.Nodes)}}}}
}

// promise returns the allocation of a running rectangle.
func (s *easyQueue) promise(id core.JobID) (core.Allocation, bool) {
	h, began, runs := s.runs.Get(id)
	if !runs {
		return core.Allocation{}, false
	}
	return core.Allocation{Job: id, Start: began, EP: core.EP{{Duration: h.End - began, Nodes: h.Nodes}}}, true
}

// asReference returns the same queue as a reference state, which supports guards.
func (s *easyQueue) asReference() *reference {
	p := newReference(s.policy.Patient, s.machine)
	for _, w := range s.all() {
		p.enqueue(w.Job, w.due)
	}
	s.runs.Each(func(h RunningJob) {
		a, _ := s.promise(h.ID)
		p.running = append(p.running, activeFrom(a))
	})
	return p
}

func (s *easyQueue) clone() easyQueue {
	c := *s
	c.runs, c.dues = s.runs.Clone(), s.dues.Clone()
	c.due, c.notDue, c.dueTimes, c.ineligible = s.due.Clone(), s.notDue.Clone(), slices.Clone(s.dueTimes), slices.Clone(s.ineligible)
	c.shaped = s.shaped.Map(func(o *shaped) *shaped { same := *o; return &same })
	return c
}
