package sim

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	digestsFlag = flag.Int("accordion.digests", 200, "how many scenarios to compare with their digests, at most 2,000")
	writeFlag   = flag.Bool("accordion.write", false, "write the digests of 2,000 scenarios anew: what the sidecar does changed, and should have")
)

const (
	digestsFile = "testdata/digests" // a line for each seed from 1 on
	digests     = 2000
	// tellings is how often a scenario is told before it counts as another one: where two things happen at one instant, either
	// may be seen first.
	attemptsPerScenario = 30
)

// TestDigests compares whole scenarios with those of before: each call of the batch system, each line of the journal, each
// record, view and queue that was written, at its instant. A change that should change nothing leaves them as they are.
func TestDigests(t *testing.T) {
	if *writeFlag {
		got := make([]string, digests)
		everySeed(digests, func(i int) { got[i] = digest(t, uint64(i+1)) })
		if err := os.WriteFile(digestsFile, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(digestsFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(text))
	everySeed(min(*digestsFlag, len(want)), func(i int) {
		for range attemptsPerScenario {
			if digest(t, uint64(i+1)) == want[i] {
				return
			}
		}
		t.Errorf("seed %d: something else happens than before; -accordion.seed=%d tells it in full", i+1, i+1)
	})
}

// everySeed runs the work for each number below n, on all processors.
func everySeed(n int, work func(i int)) {
	next := &atomic.Int64{}
	var crew sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		crew.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	crew.Wait()
}

// digest is the hash of a scenario.
func digest(t *testing.T, seed uint64) string {
	out := simulate(t, generate(seed), true, true)
	divergence(out.trace, nil) // sorts it
	all := sha256.New()
	for _, l := range out.trace {
		fmt.Fprintln(all, l)
	}
	fmt.Fprint(all, out.lives)
	return fmt.Sprintf("%x", all.Sum(nil)[:8])
}
