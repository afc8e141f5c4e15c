package easy_test

import (
	"cmp"
	"math"
	"slices"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// plain is a second implementation of every policy of this package, by its documentation. It remembers only which
// jobs run, wait and have aged, and checks every size and every time.
type plain struct {
	policy  any // EASY, Traditional or CirneBerman
	nodes   int
	running []core.Allocation
	foreign map[core.JobID]bool // the running jobs that the planner did not start
	asked   map[core.JobID]core.Job
	waiting []*plainJob
	came    int
}

type plainJob struct {
	core.Job
	came      int
	least     int       // the fewest nodes that the job may get
	aged      core.Time // how many times the job has aged; also whether its patience has ended
	impatient bool
	queued    bool // the job has been in the queue; a clock set back does not remove it
}

func newPlain(policy any, nodes int) *plain {
	return &plain{policy: policy, nodes: nodes, foreign: map[core.JobID]bool{}, asked: map[core.JobID]core.Job{}}
}

func (p *plain) order() easy.Order {
	switch policy := p.policy.(type) {
	case easy.EASY:
		return policy.Order
	case easy.Traditional:
		return policy.Order
	}
	return p.policy.(easy.CirneBerman).Order
}

// sized has the nodes and the duration of a choice, and its index.
type sized struct {
	nodes, choice int
	seconds       core.Time
}

// list returns the choices on which a job may start at all: the shortest for each number of nodes, without
// choices that last longer than a choice with fewer nodes.
func list(j core.Job) (all []sized) {
	for i, ep := range j.Choices {
		if len(ep) > 1 {
			return []sized{{j.Choices[0].Peak(), 0, j.Choices[0].Total()}}
		}
		worse := ep[0].Nodes < 1 && len(j.Choices) > 1
		for k, other := range j.Choices {
			o := other[0]
			worse = worse || len(other) == 1 && o.Nodes > 0 && (o.Nodes < ep[0].Nodes && o.Duration < ep[0].Duration ||
				o.Nodes == ep[0].Nodes && (o.Duration < ep[0].Duration || o.Duration == ep[0].Duration && k < i))
		}
		if !worse {
			all = append(all, sized{ep[0].Nodes, i, ep[0].Duration})
		}
	}
	slices.SortFunc(all, func(a, b sized) int { return a.nodes - b.nodes })
	return all
}

// reference returns a job's reference.
func reference(j core.Job) sized {
	best := list(j)[0]
	for _, s := range list(j) {
		if float64(s.nodes)*float64(s.seconds)*float64(s.seconds) < float64(best.nodes)*float64(best.seconds)*float64(best.seconds) {
			best = s
		}
	}
	return best
}

// wants reports whether a job waits for nodes.
func (p *plain) wants(now core.Time, w *plainJob) bool {
	return (w.queued || w.Begin <= now) && list(w.Job)[0].nodes <= p.nodes
}

func (p *plain) submit(now core.Time, j core.Job) {
	w := &plainJob{Job: j, came: p.came}
	p.came++
	p.asked[j.ID] = j
	p.waiting = append(p.waiting, w)
	switch policy := p.policy.(type) {
	case easy.Traditional:
		w.fix(list(j)[0])
		if fits := slices.DeleteFunc(list(j), func(s sized) bool { return s.nodes > min(p.nodes, reference(j).nodes) }); len(fits) > 0 {
			w.fix(fits[len(fits)-1])
		}
	case easy.CirneBerman:
		p.simulate(now, w, policy.Top)
	}
}

// fix leaves a job only one size. The job's class, which is in p.asked, does not change.
func (w *plainJob) fix(s sized) { w.Choices = []core.EP{{{Duration: s.seconds, Nodes: s.nodes}}} }

// simulate simulates every size of a job until it starts.
func (p *plain) simulate(now core.Time, w *plainJob, top easy.Top) {
	var best *sized
	end := core.Forever
	for _, s := range list(w.Job) {
		if top == easy.ToReference && s.nodes > reference(w.Job).nodes || s.nodes > p.nodes {
			continue
		}
		if at := p.whatIf(now, w, s); at < core.Forever && (best == nil || at+s.seconds < end) {
			best, end = &s, at+s.seconds
		}
	}
	switch {
	case best != nil:
		w.fix(*best)
	default: // the job never starts: it gets the smallest size that fits the machine, or the smallest listed size
		w.fix(list(w.Job)[0])
	}
}

// whatIf returns when a job starts on a size if no other job is submitted, or Forever.
func (p *plain) whatIf(now core.Time, w *plainJob, s sized) core.Time {
	q := newPlain(easy.Traditional{Order: p.order()}, p.nodes)
	q.asked = p.asked
	for _, a := range p.holds(now) {
		if len(a.EP) > 1 || a.Start > now { // a foreign job counts as its peak, from now on
			a.Start, a.EP = now, core.EP{{Duration: a.End() - now, Nodes: a.EP.Peak()}}
		}
		if a.End() > now {
			q.running = append(q.running, a)
		}
	}
	for _, other := range p.waiting {
		twin := *other
		if other == w {
			twin.fix(s)
			twin.queued = true
		} else if !p.wants(now, other) {
			continue
		}
		q.waiting = append(q.waiting, &twin)
	}
	for {
		for _, id := range q.starts(now) {
			if id.Job == w.ID {
				return now
			}
		}
		next := core.Forever
		for _, a := range q.running {
			if a.End() > now {
				next = min(next, a.End())
			}
		}
		if next == core.Forever {
			return next
		}
		now = next
		q.running = slices.DeleteFunc(q.running, func(a core.Allocation) bool { return a.End() <= now })
	}
}

func (p *plain) tell(now core.Time, a core.Allocation) {
	p.end(now, a.Job)
	p.running = append(p.running, a)
	p.foreign[a.Job] = true
}

func (p *plain) end(_ core.Time, id core.JobID) {
	p.running = slices.DeleteFunc(p.running, func(a core.Allocation) bool { return a.Job == id })
	p.waiting = slices.DeleteFunc(p.waiting, func(w *plainJob) bool { return w.ID == id })
}

func (p *plain) resize(nodes int) {
	p.nodes = nodes
	for _, w := range p.waiting {
		w.queued = false
	}
}

// free reports whether the nodes are free from one time to another, by requested times.
func (p *plain) free(taken []core.Allocation, now core.Time, nodes int, from, to core.Time) bool {
	used := func(t core.Time) int {
		n := 0
		for _, a := range taken {
			if a.End() > now {
				n += a.EP.At(t - a.Start)
			}
		}
		return n
	}
	for _, t := range append(instants(taken, from), from) {
		if t >= from && t < to && used(t)+nodes > p.nodes {
			return false
		}
	}
	return true
}

// holds returns the running jobs. A job that has started holds its nodes until its end, even if the clock is set back
// to before its start.
func (p *plain) holds(now core.Time) []core.Allocation {
	all := slices.Clone(p.running)
	for i, a := range all {
		if len(a.EP) == 1 && (!p.foreign[a.Job] || p.began(a)) && a.Start > now {
			all[i].Start, all[i].EP = now, core.EP{{Duration: a.End() - now, Nodes: a.EP[0].Nodes}}
		}
	}
	return all
}

// instants returns the times from a time on at which something changes.
func instants(taken []core.Allocation, from core.Time) []core.Time {
	all := []core.Time{from}
	for _, a := range taken {
		t := a.Start
		all = append(all, t)
		for _, step := range a.EP {
			t += step.Duration
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(all, func(t core.Time) bool { return t < from })
}

// place returns the size that completes earliest, and its start. If several complete then, it returns the one
// with the fewest nodes.
func (p *plain) place(taken []core.Allocation, now, from core.Time, sizes []sized) (best sized, at core.Time) {
	at = core.Forever
	for _, s := range sizes {
		for _, t := range instants(taken, from) {
			if p.free(taken, now, s.nodes, t, t+s.seconds) {
				if at == core.Forever || t+s.seconds < at+best.seconds {
					best, at = s, t
				}
				break
			}
		}
	}
	return best, at
}

// world returns the information on which a sizing rule decides.
func (p *plain) world(now core.Time) *sizing.World {
	w := &sizing.World{Now: now, Machine: p.nodes}
	for _, a := range p.running {
		held := a.EP.At(now - a.Start)
		if len(a.EP) == 1 && (!p.foreign[a.Job] || p.began(a)) {
			held = a.EP[0].Nodes
		}
		if held == 0 {
			continue
		}
		n := held
		if j, known := p.asked[a.Job]; known && len(a.EP) == 1 {
			n = reference(j).nodes
		}
		w.Held, w.Jobs, w.References = w.Held+int64(held), w.Jobs+1, w.References+int64(n)
		w.Running = append(w.Running, sizing.Holding{Nodes: held, End: a.End()})
	}
	for _, j := range p.waiting {
		if p.wants(now, j) {
			n := int64(reference(p.asked[j.ID]).nodes)
			w.Wanted, w.Jobs, w.References = w.Wanted+n, w.Jobs+1, w.References+n
		}
	}
	return w
}

// began reports whether a job has begun. In these stories a foreign job of one step has begun when it is reported, or
// begins later.
func (p *plain) began(a core.Allocation) bool { return a.Job > -100 }

// may returns the sizes that a job may have with a factor.
func (p *plain) may(w *plainJob, factor float64) (all []sized) {
	floor := 0
	if policy, sizes := p.policy.(easy.EASY); sizes && policy.Floor == sizing.HalfReference {
		floor = (reference(w.Job).nodes + 1) / 2
	}
	listed := slices.DeleteFunc(list(w.Job), func(s sized) bool { return s.nodes > p.nodes })
	allowed := slices.DeleteFunc(slices.Clone(listed), func(s sized) bool { return s.nodes < floor })
	if len(allowed) == 0 {
		return listed[len(listed)-1:]
	}
	target := factor * float64(reference(w.Job).nodes)
	switch policy, _ := p.policy.(easy.EASY); policy.Rounding {
	case sizing.HalfUp:
		target = math.Floor(target + .5)
	case sizing.Down:
		target = math.Floor(target)
	case sizing.Up:
		target = math.Ceil(target)
	}
	for i, s := range allowed {
		if i == 0 || float64(s.nodes) <= target || s.nodes <= w.least {
			all = append(all, s)
		}
	}
	return slices.DeleteFunc(all, func(s sized) bool { return s.nodes < min(w.least, allowed[len(allowed)-1].nodes) })
}

// factor returns the sizing rule's factor for a job.
func (p *plain) factor(now core.Time, w *plainJob) float64 {
	policy, sizes := p.policy.(easy.EASY)
	if !sizes {
		return 1
	}
	world := p.world(now)
	n := float64(reference(w.Job).nodes)
	switch s := policy.Sizing.(type) {
	case sizing.Share:
		if world.Held+world.Wanted == 0 {
			return math.Inf(1)
		}
		part := float64(p.nodes) / float64(world.Held+world.Wanted)
		return math.Min(part*math.Sqrt(float64(world.References)/float64(world.Jobs)/(2*n)), math.Max(1, part/3))
	case sizing.Load:
		var own *sizing.Sizes
		for _, j := range p.waiting {
			if p.wants(now, j) {
				sizes := sizing.New(p.asked[j.ID], policy.Floor)
				if world.Waiting = append(world.Waiting, sizes); j == w {
					own = sizes
				}
			}
		}
		if own == nil { // the job begins later
			own = sizing.New(p.asked[w.ID], policy.Floor)
		}
		return s.Factor(world, own)
	case sizing.Least:
		return 0
	case sizing.Earliest:
		return math.Inf(1)
	}
	return 1
}

// queue returns the waiting jobs in order, after the jobs that age now have aged.
func (p *plain) queue(now core.Time) (all []*plainJob) {
	o := p.order()
	for _, w := range p.waiting {
		if !p.wants(now, w) {
			continue
		}
		w.queued = true
		since, t := max(w.Submit, w.Begin), reference(p.asked[w.ID]).seconds
		w.impatient = w.impatient || o.Patience > 0 && now >= since+o.Patience
		if o.By != easy.FirstCome && o.Aging != easy.Ageless && t >= 60 {
			most := core.Time(1)
			if o.Aging == easy.Again && t >= 3600 {
				most = 2
			}
			w.aged = max(w.aged, min((now-since)/(5*t), most))
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *plainJob) int {
		return cmp.Or(slices.Compare(p.rank(a), p.rank(b)), a.came-b.came)
	})
	return all
}

// rank returns the rank of a job, as numbers to compare in order.
func (p *plain) rank(w *plainJob) []core.Time {
	o, r := p.order(), reference(p.asked[w.ID])
	class := core.Time(sizing.ClassOf(r.seconds))
	switch since := max(w.Submit, w.Begin); {
	case w.impatient:
		return []core.Time{-1, since + o.Patience, 0, w.Submit}
	case o.By == easy.FirstCome:
		return nil
	case w.aged > 0 && o.Aging == easy.ToTop:
		class = 0
	default:
		class -= w.aged
	}
	switch {
	case o.By == easy.Class:
		return []core.Time{class, 0, 0, w.Submit}
	case w.aged > 0:
		return []core.Time{class, 0, max(w.Submit, w.Begin) + 5*w.aged*r.seconds, w.Submit}
	}
	return []core.Time{class, 1, r.seconds * core.Time(r.nodes), w.Submit}
}

// starts returns what starts now.
func (p *plain) starts(now core.Time) (all []core.Start) {
	filling, remembers := sizing.AtTarget, false
	if policy, sizes := p.policy.(easy.EASY); sizes {
		filling, remembers = policy.Sizing.Filling(), policy.Remembers
	}
	var reserved []core.Allocation
	var factor float64 // the factor of the head
	for _, w := range p.queue(now) {
		taken := append(p.holds(now), reserved...)
		if !p.free(p.holds(now), now, 1, now, now+1) {
			break
		}
		var size sized
		at := core.Forever
		switch {
		case reserved == nil:
			factor = p.factor(now, w)
			size, at = p.place(taken, now, now, p.may(w, factor))
			if at > now {
				reserved = []core.Allocation{}
				if at < core.Forever {
					reserved = append(reserved, core.Allocation{Start: at, EP: core.EP{{Duration: size.seconds, Nodes: size.nodes}}})
					if remembers {
						w.least = max(w.least, size.nodes)
					}
				}
			}
		default:
			own := factor
			if filling != sizing.AsHead {
				own = p.factor(now, w)
			}
			sizes := p.may(w, own)
			if filling != sizing.UpTo {
				sizes = sizes[len(sizes)-1:]
			}
			for _, s := range sizes {
				if p.free(taken, now, s.nodes, now, now+s.seconds) {
					size, at = s, now
				}
			}
		}
		if at == now {
			all = append(all, core.Start{Job: w.ID, Choice: p.choice(w, size), Nodes: size.nodes, Begins: true})
			p.running = append(p.running, core.Allocation{Job: w.ID, Start: now, EP: core.EP{{Duration: size.seconds, Nodes: size.nodes}}})
			p.waiting = slices.DeleteFunc(p.waiting, func(other *plainJob) bool { return other == w })
		}
	}
	return all
}

// choice returns the index of a size in the user's list.
func (p *plain) choice(w *plainJob, s sized) int {
	for _, listed := range list(p.asked[w.ID]) {
		if listed.nodes == s.nodes {
			return listed.choice
		}
	}
	return -1
}

// plan returns the places of all jobs.
func (p *plain) plan(now core.Time) (all []core.Planned) {
	q := *p
	q.running, q.waiting = slices.Clone(p.running), nil
	for _, w := range p.waiting {
		twin := *w
		q.waiting = append(q.waiting, &twin)
	}
	for _, s := range q.starts(now) {
		a := q.running[slices.IndexFunc(q.running, func(a core.Allocation) bool { return a.Job == s.Job })]
		all = append(all, core.Planned{Allocation: a, Choice: s.Choice})
	}
	queue := q.queue(now)
	for _, w := range q.waiting {
		if !slices.Contains(queue, w) && list(w.Job)[0].nodes <= q.nodes {
			queue = append(queue, w)
		}
	}
	filling := sizing.AtTarget
	if policy, sizes := p.policy.(easy.EASY); sizes {
		filling = policy.Sizing.Filling()
	}
	taken := q.holds(now)
	factor := math.NaN()
	for _, w := range queue {
		if math.IsNaN(factor) || filling != sizing.AsHead {
			factor = q.factor(now, w)
		}
		from := now
		if !w.queued {
			from = max(now, w.Begin)
		}
		size, at := q.place(taken, now, from, q.may(w, factor))
		if at == core.Forever {
			continue
		}
		a := core.Allocation{Job: w.ID, Start: at, EP: core.EP{{Duration: size.seconds, Nodes: size.nodes}}}
		taken = append(taken, a)
		all = append(all, core.Planned{Allocation: a, Choice: q.choice(w, size)})
	}
	return all
}
