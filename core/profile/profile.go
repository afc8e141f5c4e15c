// Package profile holds the resource occupation of one machine: a number of used nodes as a function of time
// (the resource EP of Klein & Pérez, CoreGRID 2011, section 3.1, with its helpers max, loc, delay and sum).
//
//	p := profile.New(100)
//	p.Add(0, core.EP{{Duration: 1200, Nodes: 10}, {Duration: 3600, Nodes: 95}})
//	start, ok := p.FirstFit(10, 600, 0)  // 0: ten are free for ten minutes at once
//	start, ok = p.FirstFit(10, 1300, 0)  // 4800: behind the step of 95
//
// It counts nodes and does not know which they are. It is a sorted list of change points: a search is a binary search
// and a sweep, an addition moves what lies behind it. Stretches of time include their begin and exclude their end.
package profile

import (
	"slices"

	"accordion/core"
)

// Profile is the number of used nodes of a machine at every instant. It is not safe for concurrent use.
//
// Invariant: at and used have the same length, at least 1; at increases strictly from -Forever; neighbours in used
// differ. From at[i] to at[i+1] (after the last: for ever) used[i] nodes are used.
type Profile struct {
	nodes int
	at    []core.Time
	used  []int
}

// New is an idle machine of so many nodes.
func New(nodes int) *Profile {
	return &Profile{nodes: max(nodes, 0), at: []core.Time{-core.Forever}, used: []int{0}}
}

// Nodes is the machine's size.
func (p *Profile) Nodes() int { return p.nodes }

// Resize gives the machine another size (nodes came or went); the occupation stays. It may exceed the machine then:
// nothing is free there.
func (p *Profile) Resize(nodes int) { p.nodes = max(nodes, 0) }

// Clone is an independent copy.
func (p *Profile) Clone() *Profile {
	return &Profile{nodes: p.nodes, at: slices.Clone(p.at), used: slices.Clone(p.used)}
}

// Snapshot is an independent copy for what-if planning: what is done to the one is not seen in the other.
func (p *Profile) Snapshot() *Profile { return p.Clone() }

// CopyFrom makes p an independent copy of q in p's own memory: a Clone that costs no allocation in a loop.
func (p *Profile) CopyFrom(q *Profile) {
	p.nodes, p.at, p.used = q.nodes, append(p.at[:0], q.at...), append(p.used[:0], q.used...)
}

// Add occupies the profile's nodes from start on. Steps of 0 nodes pass time. A step that lasts Forever has no end.
func (p *Profile) Add(start core.Time, ep core.EP) {
	for _, s := range ep {
		end := later(start, s.Duration)
		p.shift(start, end, s.Nodes)
		start = end
	}
}

// Remove takes back what Add(start, ep) occupied.
func (p *Profile) Remove(start core.Time, ep core.EP) {
	for _, s := range ep {
		end := later(start, s.Duration)
		p.shift(start, end, -s.Nodes)
		start = end
	}
}

// Sum adds another occupation to this one: ep1 + ep2 of the paper.
func (p *Profile) Sum(q *Profile) {
	if p == q {
		q = p.Clone()
	}
	for i, n := range q.used {
		p.shift(q.at[i], q.endOf(i), n)
	}
}

// Delay is this occupation moved by so many seconds: delay(ep, t0) of the paper.
func (p *Profile) Delay(by core.Time) *Profile {
	q := New(p.nodes)
	for i, n := range p.used {
		q.shift(later(p.at[i], by), later(p.endOf(i), by), n)
	}
	return q
}

// Mirror is the occupation between two instants with time turned round: what is used at t in [from, to) is used at
// -t-1 in the result, which is idle elsewhere. The compacting pass of CoreGRID 2011, section 4.2, works on it.
func (p *Profile) Mirror(from, to core.Time) *Profile {
	q := New(p.nodes)
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
func (p *Profile) set(t core.Time, used int) {
	if last := len(p.at) - 1; p.used[last] != used {
		if p.at[last] == t {
			p.used[last] = used
			return
		}
		p.at, p.used = append(p.at, t), append(p.used, used)
	}
}

// later is t + d without leaving [-Forever, Forever].
func later(t, d core.Time) core.Time {
	return max(-core.Forever, min(core.Forever, min(t, core.Forever)+min(d, core.Forever)))
}

// shift adds n to the nodes used in [from, to).
func (p *Profile) shift(from, to core.Time, n int) {
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
	// Only at the two ends can neighbours have become equal.
	if end < len(p.at) {
		p.join(end)
	}
	p.join(first)
}

// split makes t a change point, without changing the function, and says which one.
func (p *Profile) split(t core.Time) int {
	i := p.index(t)
	if p.at[i] == t {
		return i
	}
	p.at = slices.Insert(p.at, i+1, t)
	p.used = slices.Insert(p.used, i+1, p.used[i])
	return i + 1
}

// join drops the change point i where nothing changes.
func (p *Profile) join(i int) {
	if i > 0 && p.used[i-1] == p.used[i] {
		p.at = slices.Delete(p.at, i, i+1)
		p.used = slices.Delete(p.used, i, i+1)
	}
}

// index is the last change point at or before t; the first one when there is none.
func (p *Profile) index(t core.Time) int {
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

// endOf is where change point i gives way to the next.
func (p *Profile) endOf(i int) core.Time {
	if i+1 < len(p.at) {
		return p.at[i+1]
	}
	return core.Forever
}
