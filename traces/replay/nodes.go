package replay

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// Span is nodes with neighboring numbers, First to Last, both included.
type Span struct{ First, Last int32 }

// Nodes is a set of nodes: spans in ascending order that neither overlap nor touch.
type Nodes []Span

// Count is how many nodes there are.
func (n Nodes) Count() int {
	sum := 0
	for _, s := range n {
		sum += int(s.Last-s.First) + 1
	}
	return sum
}

// String writes the set as Batsim does and evalys reads: "0-3 7".
func (n Nodes) String() string { return string(n.Append(nil)) }

// Append appends what String writes.
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

// Stretch is a stretch of time in which an evolving job's nodes stayed the same.
type Stretch struct {
	From, To core.Time
	Nodes    Nodes
}

// Placement says which nodes each job of a replay held. A job is given the lowest free nodes when it begins or grows, and
// frees those that came last when it shrinks, so that it keeps its first ones to its end. What ends or shrinks at a second
// frees its nodes before anything takes some; then jobs take in the order of the workload.
type Placement struct {
	spans   arena
	fixed   []stored          // beside the workload's jobs: the nodes of one with one size throughout
	evolved map[int][]Stretch // of jobs whose size changed
}

// Place gives every job of a result its nodes. It fails when jobs together hold more nodes than the machine has, which
// no result of Run does.
func Place(w workload.Workload, r Result) (*Placement, error) {
	p := newPlacer(w, r.Outcomes)
	for _, job := range byStart(r.Outcomes) {
		p.begin(job)
	}
	return p.placed()
}

func overbooked(w workload.Workload, c change, free int) error {
	return fmt.Errorf("placing job %d at second %d: it holds %d nodes from then on, and only %d of %d are free", w.Jobs[c.job].Number, c.at, c.nodes, free, w.Machine.Nodes)
}

// resized notes that an evolving job holds other nodes from a second on.
func (p *Placement) resized(job int, at core.Time, spans []Span) {
	steps := p.evolved[job]
	if last := len(steps) - 1; last >= 0 && steps[last].To == steps[last].From {
		steps[last].To = at
	}
	if len(spans) > 0 {
		steps = append(steps, Stretch{From: at, To: at, Nodes: sorted(spans)}) // To follows when it changes
	}
	p.evolved[job] = steps
}

// Job is every node that a job held at some time; of one with one size throughout, its nodes. It is empty when the job
// never began. Do not change it.
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

// Steps are the stretches of a job in which its nodes stayed the same, in order: one of a job with one size throughout,
// none of one that never began.
func (p *Placement) Steps(i int, r Result) []Stretch {
	if steps, evolved := p.evolved[i]; evolved {
		return steps
	}
	if o := r.Outcomes[i]; o.Start >= 0 {
		return []Stretch{{From: o.Start, To: o.End, Nodes: p.spans.at(p.fixed[i])}}
	}
	return nil
}

// sorted joins spans into a set.
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
