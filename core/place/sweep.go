package place

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
)

// sweep goes through time and keeps the nodes that are free now, sorted by the beginning of their next span in the calendar. A
// node fits a layer that ends before that next span begins.
type sweep struct {
	*attempt
	froms   []core.Time // the distinct beginnings of spans, sorted, then Forever for nodes without another span
	buckets []*nodeSet  // buckets[i] has the nodes that are free until froms[i]; nil if there are none
	filled  []uint64    // bit b is set if buckets[b] has nodes
	first   int         // the buckets before this index have passed: their nodes are in a span now
	bucket  []int       // by node: its bucket, or -1 if the node is not free
	next    []int       // by node: index of its first span that has not ended
	spare   []*nodeSet  // empty sets for reuse
	ends    []end       // future ends of spans, sorted
	over    []int       // items whose layers have not ended, sorted by the layers' ends
	took    []bool      // by item: the sweep assigned nodes to it
}

// end is the end of a span of a node.
type end struct {
	at   core.Time
	node int
}

// sweep assigns all missing nodes, and returns how many requests it could not serve.
func (a *attempt) sweep() int {
	s := newSweep(a)
	missed := 0
	for i, it := range a.items {
		l, n := a.named(it), &a.namings[it.request]
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

// advance sets the current time to t. It frees what has ended, then removes the nodes whose next span has begun.
//
// Ended layers come before ended spans. A layer overlaps no span of the nodes that the sweep assigned to it. So
// each span of such a node either ended before the layer began, and is processed already, or ends after the
// layer.
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

// free makes a node free at time t, unless a span of it continues or begins then.
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

// put adds a node to the bucket of its next span.
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

// drop removes a free node from its bucket.
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

// empty returns a set without nodes. There may be many buckets, but never more non-empty ones than nodes.
func (s *sweep) empty() *nodeSet {
	if last := len(s.spare) - 1; last >= 0 {
		set := s.spare[last]
		s.spare = s.spare[:last]
		return set
	}
	return newNodeSet(s.nodes)
}

// lowest returns the lowest node of a bucket that is not empty.
func (s *sweep) lowest(b int) int { return s.buckets[b].lowest() }

// after returns the first bucket from b on that has nodes, or -1 if none has.
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

// fitting returns the first bucket whose nodes are free until t.
func (s *sweep) fitting(t core.Time) int {
	b, _ := slices.BinarySearch(s.froms, t)
	return b
}

// freeUntil returns the number of nodes that are free from now until t, but at most `enough`.
func (s *sweep) freeUntil(t core.Time, enough int) int {
	count := 0
	for b := s.after(s.fitting(t)); b >= 0 && count < enough; b = s.after(b + 1) {
		count += s.buckets[b].count
	}
	return min(count, enough)
}

// take assigns nodes to a layer: the nodes that its request prefers, then the nodes whose next span begins soonest, the lowest
// first. It uses nodes above the job's first node as far as possible, even if the request prefers others (see Name). Enough
// nodes must be free.
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

// preferred adds the nodes that a request prefers and whose IDs are at least `least`, until there are `count`
// nodes.
func (s *sweep) preferred(it item, nodes []int, least, fitting, count int) []int {
	for _, node := range it.prefer {
		if len(nodes) < count && node >= least && node < s.nodes && s.bucket[node] >= fitting {
			s.drop(node)
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// soonest adds nodes whose IDs are at least `least`, until there are `count` nodes. The nodes whose next span
// begins soonest come first, and among these the lowest.
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
