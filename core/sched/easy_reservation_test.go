package sched

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
)

// A reservation is kept up to date while jobs start and end. The test computes it again each time and compares. It
// also checks that the reservation was really kept and not recomputed each time.
func TestKeptReservationEqualsRecomputedReservation(t *testing.T) {
	kept := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := EASY{Order: Order(seed % 3)}.New(core.Machine{Nodes: 64}).(*easyState)
		var running []core.JobID
		now := core.Time(0)
		for id := core.JobID(0); id < 600; id++ {
			switch r.IntN(30) {
			case 0:
				s.Nodes(now, core.Machine{Nodes: 40 + r.IntN(40)})
			case 1:
				s.Running(now, core.Allocation{Job: id, Start: now - 3, EP: core.EP{{Duration: 1 + r.Int64N(60), Nodes: r.IntN(9)}}})
				running = append(running, id)
			case 2:
				s.End(now, core.JobID(r.Int64N(int64(id)+1))) // the job waits, runs, or has ended already
			case 3:
				now -= r.Int64N(9)
			default:
				nodes := 1 + r.IntN(8)
				if r.IntN(4) == 0 {
					nodes = 20 + r.IntN(40)
				}
				s.Submit(now, core.Job{ID: id, Choices: []core.EP{{{Duration: 1 + r.Int64N(60), Nodes: nodes}}}})
			}
			for len(running) > 0 && r.IntN(2) == 0 {
				i := r.IntN(len(running))
				s.End(now, running[i])
				running[i] = running[len(running)-1]
				running = running[:len(running)-1]
			}
			before := s.place
			for _, start := range s.Starts(now, nil) {
				running = append(running, start.Job)
			}
			if s.due.Jobs > 0 {
				head := &s.due.All[s.due.First]
				anew := reserveFor(head, s.free, s.runs.List)
				if !s.place.IsFor(head) || s.place.At != anew.At || s.place.Extra != anew.Extra {
					t.Fatalf("seed %d, second %d: %+v was kept, and made anew it is %+v", seed, now, s.place, anew)
				}
				if before == s.place {
					kept++
				}
			}
			now += r.Int64N(4)
		}
	}
	if kept < 1000 {
		t.Fatalf("a reservation was kept %d times only", kept)
	}
}
