package slurm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"accordion/adapter"
)

// crowdedMinute is the greatest number of instants within a minute.
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

// A worker is one act after the other, as the sidecar has several: it is admitted, then runs more or fewer programs than
// its verb usually does, each of which takes its time.
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
						ctx, done, err := a.admit(over, w.Cost, limit/4)
						if err != nil {
							return
						}
						for range w.Programs {
							one, err := a.turn(ctx)
							if err != nil {
								break
							}
							gate <- struct{}{}
							a.begin(one)
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
				t.Fatalf("room for %d programs is kept for nobody", a.kept)
			}
		})
	})
}

// programs begins n programs of an act that was admitted, one after the other.
func programs(ctx context.Context, t *testing.T, a *allowance, n int) {
	t.Helper()
	for range n {
		one, err := a.turn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a.begin(one)
	}
}

func TestReadingsLeaveAQuarterToTheActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Partitions: []string{"main"}, Clients: 60})
		if err != nil {
			t.Fatal(err)
		}
		s.run.talk.falls(time.Now()) // one program a command
		begin, readings := time.Now(), 0
		for time.Since(begin) < 30*time.Second { // as fast as they may
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			admitted, done, err := s.Admit(ctx, "observe")
			if cancel(); err != nil {
				continue
			}
			programs(admitted, t, s.run.pace, 2)
			done()
			readings++
		}
		if readings < 12 || readings > 22 {
			t.Errorf("%d readings of two programs each, want an even share of the 22 that fit into 45 of 60", readings)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		admitted, done, err := s.Admit(ctx, "merge")
		if err != nil {
			t.Fatalf("an act has to wait for readings: %v", err)
		}
		programs(admitted, t, s.run.pace, 6)
		done()
		if got := s.Clients(); got != int64(2*readings+6) {
			t.Errorf("%d client programs were counted, want %d", got, 2*readings+6)
		}
	})
}

// TestNoMinuteIsWithoutAReading: readings that need a program come as fast as they may, and acts beside them.
func TestNoMinuteIsWithoutAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAllowance(60)
		var last time.Time
		begin, longest := time.Now(), time.Duration(0)
		for time.Since(begin) < 5*time.Minute {
			ctx, done, err := a.admit(t.Context(), 1, 15)
			if err != nil {
				t.Fatal(err)
			}
			programs(ctx, t, a, 1)
			done()
			if !last.IsZero() {
				longest = max(longest, time.Since(last))
			}
			last = time.Now()
			time.Sleep(250 * time.Millisecond)
		}
		if longest > 3*time.Second {
			t.Errorf("for %v there was no reading", longest)
		}
	})
}

func TestAnActThatIsGivenUpGivesItsRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAllowance(20)
		_, first, err := a.admit(t.Context(), 18, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := a.admit(ctx, 5, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the second was admitted: %v", err)
		}
		admitted := make(chan time.Time)
		go func() {
			_, done, err := a.admit(t.Context(), 5, 0)
			if err != nil {
				t.Error(err)
			}
			done()
			admitted <- time.Now()
		}()
		synctest.Wait()
		given := time.Now()
		first() // nothing of it began
		if at := <-admitted; !at.Equal(given) {
			t.Errorf("the next was admitted %v later", at.Sub(given))
		}
	})
}

func TestTheBoundHoldsForRealPrograms(t *testing.T) {
	s := clients(t, func(c *Config) { c.Clients = 20 }, map[string]string{"squeue": "exit 1"})
	for range 20 {
		if _, err := s.Inspect(t.Context(), adapter.Key{ID: 7, Submitted: 1}); err == nil {
			t.Fatal("the program failed, and no error")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Inspect(ctx, adapter.Key{ID: 7, Submitted: 1})
	if !errors.Is(err, context.DeadlineExceeded) || s.Clients() != 20 {
		t.Errorf("%d programs began, the last with %v", s.Clients(), err)
	}
}

func TestWithoutABoundNothingWaits(t *testing.T) {
	a := newAllowance(0)
	for range 1000 {
		ctx, done, err := a.admit(t.Context(), 6, 0)
		if err != nil {
			t.Fatal(err)
		}
		programs(ctx, t, a, 1)
		done()
	}
	if len(a.begun) != 0 || a.total != 1000 {
		t.Errorf("%d are remembered, %d counted", len(a.begun), a.total)
	}
}

func TestABoundThatLeavesNoRoomIsRefused(t *testing.T) {
	for _, limit := range []int{-1, 1, LeastClients - 1} {
		if _, err := New(Config{Partitions: []string{"main"}, Clients: limit}); err == nil {
			t.Errorf("%d programs a minute: no error", limit)
		}
	}
	if _, err := New(Config{Partitions: []string{"main"}, Clients: LeastClients}); err != nil {
		t.Error(err)
	}
}
