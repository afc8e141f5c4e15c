package replay

import "math/bits"

// freeNodes is the set of free nodes of a machine. It has a bit per node, and above that a bit per word that is not 0, so that the lowest
// free nodes of 100,000 are found in a few steps.
type freeNodes struct {
	count int
	words []uint64 // bit b of word w: node 64·w+b is free
	some  []uint64 // bit b of word w: words[64·w+b] is not 0
}

// newFreeNodes returns a set of n free nodes.
func newFreeNodes(n int) *freeNodes {
	words := (n + 63) / 64
	f := &freeNodes{words: make([]uint64, words), some: make([]uint64, (words+63)/64)}
	if n > 0 {
		f.put(Span{0, int32(n - 1)})
	}
	return f
}

// put adds nodes that are not in the set.
func (f *freeNodes) put(s Span) {
	f.count += int(s.Last-s.First) + 1
	for first := int(s.First); first <= int(s.Last); {
		w, b := first>>6, first&63
		n := min(64-b, int(s.Last)-first+1)
		f.words[w] |= ones(n) << b
		f.some[w>>6] |= 1 << (w & 63)
		first += n
	}
}

// take removes the n lowest nodes, and appends them to the spans in ascending order. The set must have at least n nodes. New spans are not
// joined with earlier ones.
func (f *freeNodes) take(n int, into []Span) []Span {
	f.count -= n
	begin := len(into)
	for k := 0; n > 0; {
		if f.some[k] == 0 {
			k++
			continue
		}
		w := k<<6 + bits.TrailingZeros64(f.some[k])
		free := f.words[w]
		for free != 0 && n > 0 {
			b := bits.TrailingZeros64(free)
			length := min(bits.TrailingZeros64(^(free >> b)), n)
			free &^= ones(length) << b
			n -= length
			first := int32(w<<6 + b)
			if last := len(into) - 1; last >= begin && into[last].Last+1 == first {
				into[last].Last += int32(length)
			} else {
				into = append(into, Span{first, first + int32(length) - 1})
			}
		}
		if f.words[w] = free; free == 0 {
			f.some[k] &^= 1 << (w & 63)
		}
	}
	return into
}

// drop adds the last n nodes of the spans to the set, and returns the other spans. Spans are in the order in which they were taken.
func (f *freeNodes) drop(held []Span, n int) []Span {
	for n > 0 {
		last := &held[len(held)-1]
		size := int(last.Last-last.First) + 1
		if size <= n {
			f.put(*last)
			held, n = held[:len(held)-1], n-size
			continue
		}
		f.put(Span{last.Last - int32(n) + 1, last.Last})
		last.Last -= int32(n)
		n = 0
	}
	return held
}

// ones returns a word with the n lowest bits set, n from 1 to 64.
func ones(n int) uint64 { return ^uint64(0) >> (64 - n) }
