package apps

import (
	"container/heap"

	"accordion/core"
)

// Entry is a thing's own in one Agenda. The zero value is in none.
type entry[T any] struct {
	Of   T
	due  core.Time
	slot int // in the heap, counted from 1; 0: it is in none
}

// Agenda has the entries of the things of which something will be due. The zero value has none.
type agenda[T any] struct{ heap entries[T] }

// First is when something is due; core.Forever: never.
func (g *agenda[T]) First() core.Time {
	if len(g.heap) == 0 {
		return core.Forever
	}
	return g.heap[0].due
}

// Put notes when something is due, in place of what was noted; core.Forever: never.
func (g *agenda[T]) Put(e *entry[T], due core.Time) {
	switch e.due = due; {
	case due == core.Forever:
		g.Remove(e)
	case e.slot > 0:
		heap.Fix(&g.heap, e.slot-1)
	default:
		heap.Push(&g.heap, e)
	}
}

// Remove takes an entry out; it is nothing where it is not in.
func (g *agenda[T]) Remove(e *entry[T]) {
	if e.slot > 0 {
		heap.Remove(&g.heap, e.slot-1)
	}
}

// Take is an entry that is due now, which is then in the agenda no more; nil: there is none.
func (g *agenda[T]) Take(now core.Time) *entry[T] {
	if len(g.heap) == 0 || g.First() > now {
		return nil
	}
	return heap.Pop(&g.heap).(*entry[T])
}

// entries are a heap.Interface.
type entries[T any] []*entry[T]

func (h entries[T]) Len() int           { return len(h) }
func (h entries[T]) Less(i, j int) bool { return h[i].due < h[j].due }

func (h entries[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i+1, j+1
}

func (h *entries[T]) Push(x any) {
	e := x.(*entry[T])
	*h = append(*h, e)
	e.slot = len(*h)
}

func (h *entries[T]) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	e.slot, (*h)[last] = 0, nil
	*h = (*h)[:last]
	return e
}
