package resize

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

func job(submitted, resized int64) *output.Record {
	r := &output.Record{Resized: resized}
	r.Key = adapter.Key{ID: 46, Submitted: submitted}
	return r
}

func TestNoTwoChangesOfSizeOfAJobAreInOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond) // into a second
		var p pacer
		now := time.Now().Unix()
		another := job(now-100, 0)
		another.ID = 47
		for _, test := range []struct {
			name string
			r    *output.Record
			want time.Duration // of waiting
		}{
			{"the first change", job(now-100, 0), 0},
			{"a second one, 0.3 s into the second", job(now-100, 0), 700*time.Millisecond + behind},
			{"a third one at once", job(now-100, 0), time.Second},
			{"another job's", another, 0},
			{"one that a sidecar before this one made, as Slurm says", job(now-100, now+2), time.Second},
			{"a companion in the second in which it was made", &output.Record{Job: adapter.Job{Key: adapter.Key{ID: 50, Submitted: now + 3}}}, time.Second},
			{"Slurm's clock is an hour ahead", job(now-100, now+3600), time.Second + behind},
		} {
			begin := time.Now()
			if err := p.turn(t.Context(), test.r); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin); got != test.want {
				t.Errorf("%s: waited %v, want %v", test.name, got, test.want)
			}
			p.note(test.r.Key, time.Now().Unix())
		}
	})
}

func TestAChangeOfSizeWaitsNoLongerThanItsAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pacer
		r := job(1, 0)
		p.note(r.Key, time.Now().Unix())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := p.turn(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting beyond the act's deadline: %v", err)
		}
	})
}

func TestThePacerForgetsWhatIsLongOver(t *testing.T) {
	var p pacer
	for second := range int64(1000) {
		p.note(adapter.Key{ID: 1, Submitted: second}, second)
	}
	if len(p.last) > 2 {
		t.Errorf("it keeps %d seconds", len(p.last))
	}
}
