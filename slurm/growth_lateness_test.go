package slurm_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"accordion/core/hostlist"
	"accordion/slurm/growth"
)

// A growthRecord is one growth of one job. Times are Unix seconds.
type growthRecord struct {
	job     int64
	step    int     // the step that begins with the growth; steps count from 1
	planned float64 // the second planned for the growth when the step before it began
	asked   float64 // when the application requested the step
	usable  float64 // when the application had its nodes, by the job's clock
	due     float64 // when both the nodes and the application were ready; lateness counts from here
	cause   string  // what was ready last
	early   bool    // the sidecar decided on the growth before the planned second
	at      int     // the number of growths due in the same second, including this one
}

// second returns the second in which the growth was due: the planned one, or that of an early growth.
func (g growthRecord) second() int64 {
	if g.early {
		return int64(g.due)
	}
	return int64(g.planned)
}

const (
	causeSlurm       = "Slurm" // the nodes and the application were ready at the planned second
	causeOrdinary    = "ordinary overrun"
	causeShrinker    = "late shrinker"
	causeApplication = "late application"
)

// late returns how late the growth was after its planned second.
func (g growthRecord) late() float64 { return g.usable - g.planned }

// slow returns how late the growth was after the nodes and the application were ready.
func (g growthRecord) slow() float64 { return g.usable - g.due }

// judgeGrowth determines the second from which the lateness of a growth counts. Slurm's accounting has the second
// in which the last of the nodes was released. Accounting knows only whole seconds, so the time within that second
// comes from the sidecar's journal.
func judgeGrowth(e entry, before []string, usable float64, held []tenure, managed map[int64]bool) (growthRecord, error) {
	g := growthRecord{job: e.Job, step: int(number(e.Args["step"])), planned: number(e.Args["planned"]), asked: number(e.Args["asked"]), usable: usable}
	g.due, g.cause = g.planned, causeSlurm
	nodes, err := hostlist.Expand(fmt.Sprint(e.Args["nodes"]))
	if err != nil {
		return g, fmt.Errorf("job %d: nodes of %q: %w", e.Job, e.Verb, err)
	}
	added := slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(before, n) })
	ready := number(e.Args["ready"])
	if usable < g.planned { // an early growth has no planned second; the time of the first decision to grow replaces it
		g.early, g.due = true, max(g.asked, ready)
		return g, nil
	}
	released, by := lastRelease(held, added, e.Job, int64(usable))
	if float64(released) >= g.planned {
		g.due = max(g.due, min(ready, float64(released+1)))
		g.cause = causeOrdinary
		if managed[by] {
			g.cause = causeShrinker
		}
	}
	if g.asked > g.due {
		g.due, g.cause = g.asked, causeApplication
	}
	return g, nil
}

// number returns a number from the journal's JSON, or NaN if the value is not a number.
func number(v any) float64 {
	f, ok := v.(float64)
	if !ok {
		return math.NaN()
	}
	return f
}

// countTogether sets how many growths each second has.
func countTogether(all []growthRecord) {
	count := map[int64]int{}
	for _, g := range all {
		count[g.second()]++
	}
	for i := range all {
		all[i].at = count[all[i].second()]
	}
}

// quantile returns the smallest value that at least the share q of the values does not exceed.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// latenessTable formats the growths. It groups them by how many were due in the same second, and by the cause of
// their lateness.
func latenessTable(all []growthRecord) string {
	type line struct {
		at    int // 1 for single growths, 2 for several in one second
		cause string
	}
	groups := map[line][]growthRecord{}
	for _, g := range all {
		l := line{at: min(g.at, 2), cause: g.cause}
		if g.early {
			l.cause += ", early"
		}
		groups[l] = append(groups[l], g)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-18s %5s   %-27s   %s\n", "", "", "", "after the planned second", "after nodes and application were there")
	fmt.Fprintf(&b, "%-8s %-18s %5s   %8s %8s %8s    %8s %8s %8s\n", "growths", "cause", "n", "median", "95 %", "max", "median", "95 %", "max")
	for _, l := range slices.SortedFunc(maps.Keys(groups), func(a, b line) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return strings.Compare(a.cause, b.cause)
	}) {
		var late, slow []float64
		for _, g := range groups[l] {
			late, slow = append(late, g.late()), append(slow, g.slow())
		}
		fmt.Fprintf(&b, "%-8s %-18s %5d  %7.2f s %6.2f s %6.2f s   %7.2f s %6.2f s %6.2f s\n", map[int]string{1: "single", 2: "together"}[l.at], l.cause, len(late),
			quantile(late, 0.5), quantile(late, 0.95), quantile(late, 1), quantile(slow, 0.5), quantile(slow, 0.95), quantile(slow, 1))
	}
	return b.String()
}

// A bounds holds the bounds, in seconds, for one way to grow. `median` and `most` bound the median and the 95 %
// quantile of single growths. The last of k growths in one second must be within median + each·k.
type bounds struct{ median, most, each float64 }

// boundsOf holds the promised bounds for each way to grow.
var boundsOf = map[growth.Kind]bounds{growth.Merge: {median: 1, most: 2, each: 0.5}, growth.Companions: {median: 1, most: 2, each: 0.5}, growth.Overlap: {median: 2, most: 4, each: 0.75}}

// exceeded returns the bounds that the growths exceed after each bound is multiplied by `slack`. With `medianOnly`
// it checks only the median.
func exceeded(all []growthRecord, of bounds, slack float64, medianOnly bool) []string {
	var single []float64
	together := map[int64][]growthRecord{}
	for _, g := range all {
		if g.at == 1 {
			single = append(single, g.slow())
		} else {
			together[g.second()] = append(together[g.second()], g)
		}
	}
	var found []string
	bound := func(what string, got, want float64) {
		if want *= slack; got > want || math.IsNaN(got) {
			found = append(found, fmt.Sprintf("%s: %.2f s, want at most %.2f s", what, got, want))
		}
	}
	if len(single) > 0 {
		bound(fmt.Sprintf("median of %d single growths", len(single)), quantile(single, 0.5), of.median)
	}
	if medianOnly {
		return found
	}
	if len(single) > 0 {
		bound(fmt.Sprintf("95 %% of %d single growths", len(single)), quantile(single, 0.95), of.most)
	}
	for _, second := range slices.Sorted(maps.Keys(together)) {
		k, slowest := len(together[second]), together[second][0]
		for _, g := range together[second] {
			if g.slow() > slowest.slow() {
				slowest = g
			}
		}
		bound(fmt.Sprintf("last of %d growths at %d (job %d)", k, second, slowest.job), slowest.slow(), of.median+of.each*float64(k))
	}
	return found
}

func TestAGrowthCountsFromTheLastThingThatItNeeds(t *testing.T) {
	held := []tenure{
		{tenant: tenant{id: 9, submit: 0}, node: "n3", from: 50, to: 99, alone: true},   // an ordinary job that ended in time
		{tenant: tenant{id: 8, submit: 0}, node: "n4", from: 50, to: 102, alone: true},  // one that ended too late
		{tenant: tenant{id: 7, submit: 0}, node: "n5", from: 50, to: 101, alone: true},  // a managed job
		{tenant: tenant{id: 6, submit: 0}, node: "n3", from: 104, to: 120, alone: true}, // a job that came afterwards
	}
	for name, test := range map[string]struct {
		nodes        string
		asked, ready float64
		due          float64
		cause        string
	}{
		"everything was there":                  {"n[1-3]", 98, 100, 100, causeSlurm},
		"an ordinary job held on":               {"n[1-4]", 98, 102.4, 102.4, causeOrdinary},
		"… and the sidecar saw the end late":    {"n[1-4]", 98, 105, 103, causeOrdinary},
		"a shrinker was late":                   {"n[1-2],n5", 98, 101.6, 101.6, causeShrinker},
		"the application was late":              {"n[1-3]", 101.5, 101.6, 101.5, causeApplication},
		"… later than the node":                 {"n[1-2],n5", 103, 103.1, 103, causeApplication},
		"a pause in the sidecar excuses nobody": {"n[1-3]", 98, 104, 100, causeSlurm},
		"it was let go on early":                {"n[1-3]", 96.5, 97, 97, causeSlurm},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry{Job: 1, Verb: "grew", Args: map[string]any{"step": 2.0, "planned": 100.0, "asked": test.asked, "ready": test.ready, "nodes": test.nodes}}
			usable := 106.0
			if test.ready < 98 {
				usable = 97.4
			}
			g, err := judgeGrowth(e, []string{"n1", "n2"}, usable, held[:3], map[int64]bool{7: true})
			if err != nil || g.due != test.due || g.cause != test.cause {
				t.Errorf("due at %g for %s (%v), want %g for %s", g.due, g.cause, err, test.due, test.cause)
			}
		})
	}
}

func TestTheBoundsOnGrowthsAreJudged(t *testing.T) {
	growths := func(slow ...float64) []growthRecord {
		var all []growthRecord
		for i, s := range slow {
			all = append(all, growthRecord{planned: float64(i), due: float64(i), usable: float64(i) + s, cause: causeSlurm})
		}
		return all
	}
	together := func(slow ...float64) []growthRecord {
		all := growths(slow...)
		for i := range all {
			all[i].usable -= all[i].planned
			all[i].planned, all[i].due = 0, 0
		}
		return all
	}
	for name, test := range map[string]struct {
		all  []growthRecord
		want int
	}{
		"in time":                {growths(0.3, 0.4, 0.5), 0},
		"one of three late":      {growths(0.3, 0.4, 2.5), 1},
		"the median late":        {growths(0.3, 1.4, 1.5), 1},
		"all late":               {growths(2.3, 2.4, 2.5), 2},
		"three together in time": {together(0.5, 1, 2.4), 0},
		"three together late":    {together(0.5, 1, 2.6), 1},
		"a broken number":        {growths(math.NaN()), 2},
	} {
		t.Run(name, func(t *testing.T) {
			countTogether(test.all)
			if found := exceeded(test.all, boundsOf[growth.Merge], 1, false); len(found) != test.want {
				t.Errorf("%d bounds exceeded, want %d: %q", len(found), test.want, found)
			}
			if table := latenessTable(test.all); strings.Count(table, "\n") != 3 {
				t.Errorf("the table is\n%s", table)
			}
		})
	}
}
