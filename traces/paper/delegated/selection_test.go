package delegated

import (
	"math/rand/v2"
	"testing"
)

// The test tries all vectors of hosts within what is offered.
func TestNothingIsQuickerThanAllHostsOfAGroup(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(3, seed))
		clusters, most := 1+random.IntN(5), 3
		if random.IntN(4) == 0 {
			clusters, most = 1+random.IntN(MaxClusters), 1
		}
		j := Job{Kind: CEM, Factor: 1 + random.Float64(), W: float64(1 + random.IntN(1000)), Iterations: float64(random.IntN(20_000))}
		offered, some := make([]int, clusters), false
		for c := range offered {
			offered[c] = random.IntN(most + 1)
			some = some || offered[c] > 0
		}
		if !some {
			offered[0] = 1
		}
		best := -1.0
		vector := make([]int, clusters)
		for next := 0; next < clusters; {
			for next = 0; next < clusters; next++ { // next vector
				if vector[next]++; vector[next] <= offered[next] {
					break
				}
				vector[next] = 0
			}
			if next < clusters {
				if took := j.several(vector); best < 0 || took < best {
					best = took
				}
			}
		}
		taken, walltime := j.selection(clusters)(offered)
		if took := j.several(taken); took > best+2e-9 || walltime != j.walltime(took) {
			t.Fatalf("seed %d: of %v hosts %v are taken, for %g s: %g s can be had", seed, offered, taken, took, best)
		}
	}
}
