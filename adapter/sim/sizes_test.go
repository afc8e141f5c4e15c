package sim

import (
	"fmt"
	"testing"
	"time"

	"accordion/core/sizing"
)

// switchingSizes returns the seed's scenario with more moldable jobs, and with more deaths of the
// sidecar. Each process of the sidecar uses another rule for the sizes than the process before it.
func switchingSizes(seed uint64) *scenario {
	r := newGenerator(seed, 0x512e)
	s := generate(seed)
	s.sizes = sizing.Names()
	r.Shuffle(len(s.sizes), func(i, k int) { s.sizes[i], s.sizes[k] = s.sizes[k], s.sizes[i] })
	for i := range r.between(1, 3) {
		a := app{name: fmt.Sprintf("s%d", i+1), at: r.when(10, 40), manner: punctual, limit: 3600}
		request, ep := s.moldable(r)
		a.request, a.nodes = request, ep[0].Nodes
		a.work = []time.Duration{time.Duration(ep[0].Duration)*time.Second - r.when(0, 2)}
		s.apps = append(s.apps, a)
	}
	for range r.between(1, 3) {
		s.events = append(s.events, event{at: r.when(5, 80), what: "kill", lasts: r.when(1, 10)})
	}
	s.arrange()
	return s
}

// TestPromisesStandWhenSizesAreSwitched simulates scenarios in which the rule for the sizes of moldable jobs changes while jobs wait and
// run. All checks of other scenarios apply: promises must be kept, and every job must end.
func TestPromisesStandWhenSizesAreSwitched(t *testing.T) {
	n := 60
	if *longFlag {
		n = 100_000
	}
	everySeed(n, func(i int) {
		s := switchingSizes(*fromFlag + uint64(i))
		for _, wrong := range tryScenario(t, s) {
			t.Errorf("seed %d, sizes %v: %s", s.seed, s.sizes, wrong)
		}
	})
}
