package replay

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// Span is consecutive node numbers, First and Last included.
type Span struct{ First, Last int32 }

// Nodes is a set of nodes: spans in ascending order that neither overlap nor touch.
type Nodes []Span

// Count returns the number of nodes.
func (n Nodes) Count() int {
	sum := 0
	for _, s := range n {
		sum += int(s.Last-s.First) + 1
	}
	return sum
}

// String returns the set in the form of Batsim, which evalys reads: "0-3 7".
func (n Nodes) String() string { return string(n.Append(nil)) }

// Append appends the form of String.
func (n Nodes) Append(text []byte) []byte {
	for i, s := range n {
		if i > 0 {
			text = append(text, ' ')
		}
		text = appendInt(text, int64(s.First))
		if s.Last > s.First {
			text = appendInt(append(text, '-'), int64(s.Last))
		}
	}
	return text
}

// Stretch is a period in which an evolving job held the same nodes.
type Stretch struct {
	From, To core.Time
	Nodes    Nodes
}

// Placement is the nodes that each job of a replay held. A job gets the lowest free nodes when it begins or
// grows. When it shrinks it frees the nodes that it got last, so that it keeps its first nodes until its end.
// In each second, the jobs that end or shrink free their nodes first. Then the jobs that begin or grow take
// nodes, in the order of the workload.
type Placement struct {
	spans   arena
	fixed   []stored          // per job: the nodes of a job with one size throughout
	evolved map[int][]Stretch // stretches of the jobs whose size changed
}

// Place assigns nodes to every job of a result. It returns an error if jobs together hold more nodes than the machine has, which no result of
// Run does.
func Place(w workload.Workload, r Result) (*Placement, error) {
	p := newPlacer(w, r.Outcomes)
	for _, job := range byStart(r.Outcomes) {
		p.begin(job)
	}
	return p.placed()
}

func overbooked(w workload.Workload, c change, free int) error {
	return fmt.Errorf("place job %d at second %d: it holds %d nodes from then on, and only %d of %d are free", w.Jobs[c.job].Number, c.at, c.nodes, free, w.Machine.Nodes)
}

// resized records that an evolving job holds other nodes from a second on.
func (p *Placement) resized(job int, at core.Time, spans []Span) {
	steps := p.evolved[job]
	if last := len(steps) - 1; last >= 0 && steps[last].To == steps[last].From {
		steps[last].To = at
	}
	if len(spans) > 0 {
		steps = append(steps, Stretch{From: at, To: at, Nodes: sorted(spans)}) // To is set at the next change
	}
	p.evolved[job] = steps
}

// Job returns every node that a job ever held, or nil if the job never began. The caller must not change it.
func (p *Placement) Job(i int) Nodes {
	steps, evolved := p.evolved[i]
	if !evolved {
		return p.spans.at(p.fixed[i])
	}
	var all []Span
	for _, s := range steps {
		all = append(all, s.Nodes...)
	}
	return sorted(all)
}

// Steps returns the stretches of a job in which it held the same nodes, in order. A job with one size has one stretch, and a job that never
// began has none.
func (p *Placement) Steps(i int, r Result) []Stretch {
	if steps, evolved := p.evolved[i]; evolved {
		return steps
	}
	if o := r.Outcomes[i]; o.Start >= 0 {
		return []Stretch{{From: o.Start, To: o.End, Nodes: p.spans.at(p.fixed[i])}}
	}
	return nil
}

// sorted returns spans as a set.
func sorted(spans []Span) Nodes {
	set := slices.Clone(spans)
	slices.SortFunc(set, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	joined := set[:0]
	for _, s := range set {
		if last := len(joined) - 1; last >= 0 && s.First <= joined[last].Last+1 {
			joined[last].Last = max(joined[last].Last, s.Last)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}
