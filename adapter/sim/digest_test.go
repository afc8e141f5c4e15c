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
	writeFlag   = flag.Bool("accordion.write", false, "write the digests of 2,000 scenarios again, after an intended change of behavior")
)

const (
	digestsFile = "testdata/digests" // one line for each seed, from 1 on
	digests     = 2000
	// attemptsPerScenario is the number of times that a scenario is simulated before its digest counts
	// as different. Two events may happen at the same instant, and then either may come first.
	attemptsPerScenario = 30
)

// TestDigests checks that scenarios have the same traces as with the previous version of the sidecar. A trace has each call of the batch
// system, and each event, record, status and queue that was written, with its time. A change that must not affect behavior must not
// change the digests.
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

// everySeed calls `work` for each number from 0 to n-1, on all processors.
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

// digest returns the hash of a scenario's trace.
func digest(t *testing.T, seed uint64) string {
	out := simulate(t, generate(seed), true, true)
	divergence(out.trace, nil) // only to sort the trace
	all := sha256.New()
	for _, l := range out.trace {
		fmt.Fprintln(all, l)
	}
	fmt.Fprint(all, out.lives)
	return fmt.Sprintf("%x", all.Sum(nil)[:8])
}
