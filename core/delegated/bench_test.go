package delegated_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// crowd returns an RMS with waiting requests as in the paper's figures: of any size, some on several clusters.
func crowd(b testing.TB, board delegated.Board, waiting, clusters int) *delegated.RMS {
	b.Helper()
	random := rand.New(rand.NewPCG(1, uint64(waiting)))
	r := delegated.New(slices.Repeat([]int{128}, clusters), delegated.Options{FairStart: 5, Timer: 1}, board)
	for id := range core.JobID(waiting) {
		_, err := r.Subscribe(0, id)
		must(b, err)
		q := moldable.Request{Walltime: 100 + random.Int64N(50_000)}
		first := random.IntN(clusters)
		for c := first; c < clusters && (c == first || random.IntN(10) == 0); c++ {
			q.Parts = append(q.Parts, moldable.Part{Cluster: c, Hosts: 1 + random.IntN(127)})
		}
		must(b, r.Request(0, id, q))
	}
	_, err := r.Wake(0)
	must(b, err)
	return r
}

// BenchmarkPass measures a pass of the RMS without launchers: "quiet" if no view changes, "loud" if all views change.
func BenchmarkPass(b *testing.B) {
	for _, size := range []struct{ waiting, clusters int }{{200, 1}, {200, 8}, {2000, 1}, {2000, 8}} {
		for _, loud := range []bool{false, true} {
			b.Run(fmt.Sprintf("waiting=%d/clusters=%d/loud=%v", size.waiting, size.clusters, loud), func(b *testing.B) {
				r := crowd(b, &delegated.Indexed{}, size.waiting, size.clusters)
				var outside []delegated.Stretch
				for c := range size.clusters {
					outside = append(outside, delegated.Stretch{Cluster: c, To: core.MaxTotal / 2, Hosts: 1})
				}
				now := core.Time(0)
				b.ReportAllocs()
				for b.Loop() {
					now++
					if loud {
						for c := range outside {
							outside[c].To = core.MaxTotal/2 + now%2*1000
						}
					}
					must(b, r.Occupy(now, outside))
					if _, err := r.Wake(now); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
