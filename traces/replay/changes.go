package replay

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
)

// change is one job's number of nodes from one second on.
type change struct {
	at    core.Time
	job   int32
	nodes int  // from at on; 0: it ends, or holds none for a while
	grow  bool // it takes nodes
}

// changes are those of all jobs: by time, what frees nodes before what takes some, then in the order of the workload.
func changes(w Workload, r Result) []change {
	all := make([]change, 0, 2*len(w.Jobs))
	for i, o := range r.Outcomes {
		if o.Start < 0 {
			continue
		}
		job := int32(i)
		if o.Held == nil {
			all = append(all, change{o.Start, job, o.Nodes(&w.Jobs[i]), true}, change{o.End, job, 0, false})
			continue
		}
		at, had := o.Start, 0
		for _, s := range o.Held {
			if s.Nodes != had && s.Duration > 0 {
				all = append(all, change{at, job, s.Nodes, s.Nodes > had})
				had = s.Nodes
			}
			at += s.Duration
		}
		if had > 0 {
			all = append(all, change{o.End, job, 0, false})
		}
	}
	return sortChanges(all)
}

// sortChanges sorts by (at, grow, job). Where time and position fit in a word, as in every log of a few decades, words are
// sorted: that takes a third of the time.
func sortChanges(all []change) []change {
	if len(all) == 0 {
		return all
	}
	first, last := all[0].at, all[0].at
	for _, c := range all {
		first, last = min(first, c.at), max(last, c.at)
	}
	place := bits.Len(uint(len(all) - 1))
	if bits.Len64(uint64(last-first))+1+place > 64 {
		slices.SortStableFunc(all, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.at, b.at), compareBool(a.grow, b.grow))
		})
		return all
	}
	keys := make([]uint64, len(all))
	for i, c := range all {
		keys[i] = uint64(c.at-first)<<(1+place) | uint64(i)
		if c.grow {
			keys[i] |= 1 << place
		}
	}
	slices.Sort(keys)
	inOrder := make([]change, len(all))
	for i, k := range keys {
		inOrder[i] = all[k&(1<<place-1)]
	}
	return inOrder
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
