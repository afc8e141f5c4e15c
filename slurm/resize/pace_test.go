package resize

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/slurm/client/clienttest"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

func job(submitted, resized int64) *output.Record {
	r := &output.Record{Resized: resized}
	r.Key = adapter.Key{ID: 46, Submitted: submitted}
	return r
}

func TestNoTwoChangesOfSizeOfAJobAreInOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond) // the test must not begin at the beginning of a second
		var p pacer
		now := time.Now().Unix()
		another := job(now-100, 0)
		another.ID = 47
		for _, test := range []struct {
			name string
			r    *output.Record
			want time.Duration // how long await waits
		}{
			{"the first change", job(now-100, 0), 0},
			{"a second one, 0.3 s into the second", job(now-100, 0), 700*time.Millisecond + clockLag},
			{"a third one at once", job(now-100, 0), time.Second},
			{"another job's", another, 0},
			{"one that a sidecar before this one made, as Slurm says", job(now-100, now+2), time.Second},
			{"a companion in the second in which it was made", &output.Record{Job: adapter.Job{Key: adapter.Key{ID: 50, Submitted: now + 3}}}, time.Second},
			{"Slurm's clock is an hour ahead", job(now-100, now+3600), time.Second + clockLag},
		} {
			begin := time.Now()
			if err := p.await(t.Context(), test.r); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin); got != test.want {
				t.Errorf("%s: waited %v, want %v", test.name, got, test.want)
			}
			p.record(test.r.Key, time.Now().Unix())
		}
	})
}

func TestAChangeOfSizeWaitsNoLongerThanItsAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pacer
		r := job(1, 0)
		p.record(r.Key, time.Now().Unix())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := p.await(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting beyond the act's deadline: %v", err)
		}
	})
}

func TestThePacerForgetsOldChanges(t *testing.T) {
	var p pacer
	for second := range int64(1000) {
		p.record(adapter.Key{ID: 1, Submitted: second}, second)
	}
	if len(p.last) > 2 {
		t.Errorf("it keeps %d seconds", len(p.last))
	}
}

// A merge, a shrink, another merge and its undoing follow each other without a pause, as they do when a growth
// fails.
func TestMergesAndShrinksOfAJobHaveSecondsOfTheirOwn(t *testing.T) {
	for release, shrink := range map[string]string{"20.11": "NodeList=n1", "24.11": "NodeList=n1 NumNodes=1"} {
		onSlurm(t, release, nil, func(b *fixture) {
			var seconds []int64
			b.slurm.Rule(clienttest.Rule{At: "^scontrol update", Before: func() { seconds = append(seconds, time.Now().Unix()) }})
			b.expander(nil)
			b.slurm.Add(clienttest.Job{ID: 48, Name: "accordion-over-46", Nodes: []string{"n4"}, Expands: 46, Reservation: "accordion-46-1"})
			ctx, parent := b.Context(), b.record(46)
			b.ok(b.merge(ctx, growth.Site{}, parent, b.record(48)))
			b.ok(b.keep(ctx, parent, []string{"n1"}))
			b.ok(b.merge(ctx, growth.Site{}, parent, b.record(47)))
			b.ok(b.Undo(ctx, parent.Key, []string{"n3"}))
			b.did("scontrol update JobId=48 NumNodes=0", "scontrol update JobId=46 "+shrink, "scontrol update JobId=47 NumNodes=0", "scontrol update JobId=46 "+shrink)
			if len(slices.Compact(slices.Clone(seconds))) != 4 || !slices.IsSorted(seconds) {
				t.Errorf("%s: changes in the seconds %v, want four of them", release, seconds)
			}
		})
	}
}
