package sim

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	freshFlag     = flag.Int("accordion.fresh", 0, "how many scenarios of new seeds to simulate (test FreshSeeds); of rarer kinds fewer")
	freshFromFlag = flag.Uint64("accordion.freshfrom", 0, "the first of these seeds; 0: the clock chooses it")
	freshKindFlag = flag.String("accordion.freshkind", "", "only scenarios of this test's kind")
	redsFlag      = flag.String("accordion.reds", filepath.Join(os.TempDir(), "accordion-red-seeds"), "the file to which failing new seeds are appended")
)

// kind is a kind of scenarios, which one test simulates.
type kind struct {
	test string
	rare int // TestFreshSeeds simulates one scenario of the kind for each `rare` seeds
	tell func(t *testing.T, seed uint64) (wrong []string)
}

// kinds returns all kinds of scenarios.
func kinds() []kind {
	return append([]kind{
		{"TestSeeds", 1, func(t *testing.T, seed uint64) []string { return tryScenario(t, generate(seed)) }},
		{"TestTwoSidecarsNeverActInTheSameLease", 40, func(t *testing.T, seed uint64) []string { return rivals(t, seed, true).wrong }},
	}, kindsOfApplications...)
}

// kindsOfApplications are the kinds of scenarios with applications. parts_test.go sets them.
var kindsOfApplications []kind

// TestSeedsThatWereRedOnce simulates the scenarios in testdata/seeds, which failed once.
func TestSeedsThatWereRedOnce(t *testing.T) {
	file, err := os.Open("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tells := map[string]kind{}
	for _, k := range kinds() {
		tells[k.test] = k
	}
	told := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		k, known := tells[words[0]]
		seed, err := strconv.ParseUint(words[min(1, len(words)-1)], 10, 64)
		if !known || err != nil {
			t.Fatalf("testdata/seeds: %q: want a test, a seed, and what was wrong", lines.Text())
		}
		told++
		for _, wrong := range k.tell(t, seed) {
			t.Errorf("%s: seed %d: %s", k.test, seed, wrong)
		}
	}
	if told < 20 {
		t.Errorf("only %d scenarios were simulated", told)
	}
}

// TestFreshSeeds simulates scenarios of new seeds. It prints each seed that fails, and records the seed
// in a file, but the test passes. A new seed may fail because of an old fault, and so does not show
// that the last change was wrong. Each kind of scenarios has its own process. A process that dies is
// also recorded.
//
//	go test ./adapter/sim -run FreshSeeds -accordion.fresh=2000                 as ./scripts/test --real does
//	go test ./adapter/sim -run FreshSeeds -accordion.fresh=2000 -accordion.freshfrom=4711 -accordion.freshkind=TestSeeds
func TestFreshSeeds(t *testing.T) {
	if *freshFlag == 0 {
		t.Skip("simulates scenarios of new seeds: say how many with -accordion.fresh=N")
	}
	from := *freshFromFlag
	if from == 0 {
		from = uint64(time.Now().UnixMilli())
	}
	for _, k := range kinds() {
		if *freshKindFlag != "" && *freshKindFlag != k.test {
			continue
		}
		n := max(*freshFlag/k.rare, 1)
		begin := time.Now()
		reds := freshReds(t, k.test, from, n)
		text := fmt.Sprintf("%s: %d fresh seeds from %d, %d red, %.0f s\n", k.test, n, from, seedsOf(reds), time.Since(begin).Seconds())
		if len(reds) > 0 {
			text += strings.Join(reds, "\n") + "\n"
			keepSeeds(t, reds)
		}
		t.Log(text)
		afterwards.WriteString(text)
	}
}

// seedsOf returns the number of different seeds in the lines.
func seedsOf(reds []string) int {
	seeds := map[string]bool{}
	for _, red := range reds {
		seed, _, _ := strings.Cut(red, ":")
		seeds[seed] = true
	}
	return len(seeds)
}

// afterwards has text that TestMain prints after all tests. It is needed, because `go test` does not show the output of a passing test.
var afterwards bytes.Buffer

// keepSeeds appends the failing seeds to their file.
func keepSeeds(t *testing.T, reds []string) {
	file, err := os.OpenFile(*redsFlag, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	for _, red := range reds {
		if _, err := fmt.Fprintln(file, red); err != nil {
			t.Error(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(&afterwards, "the red ones are kept in %s\n", *redsFlag)
}

// freshReds simulates n scenarios of the kind `test` in another process, and returns a line for each scenario that failed.
func freshReds(t *testing.T, test string, from uint64, n int) (reds []string) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-test.run=^TestTellsFreshSeeds$", "-test.timeout=0",
		"-accordion.fresh="+strconv.Itoa(n), "-accordion.freshfrom="+strconv.FormatUint(from, 10), "-accordion.freshkind="+test)
	c.Env = append(os.Environ(), tellsFresh+"=1")
	out, err := c.CombinedOutput()
	ended := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if red, is := strings.CutPrefix(line, redPrefix); is {
			reds = append(reds, test+" "+red)
		}
		ended = ended || line == endPrefix
	}
	if !ended {
		reds = append(reds, fmt.Sprintf("%s %d: the process that simulated %d scenarios from this one on died: %v: %s", test, from, n, err, tail(out)))
	}
	return reds
}

const (
	tellsFresh = "ACCORDION_TELLS_FRESH_SEEDS" // environment variable that is set in the process that simulates one kind
	redPrefix  = "red seed "
	endPrefix  = "all fresh seeds are told"
)

// tail returns the last kilobytes of an output as a single line.
func tail(out []byte) string {
	return strings.Join(strings.Fields(string(out[max(0, len(out)-4000):])), " ")
}

// TestTellsFreshSeeds simulates the scenarios of one kind, in the process that freshReds starts.
func TestTellsFreshSeeds(t *testing.T) {
	if os.Getenv(tellsFresh) == "" {
		t.Skip("is a part of TestFreshSeeds: -accordion.fresh=N")
	}
	for _, k := range kinds() {
		if k.test != *freshKindFlag {
			continue
		}
		var one sync.Mutex
		everySeed(*freshFlag, func(i int) {
			seed := *freshFromFlag + uint64(i)
			wrong := k.tell(t, seed)
			one.Lock()
			defer one.Unlock()
			for _, w := range wrong {
				fmt.Printf("%s%d: %s\n", redPrefix, seed, strings.ReplaceAll(w, "\n", " "))
			}
		})
		fmt.Println(endPrefix)
	}
}
