package place

import "math/bits"

// nodeSet is a set of node IDs from which the lowest members are taken first.
type nodeSet struct {
	words []uint64
	count int
	low   int // index of a 64-bit word; no member is in an earlier word
}

func newNodeSet(nodes int) *nodeSet { return &nodeSet{words: make([]uint64, (nodes+63)/64)} }

// add adds a node that is not a member.
func (s *nodeSet) add(node int) {
	s.words[node/64] |= 1 << (node % 64)
	s.low = min(s.low, node/64)
	s.count++
}

// remove removes a member.
func (s *nodeSet) remove(node int) {
	s.words[node/64] &^= 1 << (node % 64)
	s.count--
}

// lowest returns the lowest member. The set must not be empty.
func (s *nodeSet) lowest() int {
	for s.words[s.low] == 0 {
		s.low++
	}
	return s.low*64 + bits.TrailingZeros64(s.words[s.low])
}

// from returns the lowest member that is at least node, or -1 if there is none.
func (s *nodeSet) from(node int) int {
	for w := max(node/64, s.low); w < len(s.words); w++ {
		word := s.words[w]
		if w == node/64 {
			word &= ^uint64(0) << (node % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
