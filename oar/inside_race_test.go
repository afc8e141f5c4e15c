package oar

import (
	"sync"
	"time"

	"accordion/adapter"
)

// The sidecar keeps a reservation ready and begins a step in it from two goroutines.
func oneReservationMadeTwiceAtOnce(in *inside) {
	now := time.Now().Unix()
	r := adapter.Reservation{Name: "accordion-9-1", User: "alice", Nodes: []string{"n3", "n4"}, Start: now + 400, End: now + 900}
	for range 20 {
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = in.Reserve(in.ctx, r) })
		}
		all.Wait()
		for _, err := range errs {
			in.must(err)
		}
		if holders := in.answer("select count(*) from jobs where job_name = 'accordion-9-1'"); holders != "1" {
			in.Fatalf("the reservation has %s holders, want 1", holders)
		}
		in.must(in.Unreserve(in.ctx, r.Name))
	}
}
