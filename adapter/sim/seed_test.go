package sim

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"accordion/adapter/embedded"
	"accordion/core/policy"
)

var (
	seedFlag   = flag.Uint64("accordion.seed", 0, "simulate this one scenario and print its trace (test Seed)")
	seedsFlag  = flag.Int("accordion.seeds", 1000, "how many scenarios to simulate")
	fromFlag   = flag.Uint64("accordion.from", 1, "the first of them")
	wholeFlag  = flag.Bool("accordion.whole", false, "print the whole scenario, not the smallest that fails")
	sizesFlag  = flag.String("accordion.sizes", policy.DefaultSizes, "the rule for the sizes of moldable jobs; the digests are those of the default")
	policyFlag = flag.String("accordion.policy", "", "the policy of all scenarios; the seed chooses one unless you say so, and the digests are those of its choice")
	longFlag   = flag.Bool("accordion.long", false, "a million scenarios, and 100,000 of applications over two clusters")
)

// TestSeeds simulates the scenarios of many seeds.
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
				for _, wrong := range tryScenario(t, generate(seed)) {
					t.Errorf("seed %d: %s", seed, wrong)
				}
			}
		})
	}
}

// tryScenario simulates a scenario and returns violations. If the scenario is paired, it also simulates the scenario without managed jobs.
func tryScenario(t *testing.T, s *scenario) []string {
	out := simulate(t, s, true, false)
	if s.paired {
		out.wrong = append(out.wrong, s.delayed(out, simulate(t, s.withoutManaged(out), false, false).starts)...)
	}
	return out.wrong
}

// TestSeed simulates one scenario and prints its trace. If it fails, it prints the smallest scenario that still fails.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("prints one scenario: give its seed with -accordion.seed=N")
	}
	s := generate(*seedFlag)
	wrong := tryScenario(t, s)
	if len(wrong) > 0 && !*wholeFlag {
		t.Logf("The whole scenario is %v", s)
		s = smallest(t, s)
		wrong = tryScenario(t, s)
	}
	var b strings.Builder
	out := simulate(t, s, true, true)
	for _, l := range out.trace {
		fmt.Fprintln(&b, l)
	}
	b.WriteString("The jobs:\n" + out.lives)
	if s.paired {
		b.WriteString("The jobs where there are no managed ones:\n" + simulate(t, s.withoutManaged(out), false, true).lives)
	}
	t.Logf("%v\n%s", s, &b)
	for _, w := range wrong {
		t.Error(w)
	}
}

// lifeOf describes which nodes a job held, and how it ended.
func (w *world) lifeOf(r embedded.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.3f-%.3f job %d", r.Start.Sub(w.begin).Seconds(), r.End.Sub(w.begin).Seconds(), r.ID)
	if a := w.apps[r.Key]; a != nil {
		b.WriteString(" (" + a.name + ")")
	}
	for _, s := range r.Spans {
		fmt.Fprintf(&b, ", %s until %.3f", s.Node, s.To.Sub(w.begin).Seconds())
	}
	return b.String() + ": " + r.Why + "\n"
}
