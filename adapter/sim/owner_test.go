package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ownersShrink adds to a scenario that the owner of each application shrinks it by hand,
// repeatedly: also within seconds of a change by the sidecar, and while no sidecar runs. The batch
// system does not restart in these scenarios, because accounting is not judged after a restart.
func ownersShrink(s *scenario) *scenario {
	random := rand.New(rand.NewPCG(s.seed, 1))
	s.events = slices.DeleteFunc(s.events, func(e event) bool { return e.what == "restart" })
	for _, a := range s.apps {
		for at := a.at; at < s.calm; at += time.Duration(random.IntN(12000)) * time.Millisecond {
			s.events = append(s.events, event{at: at, what: "shrink", who: a.name})
		}
	}
	slices.SortStableFunc(s.events, func(a, b event) int { return int(a.at - b.at) })
	return s
}

// `accordion audit` accepts that owners shrink their jobs. The test simulates a tenth as many
// scenarios as -accordion.seeds, but at least 400.
func TestAuditAcceptsShrinksByOwners(t *testing.T) {
	n := uint64(max(*seedsFlag/10, min(*seedsFlag, 400)))
	next := &atomic.Uint64{}
	next.Store(*fromFlag)
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("worker ", worker+1), func(t *testing.T) {
			t.Parallel()
			for seed := next.Add(1) - 1; seed < *fromFlag+n; seed = next.Add(1) - 1 {
				for _, wrong := range simulate(t, ownersShrink(generate(seed)), true, false).wrong {
					if strings.Contains(wrong, "audit: ") {
						t.Errorf("seed %d: %s", seed, wrong)
					}
				}
			}
		})
	}
}
