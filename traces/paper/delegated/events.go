package delegated

import (
	"container/heap"

	"accordion/core"
	"accordion/core/moldable"
)

// event is a future event.
type event struct {
	at      core.Time
	kind    eventKind
	order   int // number of the event in the order of creation
	job     int
	request moldable.Request // the request; only for the kind answered
}

type eventKind int

// The kinds of events, in the order in which events of the same second happen. Arrivals come before all of these. The ends of ghosts and
// the pass come after them; the RMS makes these itself.
const (
	done eventKind = iota
	answered
)

// events has the future events.
type events struct {
	queue queue
	made  int
}

func (e *events) next() core.Time {
	if len(e.queue) == 0 {
		return core.Forever
	}
	return e.queue[0].at
}

func (e *events) push(v event) {
	v.order = e.made
	e.made++
	heap.Push(&e.queue, v)
}

func (e *events) pop() event { return heap.Pop(&e.queue).(event) }

type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }
func (q queue) Less(i, k int) bool {
	a, b := &q[i], &q[k]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.order < b.order
}
func (q *queue) Push(v any) { *q = append(*q, v.(event)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	*q = (*q)[:last]
	return v
}
