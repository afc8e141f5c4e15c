package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"accordion/adapter/fair"
)

// crowdedMinute returns the largest number of the given times that are within one minute.
func crowdedMinute(begun []time.Time) int {
	slices.SortFunc(begun, time.Time.Compare)
	most, first := 0, 0
	for i, t := range begun {
		for t.Sub(begun[first]) >= time.Minute {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// A worker carries out one action after the other. Each action is admitted and then runs more or fewer programs
// than its verb usually needs. Each program takes some time.
type worker struct {
	Cost, Programs int
	Pause, Each    time.Duration
}

func TestNeverDoMoreProgramsBeginInAMinuteThanMay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(LeastClients, 80).Draw(r, "limit")
		workers := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) worker {
			return worker{
				Cost: rapid.IntRange(0, 6).Draw(r, "cost"), Programs: rapid.IntRange(0, 9).Draw(r, "programs"),
				Pause: time.Duration(rapid.IntRange(100, 20_000).Draw(r, "pause")) * time.Millisecond,
				Each:  time.Duration(rapid.IntRange(0, 3_000).Draw(r, "each")) * time.Millisecond,
			}
		}), 1, 5).Draw(r, "workers")
		slots := rapid.IntRange(1, 6).Draw(r, "at once")
		synctest.Test(t, func(t *testing.T) {
			a, gate := newAllowance(limit), make(chan struct{}, slots)
			var mu sync.Mutex
			var begun []time.Time
			var crew sync.WaitGroup
			over, stop := context.WithTimeout(t.Context(), 3*time.Minute)
			defer stop()
			for _, w := range workers {
				crew.Go(func() {
					for over.Err() == nil {
						time.Sleep(w.Pause + time.Millisecond)
						ctx, done, err := a.Admit(over, w.Cost, limit/4)
						if err != nil {
							return
						}
						for range w.Programs {
							one, err := a.Turn(ctx)
							if err != nil {
								break
							}
							gate <- struct{}{}
							a.Begin(one)
							mu.Lock()
							begun = append(begun, time.Now())
							mu.Unlock()
							time.Sleep(w.Each)
							<-gate
						}
						done()
					}
				})
			}
			crew.Wait()
			if most := crowdedMinute(begun); most > limit {
				t.Fatalf("%d programs began within a minute, at most %d may", most, limit)
			}
			if a.kept != 0 {
				t.Fatalf("room for %d programs is reserved for no waiter", a.kept)
			}
		})
	})
}

// Readings run a program as often as they are admitted, in parallel with actions.
func TestNoMinuteIsWithoutAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAllowance(60)
		var last time.Time
		begin, longest := time.Now(), time.Duration(0)
		for time.Since(begin) < 5*time.Minute {
			ctx, done, err := a.Admit(fair.As(t.Context(), fair.Reading), 1, 15)
			if err != nil {
				t.Fatal(err)
			}
			beginOne(ctx, t, a)
			done()
			if !last.IsZero() {
				longest = max(longest, time.Since(last))
			}
			last = time.Now()
			time.Sleep(250 * time.Millisecond)
		}
		if longest > 3*time.Second {
			t.Errorf("there was no reading for %v", longest)
		}
	})
}

func TestAnActThatIsGivenUpGivesItsRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAllowance(20)
		_, first, err := a.Admit(t.Context(), 9, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := a.Admit(ctx, 9, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the second one was admitted: %v", err)
		}
		admitted := make(chan time.Time)
		go func() {
			_, done, err := a.Admit(t.Context(), 9, 0)
			if err != nil {
				t.Error(err)
			}
			done()
			admitted <- time.Now()
		}()
		synctest.Wait()
		given := time.Now()
		first() // none of its programs began
		if at := <-admitted; !at.Equal(given) {
			t.Errorf("the next was admitted %v later", at.Sub(given))
		}
	})
}

func TestWithoutABoundNothingWaits(t *testing.T) {
	a := newAllowance(0)
	for range 1000 {
		ctx, done, err := a.Admit(t.Context(), 6, 0)
		if err != nil {
			t.Fatal(err)
		}
		beginOne(ctx, t, a)
		done()
	}
	if len(a.begun) != 0 || a.total != 1000 {
		t.Errorf("%d are remembered, %d counted", len(a.begun), a.total)
	}
}

// beginOne begins one program of an admitted action.
func beginOne(ctx context.Context, t *testing.T, a *Allowance) {
	t.Helper()
	one, err := a.Turn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.Begin(one)
}
