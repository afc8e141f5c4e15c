package replay

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/workload"
)

// placer assigns nodes second by second. It gets jobs in the order in which they begin.
type placer struct {
	workload workload.Workload
	outcomes []Outcome // outcomes of the jobs that began

	placement *Placement
	free      *freeNodes
	holds     map[int32][]Span // nodes of evolving jobs, in the order in which they were taken
	taken     []Span           // reused memory
	err       error            // first error

	now   core.Time
	takes []change    // growths at now, which take nodes after other jobs have freed theirs
	later sched.ByEnd // later changes; the key is twice the second, plus 1 for changes that take nodes, so that they come last
}

func newPlacer(w workload.Workload, outcomes []Outcome) *placer {
	return &placer{
		workload: w, outcomes: outcomes, free: newFreeNodes(w.Machine.Nodes), holds: map[int32][]Span{},
		placement: &Placement{fixed: make([]stored, len(w.Jobs)), evolved: map[int][]Stretch{}},
	}
}

// begin adds a job. It begins in the second of the job before it, or later.
func (p *placer) begin(job int32) {
	o := &p.outcomes[job]
	p.until(o.Start)
	p.now = o.Start
	if o.Held == nil {
		p.takes = append(p.takes, change{o.Start, job, int32(o.Nodes(&p.workload.Jobs[job])), true})
		p.note(change{o.End, job, 0, false})
		return
	}
	at, had := o.Start, 0
	for _, s := range o.Held {
		if s.Nodes != had && s.Duration > 0 {
			p.note(change{at, job, int32(s.Nodes), s.Nodes > had})
			had = s.Nodes
		}
		at += s.Duration
	}
	if had > 0 {
		p.note(change{o.End, job, 0, false})
	}
}

// note adds a change to later.
func (p *placer) note(c change) {
	key := 2 * c.at
	if c.grow {
		key++
	}
	p.later.Add(sched.RunningJob{End: key, ID: core.JobID(c.job), Nodes: int(c.nodes)})
}

// next removes the first change from later.
func (p *placer) next() change {
	last := len(p.later) - 1
	first := p.later[last]
	p.later = p.later[:last]
	return change{first.End / 2, int32(first.ID), int32(first.Nodes), first.End%2 == 1}
}

// until carries out all changes before a second.
func (p *placer) until(end core.Time) {
	for {
		at := p.now
		if len(p.takes) == 0 {
			if len(p.later) == 0 {
				return
			}
			at = p.later[len(p.later)-1].End / 2
		}
		if at >= end {
			return
		}
		p.second(at)
	}
}

// second carries out all changes of the first second that has changes.
func (p *placer) second(at core.Time) {
	for len(p.later) > 0 && p.later[len(p.later)-1].End/2 == at {
		if c := p.next(); c.grow {
			p.takes = append(p.takes, c)
		} else {
			p.change(c)
		}
	}
	slices.SortFunc(p.takes, func(a, b change) int { return cmp.Compare(a.job, b.job) })
	for _, c := range p.takes {
		p.change(c)
	}
	p.takes = p.takes[:0]
}

// placed returns the placement after all jobs have begun.
func (p *placer) placed() (*Placement, error) {
	p.until(math.MaxInt64)
	if p.err != nil {
		return nil, p.err
	}
	return p.placement, nil
}

// change carries out a change.
func (p *placer) change(c change) {
	if p.err != nil {
		return
	}
	var (
		i       = int(c.job)
		evolves = p.outcomes[i].Held != nil
		had     = p.holds[c.job]
		more    = int(c.nodes) - Nodes(had).Count()
	)
	switch {
	case c.grow && more > p.free.count:
		p.err = overbooked(p.workload, c, p.free.count)
	case !evolves && c.grow:
		p.taken = p.free.take(more, p.taken[:0])
		p.placement.fixed[i] = p.placement.spans.store(p.taken)
	case !evolves:
		for _, s := range p.placement.spans.at(p.placement.fixed[i]) {
			p.free.put(s)
		}
	case c.grow:
		p.holds[c.job] = p.free.take(more, had)
		p.placement.resized(i, c.at, p.holds[c.job])
	default:
		p.holds[c.job] = p.free.drop(had, -more)
		p.placement.resized(i, c.at, p.holds[c.job])
	}
}

// change sets the number of nodes of one job.
type change struct {
	at    core.Time
	job   int32
	nodes int32 // the job's nodes from second `at` on; 0 if the job ends, or holds no nodes for a while
	grow  bool  // the job takes nodes
}

// byStart returns the jobs that began, sorted by start and then as in the workload. If start and index fit together into 64 bits, as in every
// log of a few decades, it sorts 64-bit numbers, which takes a third of the time.
func byStart(outcomes []Outcome) []int32 {
	jobs := make([]int32, 0, len(outcomes))
	first, last := core.Forever, -core.Forever
	for i := range outcomes {
		if at := outcomes[i].Start; at >= 0 {
			jobs = append(jobs, int32(i))
			first, last = min(first, at), max(last, at)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	place := bits.Len(uint(len(outcomes) - 1))
	if bits.Len64(uint64(last-first))+place > 64 {
		slices.SortStableFunc(jobs, func(a, b int32) int { return cmp.Compare(outcomes[a].Start, outcomes[b].Start) })
		return jobs
	}
	keys := make([]uint64, len(jobs))
	for k, i := range jobs {
		keys[k] = uint64(outcomes[i].Start-first)<<place | uint64(i)
	}
	slices.Sort(keys)
	for k, key := range keys {
		jobs[k] = int32(key & (1<<place - 1))
	}
	return jobs
}
