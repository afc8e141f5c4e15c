package easy

import (
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// rehearsal is a simulation of what comes if nobody else is submitted and every job runs as long as it asks for.
//
// It finds out when one job starts, on each of several sizes. Until a job starts, others do not notice of it how large it is: it
// holds no nodes, and has no reservation before it is the head of the queue. So one simulation serves all sizes, in which the
// job is a ghost that never starts: at its turn of each pass it is asked which of its sizes would. When it is the head, the
// nodes for a size are free exactly at its reservation, as those behind it do not delay it; unless one of them ages before that
// and goes before it: then that size has a simulation of its own.
type rehearsal struct {
	order   *Order
	now     core.Time
	free    int
	running []sched.RunningJob // the latest end first
	queue   []actor
	ages    core.Time // nobody ages before
	watched uint32    // whose start is asked for: actor.rank.came
	ghost   bool      // it is a ghost; else it starts as others do
	began   bool      // it has started

	sizes *sizing.Sizes
	open  []int // numbers of the sizes of the ghost that may be the best, as far as is known
	best  int   // number; −1: none
	end   core.Time
}

// actor is a job that waits in a rehearsal: on one size, unless it is the ghost.
type actor struct {
	waiter
	step core.Step
}

// rehearse is the number of the size on which a job ends first that is submitted now; of equals the smallest.
func (s *state) rehearse(now core.Time, w waiter) int {
	s.age(now)
	limit := math.Inf(1)
	if s.top == ToReference {
		limit = 1
	}
	lo, hi, ok := w.sizes.Range(limit, s.machine.Nodes)
	if !ok || lo == hi {
		return lo
	}
	r := &s.rehearsal
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

// prepare has what runs and what waits.
func (r *rehearsal) prepare(now core.Time, s *state) {
	r.order, r.now, r.free, r.ages, r.ghost, r.began = &s.order, now, s.free, s.ages, true, false
	r.running, r.queue = append(r.running[:0], s.runs.List...), r.queue[:0]
	for i := range s.others {
		if o := &s.others[i]; o.End() > now {
			r.hold(sched.RunningJob{End: min(o.End(), core.Forever), ID: o.Job, Nodes: o.EP.Peak()})
		}
	}
	for _, w := range s.queue {
		r.queue = append(r.queue, actor{*w, w.sizes.Steps[0]})
	}
}

// enter puts the ghost in its place of the queue.
func (r *rehearsal) enter(now core.Time, w waiter) {
	w.age.due = r.order.due(w.sizes, w.since(), w.age)
	w.rank = r.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.came)
	r.watched, r.ages = w.rank.came, min(r.ages, w.age.due)
	i := len(r.queue)
	for i > 0 && w.rank.compare(&r.queue[i-1].rank) < 0 {
		i--
	}
	r.queue = slices.Insert(r.queue, i, actor{waiter: w})
	r.age()
}

// hold enters a job that runs.
func (r *rehearsal) hold(h sched.RunningJob) {
	r.free -= h.Nodes
	i := len(r.running)
	r.running = append(r.running, h)
	for ; i > 0 && r.running[i-1].End <= h.End; i-- {
		r.running[i] = r.running[i-1]
	}
	r.running[i] = h
}

// next goes to the next end. It is false when there is none.
func (r *rehearsal) next() bool {
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

// age ranks those anew who have aged.
func (r *rehearsal) age() {
	if r.now < r.ages {
		return
	}
	r.ages = core.Forever
	for i := range r.queue {
		w := &r.queue[i]
		if w.age.due <= r.now {
			w.age = r.order.next(w.sizes, w.since(), r.now, w.age)
			w.rank = r.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.came)
		}
		r.ages = min(r.ages, w.age.due)
	}
	slices.SortFunc(r.queue, func(a, b actor) int { return a.rank.compare(&b.rank) })
}

// pass is State.Starts.
func (r *rehearsal) pass() {
	for len(r.queue) > 0 {
		head := &r.queue[0]
		if r.ghost && head.rank.came == r.watched {
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
		case r.ghost && w.rank.came == r.watched:
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

// fits says whether a job of that size starts and does not delay the head.
func (r *rehearsal) fits(step core.Step, at core.Time, beside int) bool {
	return step.Nodes <= r.free && (r.now+step.Duration <= at || step.Nodes <= beside)
}

// start moves number i of the queue to what runs.
func (r *rehearsal) start(i int) {
	w := r.queue[i]
	r.began = r.began || w.rank.came == r.watched
	r.queue = slices.Delete(r.queue, i, i+1)
	r.hold(sched.RunningJob{End: min(core.Forever, r.now+w.step.Duration), ID: w.id, Nodes: w.step.Nodes})
}

// reserve is when so many nodes are free, by the ends of what runs, and how many more.
func (r *rehearsal) reserve(nodes int) (at core.Time, beside int) {
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
func (r *rehearsal) asFiller(at core.Time, beside int) {
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

// asHead starts the ghost, now the head, on all its sizes.
func (r *rehearsal) asHead() {
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

// overtaken says whether somebody behind the head may be before it at an instant to come.
func (r *rehearsal) overtaken(at core.Time) bool {
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
		if rank := r.order.rank(w.sizes, w.submit, w.since(), older, w.rank.came); rank.compare(&head.rank) < 0 {
			return true
		}
	}
	return false
}

// alone is when the ghost starts on a size that is simulated for itself; Forever when that is too late to be the best.
func (r *rehearsal) alone(k int) core.Time {
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

// wins says whether a size that starts at an instant is the best so far.
func (r *rehearsal) wins(k int, at core.Time) bool {
	end := at + r.sizes.Steps[k].Duration
	return at < core.Forever && (r.best < 0 || end < r.end || end == r.end && k < r.best)
}

// found notes when a size starts.
func (r *rehearsal) found(k int, at core.Time) {
	if r.wins(k, at) {
		r.best, r.end = k, at+r.sizes.Steps[k].Duration
	}
}

// narrow leaves out the sizes that cannot be the best any more, as they start at the next end or later. It says whether there
// are others.
func (r *rehearsal) narrow() bool {
	if r.best < 0 || len(r.open) == 0 || len(r.running) == 0 {
		return len(r.open) > 0
	}
	next := r.running[len(r.running)-1].End
	r.open = slices.DeleteFunc(r.open, func(k int) bool { return !r.wins(k, next) })
	return len(r.open) > 0
}
