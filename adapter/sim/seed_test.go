package sim

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

var (
	seedFlag  = flag.Uint64("accordion.seed", 0, "tell this one story in full (test Seed)")
	seedsFlag = flag.Int("accordion.seeds", 400, "how many stories to simulate")
	fromFlag  = flag.Uint64("accordion.from", 1, "the first of them")
	longFlag  = flag.Bool("accordion.long", false, "a million stories")
)

// TestSeeds lets the stories of many seeds happen.
func TestSeeds(t *testing.T) {
	n := uint64(*seedsFlag)
	if *longFlag {
		n = 1_000_000
	}
	next := &atomic.Uint64{}
	next.Store(*fromFlag)
	for worker := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("worker ", worker+1), func(t *testing.T) {
			t.Parallel()
			for {
				seed := next.Add(1) - 1
				if seed >= *fromFlag+n {
					return
				}
				for _, wrong := range happen(t, tell(seed), true, false).wrong {
					t.Errorf("seed %d: %s", seed, wrong)
				}
			}
		})
	}
}

// TestSeed tells one story in full.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("tells one story in full: give its seed with -accordion.seed=N")
	}
	s := tell(*seedFlag)
	out := happen(t, s, true, true)
	t.Logf("%v\n%s", s, out.trace)
	for _, wrong := range out.wrong {
		t.Error(wrong)
	}
}
