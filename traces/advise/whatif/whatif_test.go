package whatif

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/advise"
	"accordion/traces/replay"
	"accordion/traces/workload"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func named(name string) policy.Policy {
	p, err := policy.Named(name, sched.FirstCome)
	if err != nil {
		panic(err)
	}
	return p
}

// run returns a job on this many nodes, whose steps run one after the other on the first of its nodes.
func run(name string, k int, submit, start core.Time, held int, steps ...core.Step) advise.Run {
	r := advise.Run{ID: fmt.Sprint(name, k), User: "ada", Name: name, Submit: submit, Start: start, Requested: held, Held: held, Completed: true, Script: -1}
	at := start
	for _, s := range steps {
		nodes := make([]int32, s.Nodes)
		for i := range nodes {
			nodes[i] = int32(i)
		}
		r.Steps = append(r.Steps, advise.Step{From: at, To: at + s.Duration, Nodes: nodes})
		at += s.Duration
	}
	r.End, r.Limit = at, 2*(at-start)
	return r
}

// busy returns some weeks of jobs on 8 nodes, without randomness: jobs that waste nodes, jobs that do not, and jobs that ran on several
// sizes.
func busy(n int) []advise.Run {
	var all []advise.Run
	for k := range n {
		at := core.Time(k) * 4000
		jitter := core.Time(k % 7)
		all = append(all,
			run("mesh", k, at, at, 8, core.Step{Duration: 600 + jitter, Nodes: 2}, core.Step{Duration: 900, Nodes: 8}, core.Step{Duration: 600 - jitter, Nodes: 1}),
			run("sound", k, at+300, at+300, 3, core.Step{Duration: 1500 + 100*jitter, Nodes: 3}),
			run("half", k, at+900, at+900, 4, core.Step{Duration: 1200, Nodes: 2}))
		size, length := 2, core.Time(2000)
		if k%2 == 1 {
			size, length = 4, 1200
		}
		sized := run("sized", k, at+1000, at+1000, size, core.Step{Duration: length + jitter, Nodes: size})
		all = append(all, sized)
	}
	return all
}

func TestInUseIsTheMaximumAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []advise.Run
		want int
	}{
		{"nothing", nil, 0},
		{"one behind the other", []advise.Run{{Start: 1, End: 5, Held: 3}, {Start: 5, End: 9, Held: 4}}, 4},
		{"beside each other", []advise.Run{{Start: 1, End: 6, Held: 3}, {Start: 5, End: 9, Held: 4}, {Start: 9, End: 12, Held: 5}}, 7},
		{"for no second", []advise.Run{{Start: 1, End: 6, Held: 3}, {Start: 5, End: 5, Held: 4}}, 3},
	} {
		if got := InUse(c.runs); got != c.want {
			t.Errorf("%s: %d nodes, want %d", c.name, got, c.want)
		}
	}
}

func TestSiteHasTheJobsAsTheyWere(t *testing.T) {
	runs := []advise.Run{
		{Submit: 1000, Start: 1100, End: 1200, Held: 2, Limit: 300},
		{Submit: 900, Start: 950, End: 1000, Held: 3, Limit: 40},      // beyond its limit
		{Submit: 2000, Start: 1300, End: 1400, Held: 1},               // started before its submission, without a limit
		{Submit: 1000, Start: 1500, End: 1500, Held: 4, Limit: 300},   // without run time
		{Submit: 1000, Start: 1500, End: 1900, Held: 100, Limit: 300}, // larger than the machine
	}
	site, err := Site(runs, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []workload.Job{
		{Number: 2, Submit: 0, Run: 40, Request: 40, Size: 3, User: -1, Cut: true},
		{Number: 1, Submit: 100, Run: 100, Request: 300, Size: 2, User: -1},
		{Number: 3, Submit: 400, Run: 100, Request: 300, Size: 1, User: -1},
	}
	if diff := cmp.Diff(want, site.Jobs); diff != "" || !slices.Equal(site.Records, []int32{1, 0, 2}) || site.Machine.Nodes != 8 || site.RunOnly {
		t.Errorf("of records %v on %d nodes (-want +got):\n%s", site.Records, site.Machine.Nodes, diff)
	}
	if got := site.LeftOut.String(); got != "1 that did not run, 1 larger than the machine" {
		t.Errorf("left out: %s", got)
	}
	for i := range runs {
		runs[i].Limit = 0
	}
	if site, err = Site(runs[:3], 0); err != nil || !site.RunOnly || site.Machine.Nodes != 3 || site.Jobs[0].Request != 50 {
		t.Errorf("without limits: %+v, %v", site, err)
	}
	if _, err = Site(nil, 0); err == nil {
		t.Error("a site without a job")
	}
}

func TestJobsCarryTheLinesOfTheirRuns(t *testing.T) {
	runs := busy(12)
	late := run("mesh", 99, 60_000, 60_000, 8, core.Step{Duration: 600, Nodes: 2}, core.Step{Duration: 3000, Nodes: 8}, core.Step{Duration: 600, Nodes: 1})
	runs = append(runs, late)
	report := advise.Make(runs, advise.Options{})
	site, err := Site(runs, 8)
	if err != nil {
		t.Fatal(err)
	}
	got := Suppose(site, runs, report.Lines(advise.Options{}))
	if got.Evolving != 12 || got.Fewer != 12 || got.Moldable != 12 || got.Late != 1 || got.Carriers() != 36 {
		t.Errorf("%d evolving, %d fewer, %d moldable, %d late", got.Evolving, got.Fewer, got.Moldable, got.Late)
	}
	kinds := map[string]int{}
	for i, j := range got.Jobs {
		was, r := site.Jobs[i], &runs[site.Records[i]]
		if got.Carries[i] != (r.Name != "sound" && r.ID != late.ID) {
			t.Errorf("job %s tells: %t", r.ID, got.Carries[i])
		}
		if j.Run != was.Run || j.Request != was.Request || j.Submit != was.Submit || j.Number != was.Number {
			t.Errorf("job %s was %+v and is %+v", r.ID, was, j)
		}
		if j.Size != was.Size {
			kinds[fmt.Sprintf("%s %d for %d", r.Name, j.Size, was.Size)]++
		}
	}
	if diff := cmp.Diff(map[string]int{"half 2 for 4": 12}, kinds); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}

// On a machine on which only one of the line's sizes fits, a job is as it was. On a machine on which no size fits, it carries no line.
func TestLineIsLimitedByTheMachine(t *testing.T) {
	runs := busy(12)
	report := advise.Make(runs, advise.Options{})
	for nodes, want := range map[int]Supposed{8: {Evolving: 12, Fewer: 12, Moldable: 12}, 4: {Fewer: 12, Moldable: 12}, 3: {}} {
		site, err := Site(runs, nodes)
		if err != nil {
			t.Fatal(err)
		}
		got := Suppose(site, runs, report.Lines(advise.Options{}))
		if got.Evolving != want.Evolving || got.Fewer != want.Fewer || got.Moldable != want.Moldable {
			t.Errorf("on %d nodes %d evolve, %d ask for fewer, %d for one of several; want %+v", nodes, got.Evolving, got.Fewer, got.Moldable, want)
		}
	}
}

// cases replays the jobs without and with lines under each policy.
func cases(site *workload.Selected, with Supposed, policies ...string) []Case {
	var all []Case
	for _, name := range policies {
		all = append(all, Case{Policy: name, Jobs: site.Jobs, Outcomes: replay.Run(site.Workload, named(name)).Outcomes},
			Case{Policy: name, Lines: true, Jobs: with.Jobs, Outcomes: replay.Run(with.Workload, named(name)).Outcomes})
	}
	return all
}

// The expected results follow from the jobs of busy, which are not random.
func TestJobsWithLinesHoldLess(t *testing.T) {
	runs := busy(600)
	report := advise.Make(runs, advise.Options{})
	site, err := Site(runs, 8)
	if err != nil {
		t.Fatal(err)
	}
	with := Suppose(site, runs, report.Lines(advise.Options{}))
	r := Compare(cases(site, with, "easy", "patient"), with.Carries, Bootstrap{Seed: 1})
	if r.Weeks != 4 || r.Carriers.Jobs != 1800 || r.Others.Jobs != 600 || r.NeverBegan != 0 || len(r.Carriers.Rows) != 4 {
		t.Fatalf("%+v", r)
	}
	easy, lines := &r.Carriers.Rows[0], &r.Carriers.Rows[3]
	var held float64
	for i := range runs {
		if runs[i].Name != "sound" {
			held += float64(int64(runs[i].Held)*(runs[i].End-runs[i].Start)) / 3600
		}
	}
	if math.Abs(easy.Of[NodeHours].Value-held) > 1e-6 {
		t.Errorf("%v node-hours were held, want %v", easy.Of[NodeHours].Value, held)
	}
	if c := lines.Of[NodeHours].Now; c.By.Value >= 0 || c.By.High >= 0 || c.Share.Value >= -.2 || c.Share.Value < -.6 {
		t.Errorf("with lines they hold %+v", c)
	}
	if c := r.Carriers.Rows[1].Of[NodeHours].Now; c.By.Value >= 0 || r.Carriers.Rows[1].Of[NodeHours].Alone != nil {
		t.Errorf("fewer nodes under easy: %+v", c)
	}
	for k := range r.Others.Rows {
		if c := r.Others.Rows[k].Of[NodeHours].Now; c.By.Value != 0 {
			t.Errorf("others hold %+v more", c)
		}
	}
	if c := lines.Of[Wait].Alone; c == nil || math.Abs(c.By.Value-(lines.Of[Wait].Value-r.Carriers.Rows[2].Of[Wait].Value)) > 1e-9 {
		t.Errorf("what the lines add: %+v", c)
	}
}

// Without lines nothing changes, for any jobs, and a case does not differ from itself.
func TestWithoutLinesNothingChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []advise.Run
		for i := range rapid.IntRange(1, 40).Draw(t, "jobs") {
			at := rapid.Int64Range(0, 3_000_000).Draw(t, "submit")
			r := run("job", i, at, at+rapid.Int64Range(0, 5000).Draw(t, "wait"), rapid.IntRange(1, 8).Draw(t, "held"))
			r.End = r.Start + rapid.Int64Range(1, 20000).Draw(t, "run")
			r.Limit = rapid.SampledFrom([]core.Time{0, 3600, 86400}).Draw(t, "limit")
			runs = append(runs, r)
		}
		none := advise.Report{}
		site, err := Site(runs, 8)
		if err != nil {
			t.Fatal(err)
		}
		with := Suppose(site, runs, none.Lines(advise.Options{}))
		if diff := cmp.Diff(site.Jobs, with.Jobs); diff != "" || with.Carriers() != 0 || with.Late != 0 || slices.Contains(with.Carries, true) {
			t.Fatalf("%+v (-was +is):\n%s", with, diff)
		}
		name := rapid.SampledFrom([]string{"easy", "patient", "repeated", "easy-evolving"}).Draw(t, "policy")
		for i := range with.Carries { // any division into groups
			with.Carries[i] = rapid.Bool().Draw(t, "tells")
		}
		r := Compare(cases(site, with, name), with.Carries, Bootstrap{Seed: 7, Draws: 50})
		for _, g := range []*Group{&r.Carriers, &r.Others} {
			for k := range g.Rows {
				for _, f := range g.Rows[k].Of {
					if f.Now.By.Value != 0 || f.Now.By.Low != 0 || f.Now.By.High != 0 || f.Now.Share.Value != 0 {
						t.Fatalf("under %s: %+v", name, f)
					}
				}
			}
			if l := g.Losses(); len(l) > 0 {
				t.Fatalf("somebody loses: %+v", l)
			}
		}
	})
}
