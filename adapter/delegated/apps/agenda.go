package apps

import (
	"container/heap"

	"accordion/core"
)

// entry is a value that can be in an agenda. The zero entry is in no agenda.
type entry[T any] struct {
	Of   T
	due  core.Time
	slot int // index in the heap + 1; 0 if not in the heap
}

// agenda is a queue of values, ordered by the second at which each is due. The zero agenda is empty.
type agenda[T any] struct{ heap entries[T] }

// First returns the second at which the first value is due, or core.Forever if the agenda is empty.
func (g *agenda[T]) First() core.Time {
	if len(g.heap) == 0 {
		return core.Forever
	}
	return g.heap[0].due
}

// Put sets when a value is due. If due is core.Forever, Put removes the value.
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

// Remove removes a value, if it is in the agenda.
func (g *agenda[T]) Remove(e *entry[T]) {
	if e.slot > 0 {
		heap.Remove(&g.heap, e.slot-1)
	}
}

// Take removes a value that is due now, and returns it. It returns nil if no value is due.
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
