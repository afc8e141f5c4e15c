package replay

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// change is one job's number of nodes from one second on.
type change struct {
	at    core.Time
	job   int32
	nodes int32 // from at on; 0: it ends, or holds none for a while
	grow  bool  // it takes nodes
}

// changes are those of all jobs, each job's by time.
func changes(w workload.Workload, r Result) []change {
	n := 0
	for _, o := range r.Outcomes {
		n += max(2, len(o.Held)+1)
	}
	all := make([]change, 0, n)
	for i, o := range r.Outcomes {
		if o.Start < 0 {
			continue
		}
		job := int32(i)
		if o.Held == nil {
			all = append(all, change{o.Start, job, int32(o.Nodes(&w.Jobs[i])), true}, change{o.End, job, 0, false})
			continue
		}
		at, had := o.Start, 0
		for _, s := range o.Held {
			if s.Nodes != had && s.Duration > 0 {
				all = append(all, change{at, job, int32(s.Nodes), s.Nodes > had})
				had = s.Nodes
			}
			at += s.Duration
		}
		if had > 0 {
			all = append(all, change{o.End, job, 0, false})
		}
	}
	return all
}

// inOrder gives changes by time, what frees nodes before what takes some, then in the order in which they stand. Where time and
// place fit in a word, as in every log of a few decades, words are sorted: that takes a third of the time, and a fourth
// of the memory.
func inOrder(all []change) iter.Seq[change] {
	if len(all) == 0 {
		return slices.Values(all)
	}
	first, last := all[0].at, all[0].at
	for _, c := range all {
		first, last = min(first, c.at), max(last, c.at)
	}
	place := bits.Len(uint(len(all) - 1))
	if bits.Len64(uint64(last-first))+1+place > 64 {
		slices.SortStableFunc(all, func(a, b change) int {
			switch {
			case a.at != b.at || a.grow == b.grow:
				return cmp.Compare(a.at, b.at)
			case b.grow:
				return -1
			}
			return 1
		})
		return slices.Values(all)
	}
	keys := make([]uint64, len(all))
	for i, c := range all {
		keys[i] = uint64(c.at-first)<<(1+place) | uint64(i)
		if c.grow {
			keys[i] |= 1 << place
		}
	}
	slices.Sort(keys)
	return func(yield func(change) bool) {
		for _, k := range keys {
			if !yield(all[k&(1<<place-1)]) {
				return
			}
		}
	}
}
