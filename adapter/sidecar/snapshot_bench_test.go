package sidecar

import (
	"testing"

	"accordion/adapter/plan"
	"accordion/adapter/view"
)

// alwaysWants is a subscriber that wants every snapshot.
type alwaysWants bool

func (a alwaysWants) WantsSnapshot() bool    { return bool(a) }
func (a alwaysWants) Receive(*view.Snapshot) {}

// BenchmarkSnapshotsOf12000Jobs measures how much time a snapshot for browsers costs the loop, in
// addition to what the loop writes anyway. There is at most one snapshot per second.
func BenchmarkSnapshotsOf12000Jobs(b *testing.B) {
	for _, wanted := range []bool{false, true} {
		name := map[bool]string{false: "not wanted", true: "a snapshot each cycle"}[wanted]
		b.Run(name, func(b *testing.B) {
			s := crowded(b, size{10_000, 2_000, 2_500})
			s.publisher.Subscriber = alwaysWants(wanted)
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
