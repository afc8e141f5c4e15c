package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// plain is the simple second implementation: a sorted list of change points without an index. Tests compare
// every result of a Profile with the result of plain, and benchmarks compare their times.
//
// Invariant: `at` and `used` have the same length, at least 1; `at` increases strictly from -Forever; neighbors
// in `used` differ. From at[i] to at[i+1] (after the last: forever) used[i] nodes are used.
type plain struct {
	nodes int
	at    []core.Time
	used  []int
}

// newPlain returns the profile of an idle machine.
func newPlain(nodes int) *plain {
	return &plain{nodes: max(nodes, 0), at: []core.Time{-core.Forever}, used: []int{0}}
}

// Nodes returns the machine's size.
func (p *plain) Nodes() int { return p.nodes }

// Clone returns an independent copy.
func (p *plain) Clone() *plain {
	return &plain{nodes: p.nodes, at: slices.Clone(p.at), used: slices.Clone(p.used)}
}

// CopyFrom makes p an independent copy of q in p's own memory. In a loop it allocates nothing.
func (p *plain) CopyFrom(q *plain) {
	p.nodes, p.at, p.used = q.nodes, append(p.at[:0], q.at...), append(p.used[:0], q.used...)
}

// Add occupies the profile's nodes from start on. A step of 0 nodes occupies nothing. A step that lasts Forever has
// no end.
func (p *plain) Add(start core.Time, ep core.EP) {
	for _, s := range ep {
		end := list.Later(start, s.Duration)
		p.shift(start, end, s.Nodes)
		start = end
	}
}

// Remove releases what Add(start, ep) occupied.
func (p *plain) Remove(start core.Time, ep core.EP) {
	for _, s := range ep {
		end := list.Later(start, s.Duration)
		p.shift(start, end, -s.Nodes)
		start = end
	}
}

// Mirror returns the occupation in [from, to) with time reversed: what is used at t is used at -t-1 in the result,
// which is idle elsewhere. The compacting pass of CoreGRID 2011, section 4.2, works on it.
func (p *plain) Mirror(from, to core.Time) *plain {
	q := newPlain(p.nodes)
	if from >= to {
		return q
	}
	first, last := p.index(from), p.index(to-1)
	for i := last; i >= first; i-- {
		q.set(-min(to, p.endOf(i)), p.used[i])
	}
	q.set(-from, 0)
	return q
}

// set appends a change point behind all others.
func (p *plain) set(t core.Time, used int) {
	if last := len(p.at) - 1; p.used[last] != used {
		if p.at[last] == t {
			p.used[last] = used
			return
		}
		p.at, p.used = append(p.at, t), append(p.used, used)
	}
}

// shift adds n to the nodes used in [from, to).
func (p *plain) shift(from, to core.Time, n int) {
	from = max(from, -core.Forever)
	if n == 0 || from >= to {
		return
	}
	first := p.split(from)
	end := len(p.at)
	if to < core.Forever {
		end = p.split(to)
	}
	for i := first; i < end; i++ {
		p.used[i] += n
	}
	// Neighbors can have become equal only at the two ends.
	if end < len(p.at) {
		p.join(end)
	}
	p.join(first)
}

// split makes t a change point without changing the function, and returns its index.
func (p *plain) split(t core.Time) int {
	i := p.index(t)
	if p.at[i] == t {
		return i
	}
	p.at = slices.Insert(p.at, i+1, t)
	p.used = slices.Insert(p.used, i+1, p.used[i])
	return i + 1
}

// join removes change point i if nothing changes there.
func (p *plain) join(i int) {
	if i > 0 && p.used[i-1] == p.used[i] {
		p.at = slices.Delete(p.at, i, i+1)
		p.used = slices.Delete(p.used, i, i+1)
	}
}

// index returns the last change point at or before t, or the first one if there is none.
func (p *plain) index(t core.Time) int {
	low, high := 0, len(p.at) // at[low] <= t, or low is 0; at[high] > t
	for high-low > 1 {
		if middle := int(uint(low+high) >> 1); p.at[middle] <= t {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// endOf returns the end of the stretch of change point i.
func (p *plain) endOf(i int) core.Time {
	if i+1 < len(p.at) {
		return p.at[i+1]
	}
	return core.Forever
}

// At returns the number of nodes used at a time: ep(t) in the paper.
func (p *plain) At(t core.Time) int { return p.used[p.index(t)] }

// Free returns the number of nodes free at a time, or 0 if more nodes are used than the machine has.
func (p *plain) Free(t core.Time) int { return max(0, p.nodes-p.At(t)) }

// Max returns the largest number of nodes used in [from, to), or 0 if that is empty: max(ep, t0, t1) in the paper.
func (p *plain) Max(from, to core.Time) int {
	peak, _ := p.peak(from, to)
	return peak
}

// peak returns the maximum of [from, to) and the end of its last step.
func (p *plain) peak(from, to core.Time) (peak int, end core.Time) {
	if from >= to {
		return 0, to
	}
	i := p.index(from)
	peak, end = p.used[i], min(to, p.endOf(i))
	for i++; i < len(p.at) && p.at[i] < to; i++ {
		if p.used[i] >= peak {
			peak, end = p.used[i], min(to, p.endOf(i))
		}
	}
	return peak, end
}

// FirstFit returns the earliest time, at or after `from`, from which n nodes are free for d seconds. d is
// Forever for a need without end. ok is false if there is none. It passes once over the change points after
// `from`.
func (p *plain) FirstFit(n int, d, from core.Time) (start core.Time, ok bool) {
	if n <= 0 {
		return from, true
	}
	start = from
	most := p.nodes - n // the most nodes that may be used
	at, used := p.at, p.used
	used = used[:len(at)] // one bounds check for the loop
	for i := p.index(from); i < len(at); i++ {
		switch {
		case used[i] > most && i+1 == len(at):
			return core.Forever, false
		case used[i] > most:
			start = at[i+1]
		case i+1 < len(at) && at[i+1]-start >= d:
			return start, true
		}
	}
	return start, true
}

// Hole does what FirstFit does, and also returns the end of the hole: the first time after start with fewer than n
// nodes free, or Forever if there is none.
func (p *plain) Hole(n int, d, from core.Time) (start, end core.Time, ok bool) {
	if start, ok = p.FirstFit(n, d, from); !ok {
		return start, start, false
	}
	end, _ = p.FirstBelow(n, start)
	return start, end, true
}

// FirstBelow returns the first time, at or after `from`, with fewer than n nodes free, or Forever and false if
// there is none.
func (p *plain) FirstBelow(n int, from core.Time) (t core.Time, ok bool) {
	most := p.nodes - n
	for i := p.index(from); n > 0 && i < len(p.at); i++ {
		if p.used[i] > most {
			return max(from, p.at[i]), true
		}
	}
	return core.Forever, false
}

// FreeSince returns the time since which n nodes have been free without a break up to t. It returns t if n nodes are not free
// directly before t.
func (p *plain) FreeSince(n int, t core.Time) core.Time {
	since := t
	for i := p.index(t - 1); i >= 0 && (n <= 0 || p.used[i] <= p.nodes-n); i-- {
		since = p.at[i]
	}
	return since
}

// Steps returns the occupation from a time to its last change, as a resource EP, or nil if nothing is used from then
// on. If nodes are never released, the last step lasts to Forever.
func (p *plain) Steps(from core.Time) core.EP {
	var ep core.EP
	for i := p.index(from); i < len(p.at); i++ {
		if i+1 == len(p.at) && p.used[i] == 0 {
			break
		}
		if begin, end := max(from, p.at[i]), p.endOf(i); begin < end {
			ep = append(ep, core.Step{Duration: end - begin, Nodes: p.used[i]})
		}
	}
	return ep
}
