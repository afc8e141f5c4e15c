package place

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
)

// A sweep walks through time and keeps the nodes that are free now, sorted by when each has to be free again: by the
// beginning of its next span in the calendar. A layer that ends by then fits.
type sweep struct {
	*attempt
	froms   []core.Time // the different beginnings of spans in order, then Forever for nodes without another span
	buckets []*nodeSet  // of each of froms: the nodes that are free until then; nil when there is none
	filled  []uint64    // bit b: buckets[b] has nodes
	first   int         // the buckets before this one are over: their nodes are fixed now
	bucket  []int       // of each node, −1 when it is not free
	next    []int       // of each node: its first span that is not over
	spare   []*nodeSet  // empty, to be used again
	ends    []end       // of spans, in order, those still to come
	over    []int       // items in the order of their layers' ends, those still to come
	took    []bool      // of each item: the sweep took nodes for it
}

// end is when a span of a node is over.
type end struct {
	at   core.Time
	node int
}

// sweep names what is still missing, and returns how many wishes were not named.
func (a *attempt) sweep() int {
	s := newSweep(a)
	missed := 0
	for i, it := range a.items {
		l, n := a.named(it), &a.namings[it.wish]
		needs := l.Count - len(l.Nodes)
		if needs == 0 || n.Err != nil {
			continue
		}
		s.advance(l.From)
		free := s.freeUntil(l.To, needs)
		if free < needs {
			n.Err = &ShortageError{Job: n.Job, Layer: l.Layer, Free: free, Needs: needs}
			missed++
			continue
		}
		s.take(it)
		s.took[i] = true
	}
	return missed
}

func newSweep(a *attempt) *sweep {
	s := &sweep{
		attempt: a,
		bucket:  make([]int, a.nodes),
		next:    make([]int, a.nodes),
		took:    make([]bool, len(a.items)),
		over:    make([]int, len(a.items)),
	}
	for i := range s.over {
		s.over[i] = i
	}
	slices.SortFunc(s.over, func(x, y int) int {
		return cmp.Or(cmp.Compare(a.named(a.items[x]).To, a.named(a.items[y]).To), cmp.Compare(x, y))
	})
	for node, spans := range a.fixed.spans {
		for _, sp := range spans {
			s.froms = append(s.froms, sp.from)
			s.ends = append(s.ends, end{sp.to, node})
		}
	}
	s.froms = append(s.froms, core.Forever)
	slices.Sort(s.froms)
	s.froms = slices.Compact(s.froms)
	slices.SortFunc(s.ends, func(x, y end) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.node, y.node)) })
	s.buckets = make([]*nodeSet, len(s.froms))
	s.filled = make([]uint64, (len(s.froms)+63)/64)
	for node := range a.nodes {
		s.bucket[node] = -1
		s.put(node)
	}
	return s
}

// advance makes t the current second: frees what has ended, then retires the nodes whose next span has begun.
//
// Layers come before spans, because a layer that the sweep gave was free of spans: of one node, all spans that ended
// before the layer began are dealt with already, and the others end after it.
func (s *sweep) advance(t core.Time) {
	for len(s.over) > 0 {
		it := s.items[s.over[0]]
		l := s.named(it)
		if l.To > t {
			break
		}
		if s.took[s.over[0]] {
			for _, node := range l.Nodes[it.fixed:] {
				s.free(node, l.To)
			}
		}
		s.over = s.over[1:]
	}
	for len(s.ends) > 0 && s.ends[0].at <= t {
		s.free(s.ends[0].node, s.ends[0].at)
		s.ends = s.ends[1:]
	}
	for s.first < len(s.froms)-1 && s.froms[s.first] <= t {
		for s.buckets[s.first] != nil {
			s.drop(s.lowest(s.first))
		}
		s.first++
	}
}

// free makes a node free at the second t, unless a span of it goes on or begins then.
func (s *sweep) free(node int, t core.Time) {
	if s.bucket[node] >= 0 {
		s.drop(node)
	}
	spans := s.fixed.spans[node]
	for s.next[node] < len(spans) && spans[s.next[node]].to <= t {
		s.next[node]++
	}
	if s.next[node] == len(spans) || spans[s.next[node]].from > t {
		s.put(node)
	}
}

// put puts a node into the bucket of its next span.
func (s *sweep) put(node int) {
	b := len(s.froms) - 1
	if spans := s.fixed.spans[node]; s.next[node] < len(spans) {
		b, _ = slices.BinarySearch(s.froms, spans[s.next[node]].from)
	}
	if s.buckets[b] == nil {
		s.buckets[b] = s.empty()
		s.filled[b/64] |= 1 << (b % 64)
	}
	s.buckets[b].add(node)
	s.bucket[node] = b
}

// drop takes a free node out of its bucket.
func (s *sweep) drop(node int) {
	b := s.bucket[node]
	s.bucket[node] = -1
	set := s.buckets[b]
	if set.remove(node); set.count == 0 {
		s.buckets[b] = nil
		s.filled[b/64] &^= 1 << (b % 64)
		s.spare = append(s.spare, set)
	}
}

// empty is a set without nodes: there may be many buckets, but never more filled ones than nodes.
func (s *sweep) empty() *nodeSet {
	if last := len(s.spare) - 1; last >= 0 {
		set := s.spare[last]
		s.spare = s.spare[:last]
		return set
	}
	return newNodeSet(s.nodes)
}

// lowest is the lowest node of a bucket that is not empty.
func (s *sweep) lowest(b int) int { return s.buckets[b].lowest() }

// after is the first bucket from b on that has nodes, −1 when none has.
func (s *sweep) after(b int) int {
	for w := b / 64; w < len(s.filled); w++ {
		word := s.filled[w]
		if w == b/64 {
			word &= ^uint64(0) << (b % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// fitting is the first bucket whose nodes are free until t.
func (s *sweep) fitting(t core.Time) int {
	b, _ := slices.BinarySearch(s.froms, t)
	return b
}

// freeUntil counts the nodes that are free from now until t, but not further than enough.
func (s *sweep) freeUntil(t core.Time, enough int) int {
	count := 0
	for b := s.after(s.fitting(t)); b >= 0 && count < enough; b = s.after(b + 1) {
		count += s.buckets[b].count
	}
	return min(count, enough)
}

// take gives a layer nodes: those its wish prefers, then those that have to be free again soonest, the lowest first; as
// far as possible nodes above the job's first one, even where it prefers others (see Name). There are enough.
func (s *sweep) take(it item) {
	l := s.named(it)
	fitting := s.fitting(l.To)
	nodes := append(make([]int, 0, l.Count), l.Nodes...)
	base := s.base(it)
	nodes = s.preferred(it, nodes, s.least(it, base), fitting, l.Count)
	nodes = s.soonest(nodes, base, fitting, l.Count)
	nodes = s.preferred(it, nodes, 0, fitting, l.Count)
	l.Nodes = s.soonest(nodes, 0, fitting, l.Count)
}

// preferred adds the nodes that a wish prefers, from least on, until there are count.
func (s *sweep) preferred(it item, nodes []int, least, fitting, count int) []int {
	for _, node := range it.prefer {
		if len(nodes) < count && node >= least && node < s.nodes && s.bucket[node] >= fitting {
			s.drop(node)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// soonest adds the nodes that have to be free again soonest, the lowest from least on first, until there are count.
func (s *sweep) soonest(nodes []int, least, fitting, count int) []int {
	for b := s.after(fitting); b >= 0 && len(nodes) < count; {
		node := s.buckets[b].from(least)
		if node < 0 {
			b = s.after(b + 1)
			continue
		}
		s.drop(node)
		nodes = append(nodes, node)
		b = s.after(b)
	}
	return nodes
}
