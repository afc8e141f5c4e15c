package slurm

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/fair"
	"accordion/slurm/client"
)

// beginPrograms starts n programs of an admitted act, one after the other.
func beginPrograms(ctx context.Context, t *testing.T, a *client.Allowance, n int) {
	t.Helper()
	for range n {
		one, err := a.Turn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a.Begin(one)
	}
}

func TestReadingsLeaveAQuarterToTheActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Partitions: []string{"main"}, Clients: 60})
		if err != nil {
			t.Fatal(err)
		}
		s.Run.Consoles.NoteSilent(time.Now()) // from now on each command starts a program of its own
		begin, readings := time.Now(), 0
		for time.Since(begin) < 30*time.Second { // as fast as allowed
			ctx, cancel := context.WithTimeout(fair.As(t.Context(), fair.Reading), time.Second)
			admitted, done, err := s.Admit(ctx, "observe")
			if cancel(); err != nil {
				continue
			}
			beginPrograms(admitted, t, s.Run.Pace, 2)
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
			t.Fatalf("an action had to wait for readings: %v", err)
		}
		beginPrograms(admitted, t, s.Run.Pace, 6)
		done()
		if got := s.Clients(); got != int64(2*readings+6) {
			t.Errorf("%d client programs were counted, want %d", got, 2*readings+6)
		}
	})
}

func TestTheBoundHoldsForRealPrograms(t *testing.T) {
	s := scriptedSystem(t, func(c *Config) { c.Clients = 20 }, map[string]string{"squeue": "exit 1"})
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

func TestABoundThatLeavesNoRoomIsRefused(t *testing.T) {
	for _, limit := range []int{-1, 1, client.LeastClients - 1} {
		if _, err := New(Config{Partitions: []string{"main"}, Clients: limit}); err == nil {
			t.Errorf("%d programs a minute: no error", limit)
		}
	}
	if _, err := New(Config{Partitions: []string{"main"}, Clients: client.LeastClients}); err != nil {
		t.Error(err)
	}
}
