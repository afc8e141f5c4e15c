package malleable

import (
	"cmp"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sched"
)

// pass is the state of one pass over all waiting jobs.
type pass struct {
	*state
	now       core.Time
	left      int       // free nodes that are not kept for a job
	returning int       // nodes that a resize under way will release and that are not kept for a job
	hopeless  int       // shrinking jobs does not help a job that needs this many nodes or more
	reserved  bool      // there is a reservation
	starts    core.Time // start of the reservation; Forever without a reservation
	waits     bool      // a job waits after this pass
	into      []core.Start
	begun     int // changes from pass to pass and when a job starts; results of mayShrink are valid until it changes
}

// pass starts jobs that fit, makes the reservation, and sets the targets of running malleable jobs. It discards the targets of the last
// pass.
func (s *state) pass(now core.Time, into []core.Start) []core.Start {
	s.takeBack()
	s.view.Forget(now)
	if s.firm != nil {
		s.firm.Forget(now)
	}
	s.age(now)
	s.place, s.wake, s.places = core.Forever, core.Forever, s.places[:0]
	s.came++
	p := pass{state: s, now: now, begun: s.came, hopeless: math.MaxInt, starts: core.Forever, into: into}
	for _, r := range s.heard {
		r.target = 0
		if now >= r.settled && (!r.lends || r.next < now) { // the job's resize has ended, or the job is late for its point
			s.hold(r, now)
		}
		if now < r.settled {
			p.returning += max(0, r.before-r.size)
		}
	}
	p.left = s.machine.Nodes - s.view.At(now)
	p.claimPromises()
	s.due = p.queue(s.due, true)
	s.waiting = p.queue(s.waiting, false)
	p.claimPromises() // again, now that jobs have started
	p.grow()
	return p.into
}

// takeBack removes what the last pass added to the view for waiting jobs.
func (s *state) takeBack() {
	for _, u := range s.undo {
		s.view.Change(u.from, u.to, -u.nodes)
	}
	s.undo = s.undo[:0]
}

// queue calls method look for each job of a list, and returns the jobs that still wait.
func (p *pass) queue(all []*waiter, due bool) []*waiter {
	kept := all[:0]
	for _, w := range all {
		if !p.look(w, due) {
			kept = append(kept, w)
		}
	}
	clear(all[len(kept):])
	return kept
}

// look starts a job, reserves its place or claims nodes for it. It reports whether the job starts.
func (p *pass) look(w *waiter, due bool) bool {
	if w.Begin > p.now {
		return false
	}
	if !w.simple {
		return p.lookShaped(w, due)
	}
	if w.lo > p.machine.Nodes || w.lo <= 0 {
		return false
	}
	if size := p.size(w); size > 0 {
		p.begin(w, size)
		return true
	}
	p.waits = true
	request := w.lasts(w.lo)
	if !p.reserved && due {
		start, ok := p.view.FirstFit(w.lo, request, p.now)
		if !ok {
			return false
		}
		ep := core.EP{{Duration: request, Nodes: w.lo}}
		p.reserve(w, core.Planned{Allocation: core.Allocation{Job: w.ID, Start: start, EP: ep}})
		return false
	}
	if w.lo < p.hopeless && w.lo > p.left && p.leastFree(min(p.starts, p.now+p.horizon), p.now+p.horizon+request) >= w.lo {
		p.shrinkFor(core.EP{{Duration: request, Nodes: w.lo}})
	}
	return false
}

// lookShaped does what look does, for an evolving or moldable job.
func (p *pass) lookShaped(w *waiter, due bool) bool {
	best, ok := p.chooser.Earliest(p.view.Without(0, nil), p.now, w.Job, 4*core.Forever)
	// A profile that can start now is better than one that ends sooner.
	for i := range w.Choices {
		one := w.Job
		one.Choices = w.Choices[i : i+1]
		c, fits := p.chooser.Earliest(p.view.Without(0, nil), p.now, one, p.now+one.Choices[0].Total()+1)
		c.Choice = i
		if fits && c.Start == p.now && (best.Start > p.now || c.End() < best.End()) {
			best, ok = c, true
		}
	}
	if !ok {
		return false
	}
	if best.Start == p.now {
		p.beginShaped(best)
		return true
	}
	p.waits = true
	if !p.reserved && due {
		p.reserve(w, best)
		return false
	}
	if first := best.EP[0].Nodes; first < p.hopeless && first > p.left {
		if ahead, ok := p.chooser.Earliest(p.view.Without(0, nil), p.now+p.horizon, w.Job, p.now+p.horizon+best.EP.Total()+1); ok && ahead.Start == p.now+p.horizon {
			p.shrinkFor(ahead.EP)
		}
	}
	return false
}

// size returns the number of nodes with which a job starts now, or 0 if it does not start.
func (p *pass) size(w *waiter) int {
	size := min(w.hi, p.left)
	for size >= w.lo {
		free := p.leastFree(p.now, p.now+w.lasts(size))
		if free >= size {
			return size
		}
		size = free
	}
	return 0
}

// leastFree returns the number of nodes that are free during the whole time between two instants.
func (p *pass) leastFree(from, to core.Time) int { return p.machine.Nodes - p.view.Max(from, to) }

// begin starts a job of one step.
func (p *pass) begin(w *waiter, size int) {
	end := p.now + w.lasts(size)
	r := &run{
		Allocation: core.Allocation{Job: w.ID, Start: p.now, EP: core.EP{{Duration: end - p.now, Nodes: size}}},
		Range:      w.Range, reference: w.Choices[0][0], end: end, since: p.now,
	}
	if w.Range != nil {
		r.next = p.now + w.Range.Every
	}
	p.enter(r, size)
	p.begun = p.came
	p.left -= size
	p.into = append(p.into, core.Start{Job: w.ID, Nodes: size, Begins: true})
}

// beginShaped starts a job of several steps.
func (p *pass) beginShaped(c core.Planned) {
	p.changes = append(p.changes, sched.NewActive(p.now, c.Allocation))
	p.enter(&run{Allocation: c.Allocation, end: c.End()}, 0)
	p.begun = p.came
	p.left -= c.EP[0].Nodes
	p.into = append(p.into, core.Start{Job: c.Job, Choice: c.Choice, Nodes: c.EP[0].Nodes, Begins: true})
}

// reserve makes the reservation for a job, and claims nodes of malleable jobs for it.
func (p *pass) reserve(w *waiter, c core.Planned) {
	p.reserved, p.starts, p.place = true, c.Start, c.Start
	p.add(c.Start, c.EP)
	p.places = append(p.places, c)
	p.claimFor(c.Start)
}

// claimPromises claims the nodes that promises need: nodes of later steps of evolving jobs, and nodes of
// allocations in the future.
func (p *pass) claimPromises() {
	for i := range p.changes {
		a := &p.changes[i]
		at, before := a.Start, 0
		for _, step := range a.EP {
			if step.Nodes > before && at > p.now {
				p.claimFor(at)
			}
			at, before = at+step.Duration, step.Nodes
		}
	}
}

// claimFor claims the nodes that are missing at an instant unless malleable jobs release some. If the instant is far enough away, a later
// pass claims them.
func (p *pass) claimFor(at core.Time) {
	if at > p.now+p.horizon+1 {
		p.wake = min(p.wake, at-p.horizon)
		return
	}
	lent := 0
	for _, r := range p.heard {
		if spare := p.spare(r); spare > 0 && r.gives(p.now) <= at && at < r.end {
			lent += spare
		}
	}
	if missing := p.view.At(at) + lent - p.machine.Nodes; missing > 0 {
		p.claim(missing, at)
	}
}

// shrinkFor keeps the free nodes for a job that can start at the horizon, and claims the other nodes of its first step.
func (p *pass) shrinkFor(ep core.EP) {
	nodes := ep[0].Nodes
	use := min(nodes, max(0, p.left))
	lack := nodes - use - p.returning
	if lack > 0 && !p.claim(lack, p.now+p.horizon) {
		p.hopeless = nodes
		return
	}
	p.left -= use
	p.returning -= min(p.returning, nodes-use)
	from := p.now + p.horizon
	if early := from - p.starts; early > 0 { // keep the job's nodes from the reservation's start on: jobs that run then may have fewer nodes to release
		ep = append(core.EP{{Duration: early, Nodes: nodes}}, ep...)
		from = p.starts
	}
	p.add(p.now, core.EP{{Duration: from - p.now, Nodes: use}})
	p.add(from, ep)
}

// add adds nodes to the view until the next pass.
func (p *pass) add(from core.Time, ep core.EP) {
	for _, step := range ep {
		p.view.Change(from, from+step.Duration, step.Nodes)
		p.undo = append(p.undo, stretch{from, from + step.Duration, step.Nodes})
		from += step.Duration
	}
}

// spare returns the number of nodes that a job can still release.
func (p *pass) spare(r *run) int {
	if !r.lends || p.now < r.settled || p.now >= r.end {
		return 0
	}
	size := r.size
	if r.target > 0 {
		size = min(size, r.target)
	}
	return size - min(r.size, r.Min)
}

// gives returns when the nodes that the job releases at its next point are free.
func (r *run) gives(now core.Time) core.Time { return max(r.next, now, r.settled) + r.Cost }

// claim sets targets so that n nodes are released by an instant. The jobs with the most spare nodes come first.
// If two have the same number, the one that started first comes first. If all jobs together have fewer spare
// nodes, claim changes nothing and returns false.
func (p *pass) claim(n int, by core.Time) bool {
	type offer struct {
		*run
		spare int
	}
	var offers []offer
	total := 0
	for _, r := range p.heard {
		if spare := p.spare(r); spare > 0 && r.gives(p.now) <= by && by < r.end {
			offers = append(offers, offer{r, spare})
			total += spare
		}
	}
	if total < n {
		return false
	}
	slices.SortStableFunc(offers, func(a, b offer) int { return cmp.Compare(b.spare, a.spare) })
	used, left := 0, n
	for _, o := range offers {
		if left <= 0 {
			break
		}
		if p.mayShrink(o.run) {
			offers[used] = o
			used++
			left -= o.spare
		}
	}
	if left > 0 {
		return false
	}
	for _, o := range offers[:used] {
		taken := min(n, o.spare)
		size := o.size
		if o.target > 0 {
			size = min(size, o.target)
		}
		o.target = size - taken
		n -= taken
	}
	return true
}

// mayShrink reports whether all promises still fit if a job shrinks to its minimum at its next point.
func (p *pass) mayShrink(r *run) bool {
	if !p.promises {
		return true
	}
	if r.judged != p.begun {
		r.judged, r.shrinks = p.begun, p.keeps(r, min(r.size, r.Min), max(r.next, p.now))
	}
	return r.shrinks
}

// grow sets the targets of jobs that have none, so that they grow into the remaining nodes. Jobs that are farthest below their reference come
// first. All grow up to their references before any grows up to its maximum.
func (p *pass) grow() {
	room := p.left - keepPercent*p.machine.Nodes/100
	if p.waits && p.starts < p.now+2*p.horizon {
		room = min(room, p.leastFree(p.starts, p.starts+1))
	}
	if p.promises {
		room = min(room, p.leastFree(p.now, p.now+2*p.horizon))
	}
	if room <= 0 {
		return
	}
	var all []*run
	for _, r := range p.heard {
		if r.target == 0 && p.now >= r.settled && p.now < r.end && r.size < p.most(r) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *run) int {
		return cmp.Compare(a.size*b.reference.Nodes, b.size*a.reference.Nodes)
	})
	for _, toMax := range []bool{false, true} {
		for _, r := range all {
			to := min(r.reference.Nodes, r.Max)
			if toMax {
				to = p.most(r)
			}
			size := max(r.size, r.target)
			plus := min(to-size, room)
			if plus <= 0 || !p.keeps(r, size+plus, max(r.next, p.now)) || size+plus < to && plus < (r.size+grain-1)/grain {
				continue
			}
			r.target = size + plus
			room -= plus
		}
	}
}

// most returns the largest size of a job.
func (p *pass) most(r *run) int {
	most := min(r.Max, p.machine.Nodes)
	if p.policy.ToReference {
		most = min(most, r.reference.Nodes)
	}
	return most
}
