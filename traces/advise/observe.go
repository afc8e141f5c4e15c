package advise

import (
	"cmp"
	"slices"

	"accordion/core"
)

// stretch is a period in which a job uses the same number of nodes.
type stretch struct {
	from, to core.Time
	nodes    int
}

func (s stretch) length() core.Time { return s.to - s.from }
func (s stretch) area() int64       { return s.length() * int64(s.nodes) }

// watcher computes which nodes jobs used. It reuses its memory for the next job.
type watcher struct {
	running []int32 // running steps per node; all 0 between calls
	events  []event
}

// event is the start or the end of a step.
type event struct {
	at   core.Time
	more int32 // change of running steps: 1 or −1
	step int
}

// observed returns how many nodes a job used in each second: the nodes of its running steps, and the node of
// its script. Between two steps the larger of the sizes before and after counts, because the job could not have
// released nodes and got them back in that time. Before the first step and after the last step only the
// script's node counts. observed returns nil if the job has no steps.
func (w *watcher) observed(r *Run) []stretch {
	if len(r.Steps) == 0 || r.End <= r.Start {
		return nil
	}
	w.events = w.events[:0]
	for i := range r.Steps {
		from, to := r.within(&r.Steps[i])
		w.events = append(w.events, event{from, 1, i}, event{to, -1, i})
	}
	slices.SortFunc(w.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more), cmp.Compare(a.step, b.step))
	})
	return fillGaps(w.sweep(r))
}

// within returns the part of a step that is within the job's time. A step that ended in the second in which it started, or that is outside
// of the job's time, gets one second, because it did use its nodes.
func (r *Run) within(s *Step) (from, to core.Time) {
	from = min(max(s.From, r.Start), r.End-1)
	return from, min(max(s.To, from+1), r.End)
}

// sweep returns the stretches between events. Stretches without running steps have 0 nodes.
func (w *watcher) sweep(r *Run) []stretch {
	var all []stretch
	used, steps := 0, 0
	mark := func(node int32, more int32) {
		for int(node) >= len(w.running) {
			w.running = append(w.running, 0)
		}
		before := w.running[node]
		w.running[node] += more
		if before == 0 {
			used++
		} else if w.running[node] == 0 {
			used--
		}
	}
	if r.Script >= 0 {
		mark(r.Script, 1)
		defer mark(r.Script, -1)
	}
	at := r.Start
	until := func(to core.Time) {
		nodes := 0
		if steps > 0 {
			nodes = max(used, 1)
		}
		if to > at {
			all = lengthen(all, stretch{at, to, nodes})
			at = to
		}
	}
	for _, e := range w.events {
		until(e.at)
		steps += int(e.more)
		for _, node := range r.Steps[e.step].Nodes {
			mark(node, e.more)
		}
	}
	until(r.End)
	return all
}

// fillGaps sets the nodes of stretches without running steps.
func fillGaps(all []stretch) []stretch {
	var out []stretch
	for i, s := range all {
		if s.nodes == 0 {
			s.nodes = 1
			if i > 0 && i+1 < len(all) {
				s.nodes = max(all[i-1].nodes, all[i+1].nodes)
			}
		}
		out = lengthen(out, s)
	}
	return out
}

// lengthen appends a stretch, or lengthens the last one if that has the same number of nodes.
func lengthen(all []stretch, s stretch) []stretch {
	if last := len(all) - 1; last >= 0 && all[last].nodes == s.nodes {
		all[last].to = s.to
		return all
	}
	return append(all, s)
}

// profile returns stretches as a profile.
func profile(all []stretch) core.EP {
	ep := make(core.EP, len(all))
	for i, s := range all {
		ep[i] = core.Step{Duration: s.length(), Nodes: s.nodes}
	}
	return ep
}

func area(all []stretch) (sum int64) {
	for _, s := range all {
		sum += s.area()
	}
	return sum
}
