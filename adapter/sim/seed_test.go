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
	seedFlag   = flag.Uint64("accordion.seed", 0, "tell this one scenario in full (test Seed)")
	seedsFlag  = flag.Int("accordion.seeds", 1000, "how many scenarios to simulate")
	fromFlag   = flag.Uint64("accordion.from", 1, "the first of them")
	wholeFlag  = flag.Bool("accordion.whole", false, "tell the whole scenario, and not the smallest that goes wrong")
	sizesFlag  = flag.String("accordion.sizes", policy.DefaultSizes, "the rule for the sizes of moldable jobs; the digests are those of the default")
	policyFlag = flag.String("accordion.policy", "", "the policy of all scenarios; the seed chooses one unless you say so, and the digests are those of its choice")
	longFlag   = flag.Bool("accordion.long", false, "a million scenarios, and 100,000 of applications over two clusters")
)

// TestSeeds lets the scenarios of many seeds happen.
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

// try lets a scenario happen, and says what was wrong with it.
func tryScenario(t *testing.T, s *scenario) []string {
	out := simulate(t, s, true, false)
	if s.paired {
		out.wrong = append(out.wrong, s.delayed(out, simulate(t, s.withoutManaged(out), false, false).starts)...)
	}
	return out.wrong
}

// TestSeed tells one scenario in full; when it goes wrong, the smallest that still does.
func TestSeed(t *testing.T) {
	if *seedFlag == 0 {
		t.Skip("tells one scenario in full: give its seed with -accordion.seed=N")
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

// lifeOf is what a job held, and how it ended.
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
