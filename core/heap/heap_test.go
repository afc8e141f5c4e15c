package heap_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core/heap"
)

func Example() {
	var h heap.Heap[string]
	h.Push(30, "last")
	h.Push(10, "first")
	h.Push(20, "next")
	for len(h) > 0 {
		fmt.Println(h.Pop().Value)
	}
	// Output:
	// first
	// next
	// last
}

// Whatever is put in and taken out in turns, what comes out is a least one of those that a plain list has, with its own value.
func TestTheLeastComesFirst(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 0))
		var h heap.Heap[int]
		var plain []heap.Item[int]
		for n := range random.IntN(100) {
			if len(plain) == 0 || random.IntN(3) > 0 {
				one := heap.Item[int]{Key: random.Int64N(25) - 5, Value: n}
				h.Push(one.Key, one.Value)
				plain = append(plain, one)
				continue
			}
			least := slices.MinFunc(plain, func(a, b heap.Item[int]) int { return int(a.Key - b.Key) })
			got := h.Pop()
			i := slices.Index(plain, got)
			if i < 0 || got.Key != least.Key {
				t.Fatalf("seed %d: %+v came, of %+v", seed, got, plain)
			}
			plain = slices.Delete(plain, i, i+1)
		}
		if len(h) != len(plain) {
			t.Fatalf("seed %d: it has %d, want %d", seed, len(h), len(plain))
		}
	}
}
