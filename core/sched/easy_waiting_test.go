package sched

import (
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
)

// there returns the jobs of a list without its holes.
func there(l *waitingList) (all []waitingJob) {
	for _, w := range l.All[l.First:] {
		if w.Nodes != hole {
			all = append(all, w)
		}
	}
	return all
}

func byLength(a, b waitingJob) bool {
	return a.Length < b.Length || a.Length == b.Length && a.Seq < b.Seq
}

// The same operations are applied to a list and to an array. Some lists are sorted, others are in order of
// submission.
func TestWaitingListMatchesArrayAndItsBlockBounds(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		var list waitingList
		var plain []waitingJob
		for came := range uint32(500) {
			w := waitingJob{Length: 1 + r.Int64N(50), ID: core.JobID(came), Nodes: 1 + r.Int32N(20), Seq: came}
			if seed%2 == 0 {
				list.Push(w)
				plain = append(plain, w)
			} else {
				list.Insert(w, byLength)
				i := slices.IndexFunc(plain, func(p waitingJob) bool { return byLength(w, p) })
				if i < 0 {
					i = len(plain)
				}
				plain = slices.Insert(plain, i, w)
			}
			for len(plain) > 0 && r.IntN(100) < 49 {
				i := r.IntN(len(plain))
				if r.IntN(2) == 0 {
					i = 0
				}
				if got := list.Remove(list.Find(plain[i].ID)); got != plain[i] {
					t.Fatalf("seed %d: %+v was taken out, not %+v", seed, got, plain[i])
				}
				plain = slices.Delete(plain, i, i+1)
			}
			if r.IntN(9) == 0 {
				list.Tidy()
			}
			if got := there(&list); !slices.Equal(got, plain) || list.Jobs != len(plain) || list.Find(-1) >= 0 {
				t.Fatalf("seed %d: in the list are %v, want %v", seed, got, plain)
			}
			if copied := list.Clone(); !slices.Equal(there(&copied), plain) {
				t.Fatalf("seed %d: the copy is another", seed)
			}
			blocks(t, &list, noReservation(), r)
		}
	}
}

// blocks compares searches by blocks with checks of every job.
func blocks(t *testing.T, list *waitingList, of reservation, r *rand.Rand) {
	if r.IntN(2) == 0 {
		of.At, of.Extra = 1+r.Int64N(50), r.IntN(20)
	}
	now, free := r.Int64N(30), r.IntN(25)
	room := of.Room(now, free)
	has := func(w waitingJob) bool {
		n := int(w.Nodes)
		return n <= free && (now+w.Length <= of.At || n <= of.Extra)
	}
	var got, want []core.JobID
	for b := room.Next(list.Least, 0); b < len(list.Least); b = room.Next(list.Least, b+1) {
		for i, fit := 0, room.Fitting(list.Block(b)); fit != 0; i, fit = i+1, fit>>1 {
			if w := &list.Block(b)[i]; fit&1 != 0 {
				got = append(got, w.ID)
				if !room.Has(w) {
					t.Fatalf("%+v is said to find room in %+v", *w, room)
				}
			}
		}
	}
	for _, w := range there(list) {
		if has(w) {
			want = append(want, w.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("with %d nodes free at %d beside %+v start %v, want %v", free, now, of, got, want)
	}
}
