// Package malleable has the policy sched.Patient, extended to malleable jobs: it also grows and shrinks them
// while they run.
//
// A malleable job (core.Job with a Range) starts on free nodes, as many as possible between half of its
// reference size and the whole reference size. It changes its size only at its resize points, where it calls
// Point. After its first call the planner trusts it: nodes above its minimum may be claimed for waiting jobs,
// and become free at its next point. Such a job also grows into nodes that no other job can use now. Before its
// first call a malleable job counts as rigid.
//
// docs/replay.md describes the rule ("Malleable jobs"). The rule's parameters are startShare, keepPercent and grain, and the
// patience of sched.Patient. Without malleable jobs the policy starts the same jobs as Patient, at the same times.
//
//	state := malleable.Policy{Patient: sched.Patient{Factor: 2, Most: 86400}}.New(core.Machine{Nodes: 100})
//	state.Submit(now, core.Job{ID: 1, Choices: []core.EP{{{Duration: 7200, Nodes: 16}}}, Range: &core.Range{Min: 4, Max: 64, Every: 300, Cost: 30}})
//	for _, s := range state.Starts(now, nil) {
//		// s.Job starts with s.Nodes nodes, here at least 8
//	}
//	nodes := state.(sched.Resizer).Point(now+300, 1, now+600) // the number of nodes that job 1 should hold from now on
package malleable

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sched"
)

const (
	startShare  = 2 // START: a malleable job starts with at least 1/startShare of its reference size
	keepPercent = 2 // KEEP: no job grows into the last keepPercent % of the machine's nodes
	grain       = 4 // GRAIN: a job grows by at least 1/grain of its size
)

// Policy is the policy Patient, extended to queues with malleable jobs.
type Policy struct {
	sched.Patient
	ToReference bool // no job grows beyond its reference
}

var _ sched.Policy = Policy{}

// New implements sched.Policy.
func (p Policy) New(m core.Machine) sched.State {
	return &state{policy: p, machine: m, patient: p.Patient.New(m), known: map[core.JobID]known{}}
}

// state delegates to the state of Patient until the first malleable job is submitted. From then on it plans itself.
//
// The view has the nodes that running jobs hold from now on. A rigid job holds its nodes until its requested
// end, and an evolving job holds them as promised. A malleable job that has called Point holds its present size
// until it can release nodes at its next point. From then until its requested end it holds its minimum.
type state struct {
	policy  Policy
	machine core.Machine

	patient sched.State          // nil from the first malleable job on
	known   map[core.JobID]known // the jobs that patient knows

	waiting []*waiter // waiting jobs that are not due, in order of submission
	due     []*waiter // waiting jobs that are due, by the time at which they became due
	came    int
	soonest core.Time // no job of waiting becomes due before this time

	jobs     map[core.JobID]*run
	heard    []*run // running malleable jobs that have called Point, in order of start
	ends     sched.RunningByEnd
	changes  []sched.Active // allocations of evolving jobs, and allocations that begin in the future
	promises bool           // a job has several steps or a later start: malleable jobs are then planned with their latest ends
	horizon  core.Time      // the longest time from one point to the next, plus the time of a resize

	view    *profile.Profile
	firm    *profile.Profile // the view without the nodes in `undo`; nil as long as `promises` is false
	chooser moldable.Chooser
	undo    []stretch // nodes that the last pass added to the view for waiting jobs
	place   core.Time // start of the reservation; Forever without a reservation
	wake    core.Time // when a pass has to claim nodes for the reservation
	places  []core.Planned
}

// waiter is a job that waits.
type waiter struct {
	core.Job
	due    core.Time
	came   int
	lo, hi int  // nodes with which a malleable or rigid job may start
	simple bool // the job has one choice of one step
}

// run is a running job.
type run struct {
	core.Allocation
	came int
	held [3]stretch // the job's part of the view

	*core.Range           // nil if the job is not malleable
	reference   core.Step // the requested size and duration
	size        int       // nodes
	before      int       // nodes that the job had before its last resize; it holds them until time `settled`
	settled     core.Time // when its last resize ends
	heard       bool
	lends       bool      // in the view, the nodes above the job's minimum are free from the time that method gives returns
	next        core.Time // the job's next point
	end         core.Time // requested end, corrected by each resize
	work        float64   // work done until `since`, in seconds on the reference size
	since       core.Time
	judged      int  // value of pass.begun when shrinks was computed
	shrinks     bool // all promises still fit if the job shrinks to its minimum
	target      int  // size for the job's next point; 0 means no change
}

// stretch is a number of nodes from one second to another.
type stretch struct {
	from, to core.Time
	nodes    int
}

func (s *state) begin() {
	s.view, s.jobs, s.soonest, s.place, s.wake = profile.New(max(s.machine.Nodes, 0)), map[core.JobID]*run{}, core.Forever, core.Forever, core.Forever
	s.policy.Reservations = 1
}

// Submit implements sched.State.
func (s *state) Submit(now core.Time, j core.Job) {
	if s.patient != nil {
		if j.Range == nil {
			s.patient.Submit(now, j)
			s.remember(j)
			return
		}
		s.takeOver(now)
	}
	w := &waiter{Job: j, due: s.policy.Due(j), came: s.came}
	s.came++
	if len(j.Choices) != 1 || len(j.Choices[0]) != 1 {
		s.keepPromises()
	} else {
		w.simple, w.lo, w.hi = true, j.Choices[0][0].Nodes, j.Choices[0][0].Nodes
	}
	if r := j.Range; r != nil {
		w.lo = max(r.Min, (w.hi+startShare-1)/startShare)
		if r.Every < core.Forever/2 {
			s.horizon = max(s.horizon, r.Every+r.Cost)
		}
	}
	if !s.policy.Ages() {
		w.due = -core.Forever
	}
	if w.due <= now {
		s.becomesDue(w)
		return
	}
	s.waiting = append(s.waiting, w)
	s.soonest = min(s.soonest, w.due)
}

// known is a job that patient knows. `came` is its number in order of submission.
type known struct {
	core.Job
	came int
}

// remember records a job that patient knows.
func (s *state) remember(j core.Job) {
	s.known[j.ID] = known{j, s.came}
	s.came++
}

// takeOver builds the own state from the jobs that patient knows, and stops using patient.
func (s *state) takeOver(now core.Time) {
	promises, all := s.patient.(sched.Promiser), slices.SortedFunc(maps.Values(s.known), func(a, b known) int { return cmp.Compare(a.came, b.came) })
	s.patient, s.known = nil, nil
	s.begin()
	for _, j := range all {
		if a, runs := promises.Promise(j.ID); runs {
			s.Running(now, a)
		} else {
			s.Submit(now, j.Job)
		}
	}
}

// becomesDue inserts a job after the jobs that became due before it.
func (s *state) becomesDue(w *waiter) {
	i, _ := slices.BinarySearchFunc(s.due, w, byDue)
	s.due = slices.Insert(s.due, i, w)
}

func byDue(a, b *waiter) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.came, b.came)) }

// age moves the jobs that have become due from waiting to due.
func (s *state) age(now core.Time) {
	if now < s.soonest {
		return
	}
	s.soonest = core.Forever
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool {
		if w.due <= now {
			s.becomesDue(w)
			return true
		}
		s.soonest = min(s.soonest, w.due)
		return false
	})
}

// Running implements sched.State.
func (s *state) Running(now core.Time, a core.Allocation) {
	if s.patient != nil {
		s.patient.Running(now, a)
		s.remember(core.Job{ID: a.Job})
		return
	}
	s.End(now, a.Job)
	if len(a.EP) == 1 && a.Start <= now {
		s.enter(&run{Allocation: a, end: a.End()}, a.EP[0].Nodes)
		return
	}
	s.keepPromises()
	s.changes = append(s.changes, sched.NewActive(now, a))
	s.enter(&run{Allocation: a, end: a.End()}, 0)
}

// enter adds a running job. `nodes` is 0 for an evolving job, whose steps are in `changes`.
func (s *state) enter(r *run, nodes int) {
	r.came, r.size, r.before = s.came, nodes, nodes
	s.came++
	s.jobs[r.Job] = r
	s.ends.Add(sched.RunningJob{End: r.end, ID: r.Job, Nodes: nodes}, r.Start)
	if nodes == 0 {
		s.bookSteps(r, r.Start, 1)
		return
	}
	s.hold(r, r.Start)
}

// hold updates the nodes of a malleable or rigid job in the view.
func (s *state) hold(r *run, now core.Time) {
	s.release(r, now)
	r.lends = false
	from := now
	add := func(i, nodes int, to core.Time) {
		if to > from {
			r.held[i] = stretch{from, to, nodes}
			s.book(from, to, nodes)
			from = to
		}
	}
	if r.Range == nil {
		add(0, r.size, r.end)
		return
	}
	add(0, max(r.size, r.before), min(r.settled, r.end))
	if r.heard && now >= r.settled {
		end := r.end
		if s.promises {
			end = r.latest(now)
		}
		if end == r.end || s.firm.Max(r.end, end)+min(r.size, r.Min) <= s.machine.Nodes {
			r.lends = true
			add(1, r.size, min(r.gives(now), r.end))
			add(2, min(r.size, r.Min), end)
			return
		}
	}
	add(1, r.size, r.end)
}

// keepPromises makes the state plan malleable jobs with their latest ends from now on.
func (s *state) keepPromises() {
	if s.promises {
		return
	}
	s.takeBack()
	s.promises, s.firm = true, s.view.Clone()
}

// book adds nodes to the view, or removes them if `nodes` is negative.
func (s *state) book(from, to core.Time, nodes int) {
	s.view.Change(from, to, nodes)
	if s.firm != nil {
		s.firm.Change(from, to, nodes)
	}
}

// bookSteps adds the steps of an evolving job from an instant on, or removes them if `sign` is -1.
func (s *state) bookSteps(r *run, since core.Time, sign int) {
	at := r.Start
	for _, step := range r.EP {
		if to := at + step.Duration; to > since {
			s.book(max(since, at), to, sign*step.Nodes)
		}
		at += step.Duration
	}
}

// release removes a job's nodes from the view, from an instant on.
func (s *state) release(r *run, now core.Time) {
	for i, h := range r.held {
		if h.to > now {
			s.book(max(now, h.from), h.to, -h.nodes)
		}
		r.held[i] = stretch{}
	}
}

// End implements sched.State.
func (s *state) End(now core.Time, id core.JobID) {
	if s.patient != nil {
		s.patient.End(now, id)
		delete(s.known, id)
		return
	}
	gone := func(w *waiter) bool { return w.ID == id }
	r := s.jobs[id]
	if r == nil {
		s.waiting, s.due = slices.DeleteFunc(s.waiting, gone), slices.DeleteFunc(s.due, gone)
		return
	}
	delete(s.jobs, id)
	s.ends.Take(id)
	s.release(r, now)
	if r.heard {
		s.heard = slices.DeleteFunc(s.heard, func(o *run) bool { return o == r })
	}
	if r.size == 0 {
		s.changes = slices.DeleteFunc(s.changes, func(c sched.Active) bool { return c.Job == id })
		s.bookSteps(r, now, -1)
	}
}

// Nodes implements sched.State.
func (s *state) Nodes(now core.Time, m core.Machine) {
	s.machine = m
	if s.patient != nil {
		s.patient.Nodes(now, m)
		return
	}
	s.takeBack()
	s.view.Clear(max(m.Nodes, 0))
	if s.firm != nil {
		s.firm.Clear(max(m.Nodes, 0))
	}
	for _, r := range s.jobs {
		for _, h := range r.held {
			if h.to > now {
				s.book(max(now, h.from), h.to, h.nodes)
			}
		}
		if r.size == 0 {
			s.bookSteps(r, r.Start, 1)
		}
	}
}

// Next implements sched.State.
func (s *state) Next(now core.Time) core.Time {
	if s.patient != nil {
		return s.patient.Next(now)
	}
	next := s.ends.Next(now)
	for i := range s.changes {
		next = min(next, s.changes[i].Next(now))
	}
	for _, r := range s.heard {
		if r.settled > now {
			next = min(next, r.settled)
		}
	}
	for _, at := range []core.Time{s.place, s.wake} {
		if at > now {
			next = min(next, at)
		}
	}
	for _, queue := range [][]*waiter{s.due, s.waiting} {
		for _, w := range queue {
			if w.Begin > now {
				next = min(next, w.Begin)
			}
		}
	}
	return next
}

// Promise implements sched.Promiser. For a malleable job it returns the minimum, which no other job takes.
func (s *state) Promise(id core.JobID) (core.Allocation, bool) {
	if s.patient != nil {
		return s.patient.(sched.Promiser).Promise(id)
	}
	r := s.jobs[id]
	if r == nil {
		return core.Allocation{}, false
	}
	return r.Allocation, true
}

// Plan implements sched.State.
func (s *state) Plan(now core.Time) core.Plan {
	if s.patient != nil {
		return s.patient.Plan(now)
	}
	c := s.Clone().(*state)
	var plan core.Plan
	for _, b := range c.Starts(now, nil) {
		if b.Begins {
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: c.jobs[b.Job].Allocation, Choice: b.Choice})
		}
	}
	plan.Jobs = append(plan.Jobs, c.places...)
	return plan
}

// Clone implements sched.State.
func (s *state) Clone() sched.State {
	c := *s
	if s.patient != nil {
		c.patient, c.known = s.patient.Clone(), maps.Clone(s.known)
		return &c
	}
	c.waiting, c.due, c.undo, c.places, c.changes = slices.Clone(s.waiting), slices.Clone(s.due), slices.Clone(s.undo), slices.Clone(s.places), slices.Clone(s.changes)
	if s.firm != nil {
		c.firm = s.firm.Clone()
	}
	c.view, c.ends, c.chooser = s.view.Clone(), s.ends.Clone(), moldable.Chooser{}
	c.jobs, c.heard = make(map[core.JobID]*run, len(s.jobs)), make([]*run, len(s.heard))
	for id, r := range s.jobs {
		own := *r
		c.jobs[id] = &own
	}
	for i, r := range s.heard {
		c.heard[i] = c.jobs[r.Job]
	}
	return &c
}

// Starts implements sched.State. It reports shrinks and growths of evolving jobs first, then starts. Malleable jobs change their
// sizes in Point.
func (s *state) Starts(now core.Time, into []core.Start) []core.Start {
	if s.patient != nil {
		return s.patient.Starts(now, into)
	}
	s.ends.Pass(now)
	into = sched.Resize(s.changes, now, into)
	return s.pass(now, into)
}

// Point implements sched.Resizer.
func (s *state) Point(now core.Time, id core.JobID, next core.Time) (nodes int) {
	r := s.jobs[id]
	if r == nil || r.Range == nil {
		return 0
	}
	if !r.heard {
		r.heard = true
		i, _ := slices.BinarySearchFunc(s.heard, r, func(a, b *run) int { return cmp.Compare(a.came, b.came) })
		s.heard = slices.Insert(s.heard, i, r)
	}
	r.next = next
	if now >= r.settled {
		s.resize(r, now)
	}
	s.hold(r, now)
	return r.size
}

// resize gives a job the target that the last pass set, unless a promise to another job no longer allows it.
func (s *state) resize(r *run, now core.Time) {
	size := r.target
	r.target = 0
	s.takeBack()
	if size > r.size {
		size = min(size, r.size+max(0, s.machine.Nodes-s.view.At(now)))
	}
	if size == 0 || size == r.size || !s.keeps(r, size, now) {
		return
	}
	s.ends.Take(r.Job)
	r.to(size, now)
	s.ends.Add(sched.RunningJob{End: r.end, ID: r.Job, Nodes: r.size}, r.Start)
	r.EP = core.EP{{Duration: r.end - r.Start, Nodes: min(r.size, r.Min)}}
}

// to changes a job's size at a point.
func (r *run) to(size int, now core.Time) {
	r.work += r.done(now)
	r.before, r.size, r.settled = r.size, size, now+r.Cost
	r.since = r.settled
	r.end = r.since + r.left()
}

// latest returns when the job ends if it shrinks to its minimum at its next point. A shrunk job lasts longer.
func (r *run) latest(now core.Time) core.Time {
	at := max(r.next, now, r.settled)
	if r.size <= r.Min || at >= r.end {
		return r.end
	}
	c := *r
	c.to(r.Min, at)
	return max(c.end, r.end)
}

// keeps reports whether all promises still fit if a job gets a size at its point. The job then holds that size until its next point after
// the resize, and its minimum until its latest end. The reservation of a waiting job does not count as a promise, because every pass makes it
// again.
func (s *state) keeps(r *run, size int, at core.Time) bool {
	if !s.promises {
		return true
	}
	after := *r
	if size != r.size {
		after.to(size, at)
	}
	for after.next = at + r.Every; after.next <= after.settled; after.next += r.Every {
		// points before the end of the resize are skipped
	}
	lift := func(sign int) {
		for _, h := range r.held {
			if h.to > at {
				s.firm.Change(max(at, h.from), h.to, sign*h.nodes)
			}
		}
	}
	lift(-1)
	defer lift(1)
	from := at
	for _, h := range []stretch{
		{to: min(after.settled, after.end), nodes: max(after.size, after.before)},
		{to: min(after.gives(at), after.end), nodes: after.size},
		{to: after.latest(at), nodes: min(after.size, after.Min)},
	} {
		if from < h.to && s.firm.Max(from, h.to)+h.nodes > s.machine.Nodes {
			return false
		}
		from = max(from, h.to)
	}
	return true
}

// done returns the work since r.since, in seconds on the reference size.
func (r *run) done(now core.Time) float64 {
	return float64(max(0, now-r.since)) / r.Speed.Stretch(r.size, r.reference.Nodes)
}

// left returns how many seconds of the request remain after r.since, on the present size.
func (r *run) left() core.Time {
	return seconds((float64(r.reference.Duration) - r.work) * r.Speed.Stretch(r.size, r.reference.Nodes))
}

// seconds rounds up to whole seconds. It ignores rounding errors of divisions.
func seconds(exact float64) core.Time { return max(1, core.Time(math.Ceil(exact*(1-1e-12)))) }

// lasts returns the requested time on a number of nodes, in seconds.
func (w *waiter) lasts(nodes int) core.Time {
	step := w.Choices[0][0]
	if w.Range == nil || nodes == step.Nodes {
		return step.Duration
	}
	return seconds(float64(step.Duration) * w.Range.Speed.Stretch(nodes, step.Nodes))
}
