package queue

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
)

// Some hundred jobs run at a time, so that some are looked for from near and others from far.
func TestWhatRunsIsSortedByItsEndAndNothingGetsLost(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		var (
			clever runs
			plain  []held
			now    core.Time
		)
		for next := core.JobID(0); next < 1500; next++ {
			h := held{end: now + 1 + r.Int64N(400), id: next % 700 << (seed % 2 * 40), nodes: r.IntN(9)}
			if !slices.ContainsFunc(plain, func(p held) bool { return p.id == h.id }) {
				clever.add(h)
				plain = append(plain, h)
			}
			for len(plain) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(plain))
				if h, overdue, known := clever.take(plain[i].id); !known || h != plain[i] || overdue != (h.end <= now) {
					t.Fatalf("seed %d: %+v was taken (overdue: %t) for %+v at second %d", seed, h, overdue, plain[i], now)
				}
				plain = slices.Delete(plain, i, i+1)
			}
			if _, _, known := clever.take(-1); known {
				t.Fatal("a job that is not there was taken")
			}
			before := now
			if now += r.Int64N(3); r.IntN(200) == 0 {
				now -= 50
				clever.back()
			}
			freed := 0
			for _, h := range plain {
				if h.end <= now && (now < before || h.end > before) {
					freed += h.nodes
				}
			}
			if got := clever.pass(now); got != freed {
				t.Fatalf("seed %d, second %d: %d nodes are freed, not %d", seed, now, got, freed)
			}
			if next%8 == 0 {
				check(t, &clever, plain, now)
			}
		}
	}
}

// check compares what runs with a list in no order.
func check(t *testing.T, clever *runs, plain []held, now core.Time) {
	byEnd := func(a, b held) int { return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.id, b.id)) }
	if !slices.IsSortedFunc(clever.list, func(a, b held) int { return cmp.Compare(b.end, a.end) }) {
		t.Fatalf("second %d: not sorted: %v", now, clever.list)
	}
	got, want := slices.Clone(clever.list), slices.Clone(plain)
	want = slices.DeleteFunc(want, func(h held) bool { return h.end <= now })
	slices.SortFunc(got, byEnd)
	slices.SortFunc(want, byEnd)
	if !slices.Equal(got, want) || len(got)+len(clever.overdue) != len(plain) {
		t.Fatalf("second %d: %v and %v run, not %v", now, got, clever.overdue, plain)
	}
	next := core.Forever
	for _, h := range want {
		next = min(next, h.end)
	}
	if got := clever.next(now); got != next {
		t.Fatalf("second %d: the next end is %d, not %d", now, got, next)
	}
}
