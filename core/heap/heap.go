// Package heap keeps values by a key, the least at hand. Its items stand in one array, and no call goes through an interface, as those of
// container/heap do: replays put one in for each job. Where values also leave from the middle, it is not what is wanted.
//
//	var due heap.Heap[int32]
//	due.Push(100, 7)
//	if due[0].Key <= now {
//		job := due.Pop().Value
//	}
package heap

// Item is a value and the key that it goes by.
type Item[V any] struct {
	Key   int64
	Value V
}

// Heap has an item with the least key at its front. The zero value has none.
type Heap[V any] []Item[V]

// Push puts a value in.
func (h *Heap[V]) Push(key int64, value V) {
	all := append(*h, Item[V]{})
	i := len(all) - 1
	for i > 0 && key < all[(i-1)/2].Key {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = Item[V]{key, value}
	*h = all
}

// Pop takes the front out; there must be one. Among equal keys any may come first, but equal heaps give equal ones.
func (h *Heap[V]) Pop() Item[V] {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	i := 0
	for below := 1; below < len(all); below = 2*i + 1 {
		if below+1 < len(all) && all[below+1].Key < all[below].Key {
			below++
		}
		if all[below].Key >= last.Key {
			break
		}
		all[i] = all[below]
		i = below
	}
	if len(all) > 0 {
		all[i] = last
	}
	*h = all
	return first
}
