package easy

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// simulation simulates the queue without further submissions, in which every job runs for its requested time.
//
// It finds when one job, called the ghost, starts for each of several sizes. Until it starts, its size does not affect the other
// jobs: it holds no nodes, and has no reservation before it is the head of the queue. So one simulation is enough for all sizes. In
// this simulation the ghost never starts. At its turn in each pass the simulation checks which of the ghost's sizes would start.
// When the ghost is the head, it starts on each size exactly at the reservation for that size, because later jobs do not delay the
// head. The exception is a later job that ages before that time and overtakes the ghost: this size then gets its own simulation.
type simulation struct {
	order   *Order
	now     core.Time
	free    int
	running []sched.RunningJob // the latest end first
	queue   []simulatedJob
	ages    core.Time // no job ages before this time
	watched uint32    // rank.came of the job whose start is wanted
	ghost   bool      // the watched job is a ghost; otherwise it starts like others
	began   bool      // the watched job has started

	sizes *sizing.Sizes
	open  []int // indexes of the ghost's sizes that may still be the best
	best  int   // index of the best size so far; -1 if there is none
	end   core.Time
}

// simulatedJob is a waiting job in a simulation: on one size, unless it is the ghost.
type simulatedJob struct {
	waiter
	step core.Step
}

// simulate returns the index of the size on which a job that is submitted now ends first. If there are several,
// it returns the smallest.
func (s *state) simulate(now core.Time, w waiter) int {
	s.age(now)
	limit := math.Inf(1)
	if s.top == ToReference {
		limit = 1
	}
	lo, hi, ok := w.sizes.Range(limit, s.machine.Nodes)
	if !ok || lo == hi {
		return lo
	}
	r := &s.simulation
	r.prepare(now, s)
	r.enter(now, w)
	r.sizes, r.best, r.end, r.open = w.sizes, -1, core.Forever, r.open[:0]
	for k := lo; k <= hi; k++ {
		r.open = append(r.open, k)
	}
	for r.pass(); r.narrow() && r.next(); {
		r.pass()
	}
	return max(lo, r.best)
}

// prepare copies the running and the waiting jobs.
func (r *simulation) prepare(now core.Time, s *state) {
	r.order, r.now, r.free, r.ages, r.ghost, r.began = &s.order, now, s.free, s.ages, true, false
	r.running, r.queue = append(r.running[:0], s.runs.List...), r.queue[:0]
	for i := range s.others {
		if o := &s.others[i]; o.End() > now {
			r.hold(sched.RunningJob{End: min(o.End(), core.Forever), ID: o.Job, Nodes: o.EP.Peak()})
		}
	}
	for _, w := range s.queue {
		r.queue = append(r.queue, simulatedJob{*w, w.sizes.Steps[0]})
	}
}

// enter adds the ghost to the queue.
func (r *simulation) enter(now core.Time, w waiter) {
	w.age.due = r.order.due(w.sizes, w.since(), w.age)
	w.rank = r.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.seq)
	r.watched, r.ages = w.rank.seq, min(r.ages, w.age.due)
	i := len(r.queue)
	for i > 0 && w.rank.compare(&r.queue[i-1].rank) < 0 {
		i--
	}
	r.queue = slices.Insert(r.queue, i, simulatedJob{waiter: w})
	r.age()
}

// hold adds a running job.
func (r *simulation) hold(h sched.RunningJob) {
	r.free -= h.Nodes
	i := len(r.running)
	r.running = append(r.running, h)
	for ; i > 0 && r.running[i-1].End <= h.End; i-- {
		r.running[i] = r.running[i-1]
	}
	r.running[i] = h
}

// next advances to the next end of a job. It returns false if there is none.
func (r *simulation) next() bool {
	last := len(r.running) - 1
	if last < 0 {
		return false
	}
	r.now = r.running[last].End
	for ; last >= 0 && r.running[last].End == r.now; last-- {
		r.free += r.running[last].Nodes
	}
	r.running = r.running[:last+1]
	r.age()
	return true
}

// age computes new ranks for the jobs that have aged.
func (r *simulation) age() {
	if r.now < r.ages {
		return
	}
	r.ages = core.Forever
	for i := range r.queue {
		w := &r.queue[i]
		if w.age.due <= r.now {
			w.age = r.order.next(w.sizes, w.since(), r.now, w.age)
			w.rank = r.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.seq)
		}
		r.ages = min(r.ages, w.age.due)
	}
	slices.SortFunc(r.queue, func(a, b simulatedJob) int { return a.rank.compare(&b.rank) })
}

// pass does what State.Starts does.
func (r *simulation) pass() {
	for len(r.queue) > 0 {
		head := &r.queue[0]
		if r.ghost && head.rank.seq == r.watched {
			r.asHead()
			return
		}
		if head.step.Nodes > r.free {
			break
		}
		r.start(0)
	}
	if len(r.queue) == 0 || r.free <= 0 {
		return
	}
	at, beside := r.reserve(r.queue[0].step.Nodes)
	for i := 1; i < len(r.queue) && r.free > 0; {
		w := &r.queue[i]
		switch {
		case r.ghost && w.rank.seq == r.watched:
			r.asFiller(at, beside)
			i++
		case !r.fits(w.step, at, beside):
			i++
		default:
			if r.now+w.step.Duration > at {
				beside -= w.step.Nodes
			}
			r.start(i)
		}
	}
}

// fits reports whether a job of that size starts now without delaying the head.
func (r *simulation) fits(step core.Step, at core.Time, beside int) bool {
	return step.Nodes <= r.free && (r.now+step.Duration <= at || step.Nodes <= beside)
}

// start starts job i of the queue.
func (r *simulation) start(i int) {
	w := r.queue[i]
	r.began = r.began || w.rank.seq == r.watched
	r.queue = slices.Delete(r.queue, i, i+1)
	r.hold(sched.RunningJob{End: min(core.Forever, r.now+w.step.Duration), ID: w.id, Nodes: w.step.Nodes})
}

// reserve returns when the nodes are free, by the ends of the running jobs, and how many additional nodes are free then.
func (r *simulation) reserve(nodes int) (at core.Time, beside int) {
	at, free := r.now, r.free
	for i := len(r.running); free < nodes; {
		if i == 0 {
			return core.Forever, 0
		}
		for at = r.running[i-1].End; i > 0 && r.running[i-1].End == at; i-- {
			free += r.running[i-1].Nodes
		}
	}
	return at, free - nodes
}

// asFiller starts the ghost on the sizes that can be back-filled now.
func (r *simulation) asFiller(at core.Time, beside int) {
	kept := r.open[:0]
	for _, k := range r.open {
		if r.fits(r.sizes.Steps[k], at, beside) {
			r.found(k, r.now)
		} else {
			kept = append(kept, k)
		}
	}
	r.open = kept
}

// asHead starts the ghost, which is now the head, on all its sizes.
func (r *simulation) asHead() {
	for _, k := range r.open {
		step := r.sizes.Steps[k]
		at, _ := r.reserve(step.Nodes)
		if !r.wins(k, at) {
			continue
		}
		if at > r.now && r.overtaken(at) {
			at = r.alone(k)
		}
		r.found(k, at)
	}
	r.open = r.open[:0]
}

// overtaken reports whether a job behind the head may move before the head until time `at`.
func (r *simulation) overtaken(at core.Time) bool {
	if at < r.ages {
		return false
	}
	head := &r.queue[0]
	for i := 1; i < len(r.queue); i++ {
		w := &r.queue[i]
		if w.age.due > at {
			continue
		}
		older := r.order.next(w.sizes, w.since(), at, w.age)
		if rank := r.order.rank(w.sizes, w.submit, w.since(), older, w.rank.seq); rank.compare(&head.rank) < 0 {
			return true
		}
	}
	return false
}

// alone returns when the ghost starts on a size, by a simulation for this size only. It returns Forever if that is
// too late to be the best.
func (r *simulation) alone(k int) core.Time {
	twin := *r
	twin.ghost, twin.running, twin.queue = false, slices.Clone(r.running), slices.Clone(r.queue)
	twin.queue[0].sizes, twin.queue[0].step = r.sizes.At(k), r.sizes.Steps[k]
	for twin.pass(); !twin.began; twin.pass() {
		if !twin.next() || !r.wins(k, twin.now) {
			return core.Forever
		}
	}
	return twin.now
}

// wins reports whether a size that starts at a time is the best so far.
func (r *simulation) wins(k int, at core.Time) bool {
	end := at + r.sizes.Steps[k].Duration
	return at < core.Forever && (r.best < 0 || end < r.end || end == r.end && k < r.best)
}

// found records when a size starts.
func (r *simulation) found(k int, at core.Time) {
	if r.wins(k, at) {
		r.best, r.end = k, at+r.sizes.Steps[k].Duration
	}
}

// narrow removes the sizes that cannot be the best any more, because they start at the next end or later. It reports
// whether any are left.
func (r *simulation) narrow() bool {
	if r.best < 0 || len(r.open) == 0 || len(r.running) == 0 {
		return len(r.open) > 0
	}
	next := r.running[len(r.running)-1].End
	r.open = slices.DeleteFunc(r.open, func(k int) bool { return !r.wins(k, next) })
	return len(r.open) > 0
}
