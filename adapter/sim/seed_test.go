package sim

import (
	"flag"
	"fmt"
	"testing"
)

var (
	seedFlag  = flag.Uint64("accordion.seed", 0, "tell this one story in full (test Seed)")
	seedsFlag = flag.Int("accordion.seeds", 400, "how many stories to simulate")
	fromFlag  = flag.Uint64("accordion.from", 1, "the first of them")
	longFlag  = flag.Bool("accordion.long", false, "a million stories")
)

func TestSeeds(t *testing.T) {
	n := uint64(*seedsFlag)
	if *longFlag {
		n = 1_000_000
	}
	for seed := *fromFlag; seed < *fromFlag+n; seed++ {
		out := happen(t, tell(seed), true, false)
		for _, wrong := range out.wrong {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}

func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("give a seed: -accordion.seed=N")
	}
	s := tell(*seedFlag)
	out := happen(t, s, true, true)
	fmt.Println(s)
	fmt.Println(out.trace)
	for _, wrong := range out.wrong {
		t.Error(wrong)
	}
	fmt.Println("lasted", out.lasted)
}
