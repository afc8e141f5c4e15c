package apps

import (
	"container/heap"

	"accordion/core"
)

// entry is a value's place in an agenda. The zero value is in none.
type entry[T any] struct {
	Of   T
	due  core.Time
	slot int // index in the heap + 1; 0: not in the heap
}

// agenda has values by the second at which they are due. The zero value is empty.
type agenda[T any] struct{ heap entries[T] }

// First returns when the first value is due, or core.Forever.
func (g *agenda[T]) First() core.Time {
	if len(g.heap) == 0 {
		return core.Forever
	}
	return g.heap[0].due
}

// Put sets when a value is due. core.Forever removes it.
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

// Remove removes a value, if it is there.
func (g *agenda[T]) Remove(e *entry[T]) {
	if e.slot > 0 {
		heap.Remove(&g.heap, e.slot-1)
	}
}

// Take removes a value that is due now, and returns it, or nil.
func (g *agenda[T]) Take(now core.Time) *entry[T] {
	if len(g.heap) == 0 || g.First() > now {
		return nil
	}
	return heap.Pop(&g.heap).(*entry[T])
}

// entries implements heap.Interface.
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
