package paper

import (
	"math/rand/v2"

	"accordion/core"
)

// Nodes is the size of the experiment's machine. The papers do not state it; 100 nodes reproduce their means.
const Nodes = 100

// Seed is the seed of the figures in our documentation.
const Seed = 2011

// Applications draws one test of the experiment of CoreGRID 2011 and RR-7205, section 5.1 in both: 15 to 20 applications of 1 to 10 steps of
// 500 to 3600 seconds and 1 to 75 nodes, all uniform. A test depends only on the seed and its number, so that tests can be drawn in any
// order.
func Applications(seed uint64, test int) []core.EP {
	random := rand.New(rand.NewPCG(seed, uint64(test)))
	eps := make([]core.EP, 15+random.IntN(6))
	for i := range eps {
		eps[i] = make(core.EP, 1+random.IntN(10))
		for j := range eps[i] {
			eps[i][j] = core.Step{Duration: 500 + random.Int64N(3101), Nodes: 1 + random.IntN(75)}
		}
	}
	return eps
}
