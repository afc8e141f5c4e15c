package sidecar

import (
	"testing"

	"accordion/adapter/plan"
	"accordion/adapter/view"
)

// always is a subscriber that wants every snapshot.
type always bool

func (a always) WantsSnapshot() bool    { return bool(a) }
func (a always) Receive(*view.Snapshot) {}

// What a snapshot for browsers costs the loop, beside what it writes down anyway: it is asked for one at most once a second.
func BenchmarkSnapshotsOf12000Jobs(b *testing.B) {
	for _, wanted := range []bool{false, true} {
		name := map[bool]string{false: "nobody looks", true: "a scene each cycle"}[wanted]
		b.Run(name, func(b *testing.B) {
			s := crowded(b, size{10_000, 2_000, 2_500})
			s.publisher.Subscriber = always(wanted)
			s.time.last = s.time.clock.Now()
			v := plan.Make(s.input())
			b.ReportAllocs()
			for b.Loop() {
				if err := s.publisher.Publish(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
