package sched

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
)

// A few hundred jobs run at a time, so that both ways to find a job are tested: from the end and by search.
func TestRunningJobsStaySortedByEnd(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		var (
			clever RunningByEnd
			plain  []RunningJob
			now    core.Time
		)
		for next := core.JobID(0); next < 1500; next++ {
			h := RunningJob{End: now + 1 + r.Int64N(400), ID: next % 700 << (seed % 2 * 40), Nodes: r.IntN(9)}
			if !slices.ContainsFunc(plain, func(p RunningJob) bool { return p.ID == h.ID }) {
				clever.Add(h, now)
				plain = append(plain, h)
			}
			for len(plain) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(plain))
				if h, overdue, known := clever.Take(plain[i].ID); !known || h != plain[i] || overdue != (h.End <= now) {
					t.Fatalf("seed %d: %+v was taken (overdue: %t) for %+v at second %d", seed, h, overdue, plain[i], now)
				}
				plain = slices.Delete(plain, i, i+1)
			}
			if _, _, known := clever.Take(-1); known {
				t.Fatal("a job that is not there was taken")
			}
			before := now
			if now += r.Int64N(3); r.IntN(200) == 0 {
				now -= 50
				clever.Back()
			}
			freed := 0
			for _, h := range plain {
				if h.End <= now && (now < before || h.End > before) {
					freed += h.Nodes
				}
			}
			if got := clever.Pass(now); got != freed {
				t.Fatalf("seed %d, second %d: %d nodes are freed, not %d", seed, now, got, freed)
			}
			if next%8 == 0 {
				check(t, &clever, plain, now)
			}
		}
	}
}

// check compares the running jobs with an unsorted list.
func check(t *testing.T, clever *RunningByEnd, plain []RunningJob, now core.Time) {
	byEnd := func(a, b RunningJob) int { return cmp.Or(cmp.Compare(b.End, a.End), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(clever.List, func(a, b RunningJob) int { return cmp.Compare(b.End, a.End) }) {
		t.Fatalf("second %d: not sorted: %v", now, clever.List)
	}
	got, want := slices.Clone(clever.List), slices.Clone(plain)
	want = slices.DeleteFunc(want, func(h RunningJob) bool { return h.End <= now })
	slices.SortFunc(got, byEnd)
	slices.SortFunc(want, byEnd)
	if !slices.Equal(got, want) || len(got)+len(clever.overdue) != len(plain) {
		t.Fatalf("second %d: %v and %v run, not %v", now, got, clever.overdue, plain)
	}
	next := core.Forever
	for _, h := range want {
		next = min(next, h.End)
	}
	if got := clever.Next(now); got != next {
		t.Fatalf("second %d: the next end is %d, not %d", now, got, next)
	}
}
