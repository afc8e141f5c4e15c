package place

import (
	"slices"
	"sort"

	"accordion/core"
)

// span is a time in which a node must not be assigned.
type span struct{ from, to core.Time }

// calendar has the spans of each node. Invariant: a node's spans are sorted, not empty, and neither overlap nor
// touch.
type calendar struct{ spans [][]span }

func newCalendar(nodes int) *calendar {
	const usual = 2 // number of spans that most nodes have; one array has room for these spans of all nodes
	array := make([]span, usual*nodes)
	c := &calendar{spans: make([][]span, nodes)}
	for node := range c.spans {
		c.spans[node] = array[usual*node : usual*node : usual*(node+1)]
	}
	return c
}

func (c *calendar) clone() *calendar {
	d := newCalendar(len(c.spans))
	for node, spans := range c.spans {
		d.spans[node] = append(d.spans[node], spans...)
	}
	return d
}

// add adds a span to a node and joins it with the spans that it touches. It ignores unknown nodes and empty spans.
func (c *calendar) add(node int, from, to core.Time) {
	to = min(to, core.Forever)
	if node < 0 || node >= len(c.spans) || from >= to {
		return
	}
	spans := c.spans[node]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to >= from }) // the first span that the new one touches
	j := i
	for ; j < len(spans) && spans[j].from <= to; j++ {
		from, to = min(from, spans[j].from), max(to, spans[j].to)
	}
	c.spans[node] = slices.Replace(spans, i, j, span{from, to})
}

// free reports whether a node exists and has no span in [from, to).
func (c *calendar) free(node int, from, to core.Time) bool {
	if node < 0 || node >= len(c.spans) {
		return false
	}
	spans := c.spans[node]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to > from })
	return i == len(spans) || spans[i].from >= to
}
