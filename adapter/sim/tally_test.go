package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tally counts what occurred in many scenarios. If a kind of job, launcher or fault hardly ever occurs, it is not tested, even by many
// scenarios.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (y *tally) add(kind string, n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.counts == nil {
		y.counts = map[string]int{}
	}
	y.counts[kind] += n
}

// kinds returns the kinds that occurred.
func (y *tally) kinds() []string { return slices.Sorted(maps.Keys(y.counts)) }

// take counts what occurred in the simulation of a cluster.
func (y *tally) take(w *world) {
	for _, id := range w.faults {
		y.add(faultKind(id), 1)
	}
	for _, e := range w.scenario.events {
		y.add("event: "+e.what, 1)
	}
	for i := range w.scenario.apps {
		y.add("job: "+jobKind(&w.scenario.apps[i]), 1)
	}
	y.add("sidecars", len(w.stints))
	y.add("readings", w.counts["Observe "])
	y.add("virtual seconds", int(w.lasted.Seconds()))
}

// faultKind returns the kind of the fault with the given name.
func faultKind(id string) string {
	name, _, _ := strings.Cut(id, " #")
	switch {
	case strings.HasPrefix(name, "death of the loop "):
		return "killed: the loop of applications " + strings.TrimPrefix(name, "death of the loop ")
	case strings.HasPrefix(name, "death before write "):
		return "killed: a sidecar before a write"
	case strings.HasPrefix(name, "death after write "):
		return "killed: a sidecar after a write"
	}
	kind, _, _ := strings.Cut(name, " ")
	return "call: " + kind
}

// jobKind returns the kind of a job, and how it behaves.
func jobKind(a *app) string {
	switch {
	case a.request == "" && a.runs > a.limit:
		return "ordinary, past its limit"
	case a.request == "":
		return "ordinary"
	}
	kind, _, _ := strings.Cut(a.request, "=")
	return kind + ", " + string(a.manner)
}

// demand logs the counts. It fails the test if a kind occurred less often than required. The parameter
// `least` has, for each kind, the smallest number in a thousand scenarios.
func (y *tally) demand(t *testing.T, scenarios int, least map[string]int) {
	t.Helper()
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(y.counts)) {
		fmt.Fprintf(&b, "\n%9d %s", y.counts[kind], kind)
	}
	t.Logf("in %d scenarios there were:%s", scenarios, &b)
	if scenarios < 200 { // too few to expect each kind
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(least)) {
		if want := least[kind] * scenarios / 1000; y.counts[kind] < want {
			t.Errorf("%q was there %d times in %d scenarios, and should be %d times", kind, y.counts[kind], scenarios, want)
		}
	}
}

// minimumKinds is how often each kind must at least occur in a thousand scenarios. That is about half
// as often as each kind occurred when the test was written.
var minimumKinds = map[string]int{
	"call: doubled": 250, "call: failed": 250, "call: half": 250, "call: late": 250, "call: lost": 250, "call: refused": 250, "call: slow": 250, "call: unanswered": 250,
	"killed: a sidecar before a write": 700, "killed: a sidecar after a write": 700,
	"event: lost": 250, "event: drained": 120, "event: back": 400, "event: restart": 180, "event: kill": 250, "event: shrink": 90,
	"job: ordinary": 700, "job: ordinary, past its limit": 150, "job: ep, punctual": 700, "job: mold, punctual": 200,
	"job: ep, silent": 60, "job: ep, impatient": 60, "job: ep, choosy": 60, "job: ep, confused": 60, "job: ep, failing": 60,
	"job: mold, silent": 15, "job: mold, impatient": 15, "job: mold, choosy": 15, "job: mold, confused": 15, "job: mold, failing": 15,
}

// minimumKindsWithLaunchers is the same as minimumKinds, for scenarios in which the loop of
// applications gives the orders.
var minimumKindsWithLaunchers = with(minimumKinds, map[string]int{
	"killed: the loop of applications before a write": 80, "killed: the loop of applications after a write": 80, "killed: the loop of applications before its words": 80,
	"application: commit": 600, "application: go": 500, "application: abort": 500, "application: lost": 60,
	"application: ended, silent": 50, "application: ended, overrun": 150,
	"launcher: honest": 500, "launcher: lying": 60, "launcher: fickle": 60, "launcher: doubled": 60, "launcher: fleeting": 60, "launcher: mute": 60,
	"launcher: dying": 60, "launcher: withdrawn": 60,
	"launcher: a lie refused, hosts": 30, "launcher: a lie refused, cluster": 20, "launcher: a lie refused, walltime": 20, "launcher: a lie refused, view": 25,
	"launcher: a lie refused, state": 20, "launcher: a lie refused, type": 10, "launcher: a lie refused, job": 5,
	"part: prompt": 600, "part: late": 15, "part: stuck": 15, "part: broken": 15, "part: torn": 15,
})

// with returns the union of both maps.
func with(a, b map[string]int) map[string]int {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
