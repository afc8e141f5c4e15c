package place

import (
	"slices"
	"sort"

	"accordion/core"
)

// span is a stretch of time in which a node is not to be given.
type span struct{ from, to core.Time }

// calendar is what is fixed for each node. Invariant: a node's spans are in order, not empty, and neither overlap nor
// touch.
type calendar struct{ spans [][]span }

func newCalendar(nodes int) *calendar {
	const usual = 2 // spans of a node: one array serves nearly all nodes
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

// add fixes a node, joined with what was fixed already. Nodes that do not exist and empty spans are ignored.
func (c *calendar) add(node int, from, to core.Time) {
	to = min(to, core.Forever)
	if node < 0 || node >= len(c.spans) || from >= to {
		return
	}
	spans := c.spans[node]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to >= from }) // the first that it touches
	j := i
	for ; j < len(spans) && spans[j].from <= to; j++ {
		from, to = min(from, spans[j].from), max(to, spans[j].to)
	}
	c.spans[node] = slices.Replace(spans, i, j, span{from, to})
}

// free says whether a node exists and nothing is fixed for it from one second to another.
func (c *calendar) free(node int, from, to core.Time) bool {
	if node < 0 || node >= len(c.spans) {
		return false
	}
	spans := c.spans[node]
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to > from })
	return i == len(spans) || spans[i].from >= to
}
