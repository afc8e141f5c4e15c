package sidecar_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/embedded"
)

// slowReservations is a batch system that writes reservations slowly. It counts the calls for a
// reservation that begin while another call for it is under way.
type slowReservations struct {
	*embedded.System
	mu     sync.Mutex
	under  map[string]int // calls under way
	overt  int
	writes int
}

func (s *slowReservations) Reserve(ctx context.Context, r adapter.Reservation) error {
	s.mu.Lock()
	s.writes++
	if s.under[r.Name]++; s.under[r.Name] > 1 {
		s.overt++
	}
	s.mu.Unlock()
	time.Sleep(3 * time.Second)
	s.mu.Lock()
	s.under[r.Name]--
	s.mu.Unlock()
	return s.System.Reserve(ctx, r)
}

// The reservation ahead of a waiting part has the same name as the reservation with which the part
// is prepared. If two calls for it were made at the same time, the batch system could carry out the
// earlier call last, with other nodes.
func TestAPartIsPreparedWhenItsReservationAheadIsWritten(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 8}, func(w *partsWorld) {
		w.halt()
		slow := &slowReservations{System: w.System, under: map[string]int{}}
		w.outer = slow
		w.serve()
		key, err := w.Submit(embedded.JobSpec{User: "ada", Nodes: 1, Limit: 60, Comment: "launch=7", Hold: true, Runs: 20})
		if err != nil {
			t.Fatal(err)
		}
		o := mailbox.Order{
			Application: 7, Job: key.ID, User: "ada", Want: mailbox.Wait, Rank: w.second(), Hosts: 3, Walltime: 100, Limit: 150, At: w.second() + 5,
		}
		w.order(o, mailbox.Waiting)
		for range 50 {
			if time.Sleep(100 * time.Millisecond); slow.calls("accordion-app-7") > 0 {
				break
			}
		}
		if slow.calls("accordion-app-7") == 0 {
			t.Fatal("no reservation is written ahead")
		}
		o.Want, o.Try = mailbox.Prepare, 1
		w.order(o, mailbox.Prepared)
		if slow.overt > 0 || slow.writes < 2 {
			t.Errorf("of %d reservations written %d overtook another", slow.writes, slow.overt)
		}
		w.box.Order(nil)
		if err := w.Cancel(key); err != nil {
			t.Error(err)
		}
		w.quiet(200)
		time.Sleep(20 * time.Second)
	})
}

// calls returns how many calls for the reservation are under way.
func (s *slowReservations) calls(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.under[name]
}
