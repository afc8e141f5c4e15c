package adaptive

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/traces/paper/chart/charttest"
)

var lengthy = flag.Bool("accordion.long", false, "all claims, with two seeds")

func TestVerdictsFollowTheirRules(t *testing.T) {
	open := math.NaN()
	for _, c := range []struct {
		what string
		rule rule
		e    estimate
		want Verdict
	}{
		{"nobody printed it", none, estimate{Mean: 1, Half: .1}, ""},
		{"not 10 % off", near(.5), estimate{Mean: .549, Half: .01}, Holds},
		{"more than 10 % off", near(.5), estimate{Mean: .56, Half: .01}, Not},
		{"within the interval", near(.5), estimate{Mean: .7, Half: .2}, Holds},
		{"beyond it", near(.5), estimate{Mean: .72, Half: .2}, Not},
		{"one seed", near(.5), estimate{Mean: .56, Half: open}, Not},
		{"met", exactly(12, .8), estimate{Mean: 12.7, Half: 5}, Holds},
		{"an interval does not help", exactly(12, .8), estimate{Mean: 12.9, Half: 5}, Not},
		{"in a range", between(.4, .5), estimate{Mean: .45, Half: open}, Holds},
		{"with its interval", between(.4, .5), estimate{Mean: .53, Half: .03}, Holds},
		{"above", between(.4, .5), estimate{Mean: .54, Half: .03}, Not},
		{"without an upper end", words("more", 1, math.Inf(1)), estimate{Mean: 400, Half: .1}, Holds},
		{"better beyond the interval", better, estimate{Mean: .9, Half: .05}, Holds},
		{"better within it", better, estimate{Mean: .9, Half: .1}, Not},
		{"worse within the interval", notWorse, estimate{Mean: 1.04, Half: .05}, Holds},
		{"worse beyond it", notWorse, estimate{Mean: 1.06, Half: .05}, Not},
		{"a range that cannot be", between(.3, .4).impossible(.4, .6), estimate{Mean: .35, Half: .1}, Contradicts},
		{"a range that can", between(.3, .4).impossible(.4, .4), estimate{Mean: .35, Half: .1}, Holds},
	} {
		if got := c.rule.judge(c.e); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestClaimsThatNoReadingMeetsTogetherContradict(t *testing.T) {
	rows := func(verdicts ...Verdict) []Row {
		return []Row{
			{ID: "a", Reading: "P", Verdict: verdicts[0]}, {ID: "b", Reading: "P", Verdict: verdicts[1]},
			{ID: "a", Reading: "F", Verdict: verdicts[2]}, {ID: "b", Reading: "F", Verdict: verdicts[3]}, {ID: "c", Verdict: Not},
		}
	}
	verdicts := func(rows []Row) (all []Verdict) {
		for _, r := range rows {
			all = append(all, r.Verdict)
		}
		return all
	}
	for _, c := range []struct{ before, want []Verdict }{
		{[]Verdict{Holds, Not, Not, Holds}, []Verdict{Contradicts, Contradicts, Contradicts, Contradicts, Not}},
		{[]Verdict{Holds, Holds, Not, Holds}, []Verdict{Holds, Holds, Not, Holds, Not}},
	} {
		if diff := cmp.Diff(c.want, verdicts(exclude(rows(c.before...), "a", "b"))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.before, diff)
		}
	}
}

func TestEveryApproachIsKnown(t *testing.T) {
	s := sizing.Statistics{Nodes: [sizing.Classes]float64{1, 1, 1}, Seconds: [sizing.Classes]float64{1, 1, 1}}
	s.Arrivals[0][0] = 1
	needs, _ := Experiment{Seeds: 1, Seed: 1, Readings: true}.plan(Names)
	for setting, some := range needs {
		for _, a := range some {
			if p, err := a.policy(&s); err != nil || p.String() != string(a) {
				t.Errorf("%v: %s is %v, error %v", setting, a, p, err)
			}
		}
	}
	for _, name := range onReal {
		if _, err := policy.Named(name, sched.FirstCome); err != nil {
			t.Error(err)
		}
	}
}

// Depending on the interpretation of the paper, SCOJO-P knows the arrivals that it counted itself, the counts
// of its own workload, or the counts of other workloads.
func TestStatisticsOfEachReading(t *testing.T) {
	w, err := w1.plain(500, 1)
	if err != nil {
		t.Fatal(err)
	}
	file, err := w.Arrivals(0)
	if err != nil {
		t.Fatal(err)
	}
	var others sizing.Statistics
	for a, want := range map[approach]*sizing.Statistics{scojo: &others, share: &others, "bad 1": &others, learned: nil, counted: &file.Statistics} {
		if got, err := a.knows(&others, &w); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s knows %v, want %v; error %v", a, got, want, err)
		}
	}
}

// With bounds, a load that cannot be reached ends the search after some bad modifiers. Without bounds each next modifier is a little better.
func TestModifierGrowsWithoutBounds(t *testing.T) {
	others, err := w1.statistics(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := w1.run(1000, 1, []approach{scojo, unbounded}, others)
	if err != nil {
		t.Fatal(err)
	}
	with, without := runs.modified[scojo], runs.modified[unbounded]
	if without.modifier[all] < 2*with.modifier[all] || without.trials[all] < 10*with.trials[all] {
		t.Errorf("modifiers are %v, tried %v; without bounds %v, %v", with.modifier[all], with.trials[all], without.modifier[all], without.trials[all])
	}
}

// A figure has an SVG, and one bar for each approach and group. The bars are the same in every run.
func TestFigureHasABarPerApproachAndGroup(t *testing.T) {
	make := func() *Data {
		d, err := Experiment{Seeds: 2, Seed: 3, jobs: 1000}.Run(context.Background(), "fig4", "fig7")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := make()
	rows := d.Rows()
	if want := len(shown) * (classes + 3*categories); len(rows) != want {
		t.Fatalf("%d bars, want %d", len(rows), want)
	}
	if diff := cmp.Diff(rows, make().Rows(), cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Errorf("another run is another:\n%s", diff)
	}
	for _, r := range rows {
		if r.Printed != nil || r.Verdict != "" || r.Half == nil || r.Seeds != 2 {
			t.Errorf("%+v", r)
		}
	}
	jobs := 0.0
	for _, r := range rows {
		if strings.HasPrefix(r.ID, "fig7.traditional") {
			jobs += r.Mean
		}
	}
	if jobs != 900 {
		t.Errorf("the histograms have %v jobs", jobs)
	}
	files := map[string]bool{}
	for _, chart := range d.Charts() {
		var out bytes.Buffer
		if err := chart.Write(&out); err != nil || !strings.Contains(out.String(), "<svg") {
			t.Errorf("%s: %d bytes, error %v", chart.File, out.Len(), err)
		}
		for _, fault := range charttest.Faults(out.Bytes()) {
			t.Errorf("%s: %s", chart.File, fault)
		}
		files[chart.File] = true
	}
	if want := map[string]bool{"figure-4.svg": true, "figure-7a.svg": true, "figure-7b.svg": true, "figure-7c.svg": true}; !cmp.Equal(files, want) {
		t.Errorf("files %v", files)
	}
	if text := d.Text(); !strings.Contains(text, "no printed value") || !strings.Contains(text, "Figure 7: responses of long jobs") {
		t.Error(text)
	}
}

// This test checks the claims that follow from the paper's own formulas. The classes are checked in package
// model.
func TestClaimsWithoutRunsHold(t *testing.T) {
	for _, r := range (&Data{}).curve() {
		if want := Holds; r.Verdict != want && r.Metric != "σ of 4 nodes" { // that row is an error in the paper
			t.Errorf("%s %s %s: %v, printed %v: %s", r.ID, r.Metric, r.Class, r.Mean, *r.Printed, r.Verdict)
		}
	}
}

// Downey jobs have the mean reference and the classes of the paper. The bounds of the parallelism were fitted
// to the mean.
func TestDowneyReferencesHaveThePublishedMean(t *testing.T) {
	var all []drawn
	for seed := range uint64(4) {
		w, err := downey.plain(2000, seed+1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, downey.look(w, seed+1))
	}
	d := &Data{drawn: map[setting][]drawn{downey: all}}
	for _, c := range []struct {
		class          int
		printed, share float64
	}{{0, 69, 100}, {short, 0, 61}, {medium, 0, 28}, {long, 0, 11}} {
		share := d.known("", downey, "", c.class, exactly(c.share, 2), func(k drawn) float64 { return k.shares[c.class] })
		nodes := d.known("", downey, "", c.class, exactly(c.printed, 2), func(k drawn) float64 { return k.nodes[c.class] })
		if share.Verdict != Holds || c.printed > 0 && nodes.Verdict != Holds {
			t.Errorf("class %s: %v %% of the jobs, %v nodes; printed are %v, %v", classNames[c.class], share.Mean, nodes.Mean, c.share, c.printed)
		}
	}
}

// The smallest sizes of Downey jobs are those with an efficiency of .9, if there are such sizes.
func TestJobsWithAFloorListNoMoreEfficientSizes(t *testing.T) {
	plain, err := floors.plain(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	before, after := downey.mold(plain, 1), floors.mold(plain, 1)
	cut := 0
	for i := range after.Jobs {
		b, a := &before.Jobs[i], &after.Jobs[i]
		s := sizing.New(core.Job{Choices: b.Choices}, sizing.AsListed)
		if s.Class() == sizing.Short {
			if len(a.Choices) != len(b.Choices) {
				t.Fatalf("short job %d lost sizes", a.Number)
			}
			continue
		}
		if len(a.Choices) < len(b.Choices) {
			cut++
		}
		efficiency := func(k int) float64 {
			return float64(b.Runs[0]) / float64(b.Runs[k]) / float64(b.Choices[k].Peak())
		}
		for k, ep := range b.Choices {
			if ep.Peak() > a.Choices[0].Peak() && efficiency(k) >= .9 {
				t.Fatalf("job %d has %d nodes at least, and an efficiency of %v on %d", a.Number, a.Choices[0].Peak(), efficiency(k), ep.Peak())
			}
		}
	}
	if cut == 0 {
		t.Error("no job lost a size")
	}
}

// All claims can be computed and written; with -accordion.long.
func TestEveryClaimHasAFigure(t *testing.T) {
	if !*lengthy {
		t.Skip("runs for minutes: -accordion.long")
	}
	d, err := Experiment{Seeds: 2, Seed: 5, Readings: true}.Run(context.Background(), Claims)
	if err != nil {
		t.Fatal(err)
	}
	rows := append(d.Claims(), d.Readings()...)
	if _, err := json.Marshal(rows); err != nil {
		t.Error(err)
	}
	for _, r := range rows {
		if math.IsNaN(r.Mean) || r.Printed != nil && r.Verdict == "" {
			t.Errorf("%+v", r)
		}
	}
}
