package patient

import (
	"cmp"

	"accordion/core"
)

// age is when a job becomes due, and its rank among equals.
type age struct {
	due  core.Time
	came uint32
}

// before says which of two jobs that are due goes before the other.
func (a age) before(b age) bool {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.came, b.came)) < 0
}

// ages is a heap of them, one that is due first at its top. Jobs that wait no more are left in it.
type ages []age

func (h *ages) push(a age) {
	all := append(*h, a)
	i := len(all) - 1
	for i > 0 && a.due < all[(i-1)/2].due {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = a
	*h = all
}

func (h *ages) pop() age {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	i := 0
	for below := 1; below < len(all); below = 2*i + 1 {
		if below+1 < len(all) && all[below+1].due < all[below].due {
			below++
		}
		if all[below].due >= last.due {
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
