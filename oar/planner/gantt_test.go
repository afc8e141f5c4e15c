package planner_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/oar/planner"
)

// earliest is a rule without sizing, so a job may get any configuration that it requests.
var earliest = planner.Rule{Policy: sched.Repeated{}}

// world is a small cluster with two switches. Each switch has two hosts of two cores, but the last host has only one
// core.
type world struct {
	n        int
	cores    planner.Property
	hosts    planner.Property
	switches planner.Property
}

var small = world{n: 7,
	cores:    planner.Property{0, 1, 2, 3, 4, 5, 6},
	hosts:    planner.Property{0, 0, 1, 1, 2, 2, 3},
	switches: planner.Property{0, 0, 0, 0, 1, 1, 1},
}

func all(w world) planner.Set { return planner.AllOf(w.n) }

func members(s planner.Set) []int { return slices.Collect(s.All()) }

func TestARequestGetsTheFirstResourcesThatFit(t *testing.T) {
	for _, test := range []struct {
		name   string
		levels []planner.Property
		counts []int
		taken  []int // resources that are in use forever
		want   []int
	}{
		{"two hosts", []planner.Property{small.hosts}, []int{2}, nil, []int{0, 1, 2, 3}},
		{"a host whose core is in use is no host", []planner.Property{small.hosts}, []int{2}, []int{1}, []int{2, 3, 4, 5}},
		{"three cores, wherever", []planner.Property{small.cores}, []int{3}, []int{1}, []int{0, 2, 3}},
		{"a core on each of three hosts", []planner.Property{small.hosts, small.cores}, []int{3, 1}, []int{0}, []int{1, 2, 4}},
		{"two hosts of one switch", []planner.Property{small.switches, small.hosts}, []int{1, 2}, []int{0}, []int{4, 5, 6}},
		{"two hosts of one switch, whose second is in use", []planner.Property{small.switches, small.hosts}, []int{1, 2}, []int{2}, []int{4, 5, 6}},
		{"a switch", []planner.Property{small.switches}, []int{1}, []int{0}, []int{4, 5, 6}},
		{"a host of each switch", []planner.Property{small.switches, small.hosts}, []int{2, 1}, []int{0, 4}, []int{2, 3, 6}},
		{"all hosts of a switch", []planner.Property{small.switches, small.hosts}, []int{1, planner.AllOfThem}, []int{0}, []int{4, 5, 6}},
		{"all hosts", []planner.Property{small.hosts}, []int{planner.AllOfThem}, []int{0}, nil},
		{"as many hosts as there are", []planner.Property{small.hosts}, []int{planner.Best}, []int{0, 2}, []int{4, 5, 6}},
		{"half of the hosts and more", []planner.Property{small.hosts}, []int{planner.BestHalf}, []int{0}, []int{2, 3, 4, 5, 6}},
		{"less than half of the hosts are free", []planner.Property{small.hosts}, []int{planner.BestHalf}, []int{0, 2, 4}, nil},
		{"two cores of a host that has one", []planner.Property{small.hosts, small.cores}, []int{4, 2}, nil, nil},
		{"five hosts", []planner.Property{small.hosts}, []int{5}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			cal := planner.NewCalendar(all(small))
			cal.Take(planner.SetOf(small.n, test.taken...), 0, core.Forever)
			job := planner.Job{ID: 1, Choices: []planner.Choice{{Duration: 10, Groups: []planner.Group{{Tree: planner.NewTree(all(small), test.levels...), Counts: test.counts}}}}}
			got := planner.Plan(cal, 0, []planner.Job{job}, nil)[0]
			if test.want == nil {
				if got.Why != planner.NeverFits {
					t.Errorf("it has %v, want no place", members(got.Resources))
				}
				return
			}
			if got.Why != "" || got.Start != 0 || !slices.Equal(members(got.Resources), test.want) {
				t.Errorf("it has %v from %d on (%s), want %v now", members(got.Resources), got.Start, got.Why, test.want)
			}
		})
	}
}

func TestPartsOfARequestAreDifferentResources(t *testing.T) {
	hosts := planner.NewTree(all(small), small.hosts)
	job := planner.Job{ID: 1, Choices: []planner.Choice{{Duration: 10, Groups: []planner.Group{{Tree: hosts, Counts: []int{1}}, {Tree: hosts, Counts: []int{2}}}}}}
	got := planner.Plan(planner.NewCalendar(all(small)), 0, []planner.Job{job}, nil)[0]
	if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(members(got.Resources), want) {
		t.Errorf("it has %v, want %v", members(got.Resources), want)
	}
}

func onHosts(id int64, hosts int, duration core.Time, tree *planner.Tree) planner.Choice {
	return planner.Choice{ID: id, Duration: duration, Groups: []planner.Group{{Tree: tree, Counts: []int{hosts}}}}
}

// The test uses both planners: the one that counts hosts and assigns them afterwards, and the one that plans individual resources.
func TestAMoldableJobGetsTheConfigurationThatCompletesFirst(t *testing.T) {
	tree := planner.NewTree(all(small), small.hosts)
	for _, test := range []struct {
		name    string
		busy    core.Time // second until which two hosts are in use
		choices []planner.Choice
		choice  int
		start   core.Time
	}{
		{"more hosts", 0, []planner.Choice{onHosts(1, 2, 100, tree), onHosts(2, 4, 60, tree)}, 1, 0},
		{"fewer hosts at once", 50, []planner.Choice{onHosts(1, 2, 100, tree), onHosts(2, 4, 60, tree)}, 0, 0},
		{"more hosts, later", 30, []planner.Choice{onHosts(1, 2, 100, tree), onHosts(2, 4, 60, tree)}, 1, 30},
		{"of equals the one with fewer hosts", 40, []planner.Choice{onHosts(2, 4, 60, tree), onHosts(1, 2, 100, tree)}, 1, 0},
		{"of equals the one with fewer hosts, named first", 40, []planner.Choice{onHosts(1, 2, 100, tree), onHosts(2, 4, 60, tree)}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			claims := []planner.Claim{{Resources: planner.SetOf(small.n, 0, 1, 6), From: 0, To: test.busy}}
			jobs := []planner.Job{{ID: 5, Choices: test.choices}}
			counted, ok := planner.PlanAlike(earliest, all(small), 0, claims, jobs)
			if !ok {
				t.Fatal("hosts are alike, but the jobs were not counted")
			}
			for _, got := range []planner.Placed{counted[0], named(small, claims, 0, jobs)[0]} {
				if got.Choice != test.choice || got.Start != test.start || got.Why != "" {
					t.Errorf("it gets choice %d at %d (%s), want %d at %d", got.Choice, got.Start, got.Why, test.choice, test.start)
				}
			}
		})
	}
}

// named plans with the planner that plans individual resources.
func named(w world, claims []planner.Claim, now core.Time, jobs []planner.Job) []planner.Placed {
	cal := planner.NewCalendar(all(w))
	for _, c := range claims {
		cal.Take(c.Resources, c.From, c.To)
	}
	return planner.Plan(cal, now, jobs, nil)
}

// Claims in the future can interrupt the free time of every host, although at each second enough hosts are free.
func TestWhereNoHostIsFreeThroughoutNothingIsCounted(t *testing.T) {
	tree := planner.NewTree(planner.AllOf(2), planner.Property{0, 1})
	claims := []planner.Claim{{Resources: planner.SetOf(2, 0), From: 50, To: 100}, {Resources: planner.SetOf(2, 1), From: 0, To: 50}}
	jobs := []planner.Job{{ID: 1, Choices: []planner.Choice{onHosts(1, 1, 100, tree)}}}
	if plan, ok := planner.PlanAlike(earliest, planner.AllOf(2), 0, claims, jobs); ok {
		t.Errorf("it was counted: %v", plan)
	}
	got := named(world{n: 2}, claims, 0, jobs)[0]
	if got.Start != 50 || !got.Resources.Has(1) {
		t.Errorf("it starts at %d on %v, want 50 on the second host", got.Start, members(got.Resources))
	}
}

// A pass uses the lower bound that it has found for one request also for similar requests.
func TestAShortJobStartsInAHoleThatWasTooShortForALongOne(t *testing.T) {
	tree := planner.NewTree(all(small), small.hosts)
	claims := []planner.Claim{{Resources: all(small), From: 50, To: 60}}
	jobs := []planner.Job{
		{ID: 1, Choices: []planner.Choice{onHosts(1, 2, 60, tree)}},
		{ID: 2, Choices: []planner.Choice{onHosts(2, 2, 40, tree)}},
		{ID: 3, Choices: []planner.Choice{onHosts(3, 2, 45, tree)}},
		{ID: 4, Choices: []planner.Choice{onHosts(4, 2, 45, tree)}},
	}
	plan := named(small, claims, 0, jobs)
	for i, want := range []core.Time{60, 0, 0, 60} {
		if plan[i].Start != want {
			t.Errorf("job %d starts at %d, want %d", plan[i].Job, plan[i].Start, want)
		}
	}
}

func TestAJobWaitsForThoseItDependsOn(t *testing.T) {
	tree := planner.NewTree(all(small), small.hosts)
	jobs := []planner.Job{
		{ID: 1, Choices: []planner.Choice{onHosts(1, 1, 100, tree)}},
		{ID: 2, Choices: []planner.Choice{onHosts(2, 1, 10, tree)}, After: []int64{1}, Gap: 5},
		{ID: 3, Choices: []planner.Choice{onHosts(3, 9, 10, tree)}},
		{ID: 4, Choices: []planner.Choice{onHosts(4, 1, 10, tree)}, After: []int64{3}},
		{ID: 5, Choices: []planner.Choice{onHosts(5, 1, 10, tree)}, Begin: 40, Deadline: 50},
		{ID: 6, Choices: []planner.Choice{onHosts(6, 1, 10, tree)}, Begin: 40, Deadline: 49},
	}
	plan := named(small, nil, 0, jobs)
	if plan[1].Start != 105 {
		t.Errorf("job 2 starts at %d, want 105: 5 seconds after job 1", plan[1].Start)
	}
	if plan[4].Start != 40 || plan[4].Why != "" {
		t.Errorf("job 5 starts at %d (%s), want 40", plan[4].Start, plan[4].Why)
	}
	for i, why := range map[int]string{2: planner.NeverFits, 3: planner.WaitsFor, 5: planner.TooLate} {
		if plan[i].Why != why {
			t.Errorf("job %d: %q, want %q", plan[i].Job, plan[i].Why, why)
		}
	}
}

func TestJobsAfterTheTimeLimitAreNotPlanned(t *testing.T) {
	tree := planner.NewTree(all(small), small.hosts)
	var jobs []planner.Job
	for id := range int64(5) {
		jobs = append(jobs, planner.Job{ID: id, Choices: []planner.Choice{onHosts(id, 1, 100, tree)}})
	}
	asked := 0
	plan := planner.Plan(planner.NewCalendar(all(small)), 0, jobs, func() bool { asked++; return asked > 3 })
	for i, p := range plan {
		if late := i >= 3; (p.Why == planner.OutOfTime) != late {
			t.Errorf("job %d: %q", i, p.Why)
		}
	}
	if err := planner.Check(all(small), 0, nil, jobs, plan); err != nil {
		t.Errorf("what was planned is not valid: %v", err)
	}
}

// drawn is a random problem.
type drawn struct {
	usable  planner.Set
	claims  []planner.Claim
	running []planner.Running
	jobs    []planner.Job
}

// passes draws a policy by which a pass may plan.
func passes(t *rapid.T) sched.Policy {
	p, err := policy.Pass(rapid.SampledFrom([]string{"repeated", "repeated+share", "repeated+least", "repeated+load", "easy+share", "easy+reference",
		"traditional:top", "scojo-p", "scojo-p:nonpredictive:top", "share", "share:20s", "easy-evolving", "patient:20s+share"}).Draw(t, "policy"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Policy
}

// draw draws a problem whose requests have up to `parts` parts. If `alike` is set, requests are for whole hosts only.
func draw(t *rapid.T, alike bool, parts int) drawn {
	d := drawn{usable: planner.NewSet(small.n)}
	for r := range small.n {
		if rapid.IntRange(0, 9).Draw(t, "usable") > 0 {
			d.usable.Add(r)
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "claims") {
		from := rapid.Int64Range(-10, 40).Draw(t, "from")
		c := planner.Claim{Resources: planner.NewSet(small.n), From: from, To: from + rapid.Int64Range(0, 30).Draw(t, "for")}
		for _, r := range rapid.SliceOf(rapid.IntRange(0, small.n-1)).Draw(t, "claimed") {
			c.Resources.Add(r)
		}
		d.claims = append(d.claims, c)
		if from <= 0 && rapid.Bool().Draw(t, "runs") {
			one := planner.Running{Job: 100 + int64(len(d.claims)), Resources: c.Resources, Until: c.To}
			for range rapid.IntRange(0, 2).Draw(t, "listed") {
				one.Listed = append(one.Listed, core.EP{{Duration: rapid.Int64Range(0, 40).Draw(t, "lasts"), Nodes: rapid.IntRange(0, 4).Draw(t, "on")}})
			}
			d.running = append(d.running, one)
		}
	}
	trees := []*planner.Tree{planner.NewTree(all(small), small.hosts)}
	depth := []int{1}
	if !alike {
		trees = append(trees, planner.NewTree(all(small), small.cores), planner.NewTree(all(small), small.hosts, small.cores),
			planner.NewTree(all(small), small.switches, small.hosts), planner.NewTree(planner.SetOf(small.n, 1, 2, 3, 6), small.cores))
		depth = append(depth, 1, 2, 2, 1)
	}
	for id := range rapid.Int64Range(1, 8).Draw(t, "jobs") {
		j := planner.Job{ID: id + 1, Submit: rapid.Int64Range(-30, 10).Draw(t, "submitted"), Begin: rapid.Int64Range(0, 20).Draw(t, "begin")}
		if !alike && id > 0 && rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
			j.After, j.Gap = []int64{id}, 2
		}
		for c := range rapid.IntRange(1, 3).Draw(t, "choices") {
			choice := planner.Choice{ID: int64(c), Duration: rapid.Int64Range(1, 25).Draw(t, "duration")}
			for range rapid.IntRange(1, parts).Draw(t, "groups") {
				k := rapid.IntRange(0, len(trees)-1).Draw(t, "tree")
				g := planner.Group{Tree: trees[k]}
				for range depth[k] {
					least := -3
					if alike {
						least = 1
					}
					n := rapid.IntRange(least, 4).Draw(t, "count")
					if n == 0 {
						n = 1
					}
					g.Counts = append(g.Counts, n)
				}
				choice.Groups = append(choice.Groups, g)
			}
			j.Choices = append(j.Choices, choice)
		}
		d.jobs = append(d.jobs, j)
	}
	return d
}

func (d drawn) named(jobs []planner.Job) []planner.Placed {
	cal := planner.NewCalendar(d.usable)
	for _, c := range d.claims {
		cal.Take(c.Resources, c.From, c.To)
	}
	return planner.Plan(cal, 0, jobs, nil)
}

func TestNoResourceIsEverGivenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.Bool().Draw(t, "alike")
		parts := 2
		if alike {
			parts = 1
		}
		d := draw(t, alike, parts)
		rule := planner.Rule{Policy: passes(t), Running: d.running, Beside: []core.Job{{ID: 99, Choices: []core.EP{{{Duration: 20, Nodes: 2}, {Duration: 20, Nodes: 3}}}}}}
		capped := d
		capped.jobs = rule.Capped(d.usable, 0, d.claims, d.jobs)
		plans, problems := [][]planner.Placed{d.named(d.jobs), d.named(capped.jobs)}, []drawn{d, capped}
		if counted, ok := planner.PlanAlike(rule, d.usable, 0, d.claims, d.jobs); ok {
			plans, problems = append(plans, counted), append(problems, d)
		}
		for i, plan := range plans {
			d := problems[i]
			if len(plan) != len(d.jobs) {
				t.Fatalf("%d of %d jobs are in the plan", len(plan), len(d.jobs))
			}
			if second := bySecond(d, plan); second != "" {
				t.Fatal(second)
			}
			if err := planner.Check(d.usable, 0, d.claims, d.jobs, plan); err != nil {
				t.Fatalf("no resource is given twice, but the check reports: %v", err)
			}
		}
	})
}

// bySecond checks a plan second by second and resource by resource. It returns what is wrong, or "".
func bySecond(d drawn, plan []planner.Placed) string {
	const seconds = 400
	var used [seconds][7]bool
	for _, c := range d.claims {
		for s := max(c.From, 0); s < c.To; s++ {
			for r := range c.Resources.All() {
				used[s][r] = true
			}
		}
	}
	for _, p := range plan {
		if p.Why != "" {
			continue
		}
		for s := p.Start; s < p.End(); s++ {
			for r := range p.Resources.All() {
				if used[s][r] || !d.usable.Has(r) {
					return "a resource is given twice, or cannot be used"
				}
				used[s][r] = true
			}
		}
	}
	return ""
}

func TestNoJobDelaysAnEarlierOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, false, 2)
		whole := d.named(d.jobs)
		some := rapid.IntRange(0, len(d.jobs)).Draw(t, "some")
		for i, p := range d.named(d.jobs[:some]) {
			if w := whole[i]; p.Start != w.Start || p.Choice != w.Choice || p.Why != w.Why || !slices.Equal(p.Resources, w.Resources) {
				t.Fatalf("job %d is planned at %d without those behind it, and at %d with them", p.Job, p.Start, w.Start)
			}
		}
	})
}

// The test compares the plan with a search that tries every second. It leaves out requests with several parts, because
// for them more free resources may be worse. The first part may then take resources that the second part needs.
func TestEachJobCompletesAsEarlyAsTryingEverySecondFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, false, 1)
		plan := d.named(d.jobs)
		ends := map[int64]core.Time{}
		for i, j := range d.jobs {
			begin, waits := j.Begin, false
			for _, before := range j.After {
				end, ok := ends[before]
				waits = waits || !ok
				begin = max(begin, end+j.Gap)
			}
			best := core.Forever
			for _, c := range j.Choices {
				for s := begin; s < 400 && !waits && s+c.Duration < best; s++ {
					if fitsAt(d, plan[:i], c, s) {
						best = s + c.Duration
					}
				}
			}
			switch p := plan[i]; {
			case best == core.Forever && p.Why == "":
				t.Fatalf("job %d is planned at %d, where it has no place", j.ID, p.Start)
			case best < core.Forever && (p.Why != "" || p.End() != best):
				t.Fatalf("job %d completes at %d (%q), and could at %d", j.ID, p.End(), p.Why, best)
			case p.Why == "":
				ends[j.ID] = p.End()
			}
		}
	})
}

// fitsAt reports whether the resources of a choice are free from a second on, given the jobs that were planned before. It puts the
// resources that are free for the whole duration into a calendar with one slot.
func fitsAt(d drawn, before []planner.Placed, c planner.Choice, at core.Time) bool {
	free := slices.Clone(d.usable)
	for _, claim := range d.claims {
		if claim.From < claim.To && claim.From < at+c.Duration && at < claim.To {
			free.Drop(claim.Resources)
		}
	}
	for _, p := range before {
		if p.Why == "" && p.Start < at+c.Duration && at < p.End() {
			free.Drop(p.Resources)
		}
	}
	alone := planner.Plan(planner.NewCalendar(free), at, []planner.Job{{ID: 1, Choices: []planner.Choice{c}}}, nil)[0]
	return alone.Why == ""
}

func TestCheckFindsWrongPlans(t *testing.T) {
	tree := planner.NewTree(all(small), small.hosts)
	jobs := []planner.Job{
		{ID: 1, Choices: []planner.Choice{onHosts(1, 1, 100, tree)}},
		{ID: 2, Begin: 10, Choices: []planner.Choice{onHosts(2, 1, 100, tree), onHosts(3, 2, 50, tree)}},
	}
	claims := []planner.Claim{{Resources: planner.SetOf(small.n, 4), From: 60, To: 70}}
	good := func() []planner.Placed {
		return []planner.Placed{
			{Job: 1, Start: 5, Duration: 100, Resources: planner.SetOf(small.n, 0, 1)},
			{Job: 2, Choice: 1, Start: 10, Duration: 50, Resources: planner.SetOf(small.n, 2, 3, 4, 5)},
		}
	}
	if err := planner.Check(all(small), 5, claims, jobs, good()); err != nil {
		t.Fatalf("a valid plan: %v", err)
	}
	for name, spoil := range map[string]func(p []planner.Placed) []planner.Placed{
		"two jobs on a host":                  func(p []planner.Placed) []planner.Placed { p[0].Resources = planner.SetOf(small.n, 2, 3); return p },
		"a job on a claimed host":             func(p []planner.Placed) []planner.Placed { p[1].Start = 11; return p },
		"a job that begins on a claimed host": func(p []planner.Placed) []planner.Placed { p[1].Start = 65; return p },
		"half a host":                         func(p []planner.Placed) []planner.Placed { p[0].Resources = planner.SetOf(small.n, 0); return p },
		"more than it asked for":              func(p []planner.Placed) []planner.Placed { p[0].Resources = planner.SetOf(small.n, 0, 1, 6); return p },
		"nothing":                             func(p []planner.Placed) []planner.Placed { p[0].Resources = planner.NewSet(small.n); return p },
		"a start in the past":                 func(p []planner.Placed) []planner.Placed { p[0].Start = 4; return p },
		"a start before its begin":            func(p []planner.Placed) []planner.Placed { p[1].Start = 9; return p },
		"a job twice":                         func(p []planner.Placed) []planner.Placed { return append(p, p[0]) },
		"a job that does not wait":            func(p []planner.Placed) []planner.Placed { p[0].Job = 3; return p },
		"another duration":                    func(p []planner.Placed) []planner.Placed { p[0].Duration = 99; return p },
		"a choice that is not there":          func(p []planner.Placed) []planner.Placed { p[0].Choice = 1; return p },
		"the size of another choice":          func(p []planner.Placed) []planner.Placed { p[1].Choice, p[1].Duration = 0, 100; return p },
		"a host that cannot be used":          func(p []planner.Placed) []planner.Placed { p[0].Resources = planner.SetOf(small.n, 6); return p },
		"two jobs that meet a second": func(p []planner.Placed) []planner.Placed {
			p[0].Start, p[0].Resources = 59, planner.SetOf(small.n, 2, 3)
			return p
		},
	} {
		usable := all(small)
		if name == "a host that cannot be used" {
			usable.Drop(planner.SetOf(small.n, 6))
		}
		if err := planner.Check(usable, 5, claims, jobs, spoil(good())); err == nil {
			t.Errorf("%s: the check finds nothing", name)
		}
	}
}
