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

// ownersShrink adds events to a scenario in which owners shrink their jobs by hand, repeatedly. Some of
// these events are within seconds of a change by the sidecar, or while no sidecar runs. ownersShrink
// also removes restarts of the batch system, because accounting cannot be judged after a restart.
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

// `accordion audit` must accept that owners shrink their jobs. The test simulates a tenth as many
// scenarios as -accordion.seeds requests, but at least 400 if that many are requested.
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
