package order

import (
	"math/bits"

	"accordion/core"
)

// measure is a dual feasible function in whole numbers: if node counts together are at most the machine's, their
// measures together are at most the machine's measure. (Fekete & Schepers, "New classes of fast lower bounds for bin
// packing problems", 2001; Carlier, Clautiaux & Moukrim, "New reduction procedures and lower bounds for the
// two-dimensional bin packing problem with fixed orientation", 2007.)
type measure struct {
	kind  kind
	nodes int // number of nodes of the machine
	k     int // a parameter, with a meaning for each kind
}

type kind int

const (
	area  kind = iota // the number of nodes
	large             // fewer than k nodes count 0; more than nodes-k count as all nodes, because they leave no room for k
	parts             // parts of nodes/(k+1) nodes, k of which count as the whole machine; an incomplete part counts 0
	round             // multiples of k; more than half the nodes count as the whole machine less the multiples that still fit
)

// of returns the measure of a node count.
func (m measure) of(n int) uint64 {
	switch {
	case n <= 0:
		return 0
	case n >= m.nodes:
		n = m.nodes
	}
	switch m.kind {
	case large:
		switch {
		case n < m.k:
			return 0
		case n > m.nodes-m.k:
			return uint64(m.nodes)
		}
	case parts:
		if product := uint64(m.k+1) * uint64(n); product%uint64(m.nodes) != 0 {
			return product / uint64(m.nodes) * uint64(m.nodes)
		}
		return uint64(m.k) * uint64(n)
	case round:
		switch {
		case 2*n > m.nodes:
			return 2 * uint64(m.nodes/m.k-(m.nodes-n)/m.k)
		case 2*n == m.nodes:
			return uint64(m.nodes / m.k)
		}
		return 2 * uint64(n/m.k)
	}
	return uint64(n)
}

// mostMeasures limits the measures of each kind, mostParts the number of parts.
const (
	mostMeasures = 100
	mostParts    = 20
)

// measures returns the measures worth trying for steps of these sizes, which are in ascending order. Only sizes, and the
// numbers of nodes that a size leaves free, matter as parameters.
func measures(nodes int, sizes []int) []measure {
	if nodes < 1 {
		return nil
	}
	all := []measure{{kind: area, nodes: nodes}}
	for k := 1; k <= mostParts; k++ {
		all = append(all, measure{parts, nodes, k})
	}
	every := max(1, len(sizes)/mostMeasures)
	for i := 0; i < len(sizes); i += every {
		for _, k := range []int{sizes[i], sizes[i] + 1, nodes - sizes[i], nodes - sizes[i] + 1} {
			if k >= 1 && 2*k <= nodes {
				all = append(all, measure{large, nodes, k}, measure{round, nodes, k})
			}
		}
	}
	return all
}

// wide is a sum of products that may exceed 64 bits.
type wide struct{ high, low uint64 }

// plus returns w + a·b.
func (w wide) plus(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	var carry uint64
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
	return w
}

// minus returns w - v. v is not larger than w.
func (w wide) minus(v wide) wide {
	var borrow uint64
	w.low, borrow = bits.Sub64(w.low, v.low, 0)
	w.high, _ = bits.Sub64(w.high, v.high, borrow)
	return w
}

func (w wide) less(v wide) bool { return w.high < v.high || w.high == v.high && w.low < v.low }

// over returns w/by rounded up, at most Forever.
func (w wide) over(by uint64) core.Time {
	if by == 0 || w.high >= by {
		return core.Forever
	}
	quotient, rest := bits.Div64(w.high, w.low, by)
	if rest > 0 {
		quotient++
	}
	return core.Time(min(quotient, uint64(core.Forever)))
}
