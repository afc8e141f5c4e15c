package planner_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/oar/planner"
)

// The cluster has sixteen hosts of two cores each. The reference size of a job is 4 hosts, unless a case says otherwise. By the rule
// `share` the job may have 4·min(s·√(M/8), max(1, s/3)) hosts; counting cores gives the same share. Hosts whose properties match no job in
// the queue do not belong to the machine, and jobs that run on them do not count.
func TestAMoldableJobGetsItsPartOfTheHosts(t *testing.T) {
	const hosts = 16
	of := make(planner.Property, 4*hosts)
	for i := range of {
		of[i] = int32(i / 2)
	}
	mine, all := planner.NewSet(4*hosts), planner.AllOf(4*hosts)
	for i := range 2 * hosts {
		mine.Add(i)
	}
	tree, others := planner.NewTree(mine, of), planner.AllOf(4*hosts)
	others.Drop(mine)
	elsewhere := planner.Running{Job: 6, Resources: others, Until: 900}
	list := planner.Job{ID: 7, Choices: []planner.Choice{onHosts(70, 2, 1000, tree), onHosts(71, 4, 650, tree), onHosts(72, 8, 520, tree)}}
	// `taken` claims the first n hosts until second 400. `runs` lets job 5 run on them, with the given sizes in cores.
	taken := func(n int) []planner.Claim {
		set := planner.NewSet(4 * hosts)
		for i := range 2 * n {
			set.Add(i)
		}
		return []planner.Claim{{Resources: set, From: -100, To: 400}}
	}
	runs := func(n int, listed ...core.EP) []planner.Running {
		return []planner.Running{{Job: 5, Resources: taken(n)[0].Resources, Until: 400, Listed: listed}}
	}
	rigid := func(id int64, n int) planner.Job {
		return planner.Job{ID: id, Choices: []planner.Choice{onHosts(10*id, n, 300, tree)}}
	}
	for _, c := range []struct {
		name    string
		rule    sizing.Sizing
		claims  []planner.Claim
		running []planner.Running
		before  []planner.Job
		beside  []core.Job
		want    int64 // ID of the choice
	}{
		{"alone (s = 4): its largest size but one", sizing.Share{}, nil, nil, nil, nil, 71},
		{"by no rule it ends first", nil, nil, nil, nil, nil, 72},
		{"… nor where a machine is full", nil, taken(16), runs(16), nil, nil, 72},
		{"what runs counts (s = 16/36, M = 12: 2.2)", sizing.Share{}, taken(16), runs(16), []planner.Job{rigid(1, 16)}, nil, 70},
		{"… with its reference, which may be larger than what it has (s = 16/20, M = 18: 4.8)", sizing.Share{}, taken(16), runs(16, core.EP{{Duration: 9000, Nodes: 2}}, core.EP{{Duration: 100, Nodes: 64}}), nil, nil, 71},
		{"… or smaller (s = 16/20, M = 2.5: 1.8)", sizing.Share{}, taken(16), runs(16, core.EP{{Duration: 100, Nodes: 2}}, core.EP{{Duration: 99, Nodes: 32}}), nil, nil, 70},
		{"hosts that are kept free are the machine's, and nobody's (s = 16/4, M = 4: 4 of 5.3)", sizing.Share{}, taken(12), nil, nil, nil, 71},
		{"who waits counts (s = 16/36, M = 12: 2.2)", sizing.Share{}, nil, nil, []planner.Job{rigid(1, 16), rigid(2, 16)}, nil, 70},
		{"… also whom others plan (s = 16/36, M = 12: 2.2)", sizing.Share{}, nil, nil, []planner.Job{rigid(1, 16)},
			[]core.Job{{ID: 9, Choices: []core.EP{{{Duration: 60, Nodes: 8}, {Duration: 60, Nodes: 16}}}}}, 70},
		{"its reference, whatever else", sizing.Reference{}, taken(16), runs(16), []planner.Job{rigid(1, 16)}, nil, 71},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := planner.Rule{Policy: sched.Repeated{Sizing: c.rule}, Running: c.running, Beside: c.beside}
			jobs := append(c.before, list)
			sameSize(t, rule, mine, c.claims, jobs, c.want)
			rule.Running = append(rule.Running, elsewhere)
			sameSize(t, rule, all, append(c.claims, planner.Claim{Resources: others, From: -100, To: 900}), jobs, c.want)
		})
	}
}

// sameSize fails the test unless the last job gets the choice, both when hosts are counted and when individual resources are planned.
func sameSize(t *testing.T, rule planner.Rule, usable planner.Set, claims []planner.Claim, jobs []planner.Job, want int64) {
	t.Helper()
	last := len(jobs) - 1
	counted, ok := planner.PlanAlike(rule, usable, 0, claims, jobs)
	if !ok {
		t.Fatal("it was not counted")
	}
	if id := jobs[last].Choices[counted[last].Choice].ID; counted[last].Why != "" || id != want {
		t.Errorf("counted, it gets choice %d (%s), want %d", id, counted[last].Why, want)
	}
	capped := rule.Capped(usable, 0, claims, jobs)
	cal := planner.NewCalendar(usable)
	for _, one := range claims {
		cal.Take(one.Resources, one.From, one.To)
	}
	named := planner.Plan(cal, 0, capped, nil)[last]
	if id := capped[last].Choices[named.Choice].ID; named.Why != "" || id != want {
		t.Errorf("resource by resource it gets choice %d (%s), want %d", id, named.Why, want)
	}
}

// With unusual lists of sizes, or with lost hosts, a job gets one of the expected sizes or a reason. The cluster has eight free hosts on
// two switches.
func TestUnusualSizesAndLostHostsGetASizeOrAReason(t *testing.T) {
	each, switches := planner.Property{0, 1, 2, 3, 4, 5, 6, 7}, planner.Property{0, 0, 0, 0, 1, 1, 1, 1}
	flat, deep := planner.NewTree(planner.AllOf(8), each), planner.NewTree(planner.AllOf(8), switches, each)
	few := planner.NewTree(planner.SetOf(8, 0, 1, 2), each) // hosts that match the job's properties
	type list []core.Step
	for _, c := range []struct {
		name  string
		lost  int // number of lost hosts, counted from the last host
		tree  *planner.Tree
		list  list
		sizes []int // the job gets one of these sizes; nil if the job never fits
	}{
		{"one size twice", 0, flat, list{{Duration: 650, Nodes: 4}, {Duration: 650, Nodes: 4}, {Duration: 1000, Nodes: 2}}, []int{2, 4}},
		{"a size twice, one of them slower", 0, flat, list{{Duration: 900, Nodes: 4}, {Duration: 650, Nodes: 4}}, []int{4}},
		{"times that grow with nodes", 0, flat, list{{Duration: 100, Nodes: 2}, {Duration: 200, Nodes: 4}, {Duration: 400, Nodes: 8}}, []int{2}},
		{"seconds", 0, flat, list{{Duration: 1, Nodes: 1}, {Duration: 1, Nodes: 2}}, []int{1}},
		{"ten years", 0, flat, list{{Duration: 3650 * 86400, Nodes: 1}, {Duration: 3649 * 86400, Nodes: 2}}, []int{1, 2}},
		{"every size above the machine", 0, flat, list{{Duration: 100, Nodes: 9}, {Duration: 60, Nodes: 12}}, nil},
		{"the reference above it", 0, flat, list{{Duration: 1000, Nodes: 4}, {Duration: 900, Nodes: 6}, {Duration: 1, Nodes: 10}}, []int{6}},
		{"the reference above it, with a floor that is not", 0, flat, list{{Duration: 1000, Nodes: 2}, {Duration: 500, Nodes: 6}, {Duration: 300, Nodes: 12}}, []int{6}},
		{"hosts were lost, and the floor with them", 6, flat, list{{Duration: 1000, Nodes: 1}, {Duration: 990, Nodes: 2}, {Duration: 100, Nodes: 8}}, []int{2}},
		{"hosts were lost, and all sizes with them", 7, flat, list{{Duration: 1000, Nodes: 2}, {Duration: 990, Nodes: 3}}, nil},
		{"all hosts were lost", 8, flat, list{{Duration: 1000, Nodes: 1}, {Duration: 990, Nodes: 3}}, nil},
		{"properties that leave three hosts, of a reference of seven", 0, few, list{{Duration: 1000, Nodes: 1}, {Duration: 900, Nodes: 3}, {Duration: 100, Nodes: 7}}, []int{3}},
		{"hosts of one switch, of which there are four", 0, deep, list{{Duration: 1000, Nodes: 1}, {Duration: 900, Nodes: 3}, {Duration: 100, Nodes: 7}}, []int{3}},
		{"hosts of one switch, never so many", 0, deep, list{{Duration: 1000, Nodes: 5}, {Duration: 100, Nodes: 7}}, nil},
	} {
		usable := planner.NewSet(8)
		for host := range 8 - c.lost {
			usable.Add(host)
		}
		job := planner.Job{ID: 7, Submit: 500} // a later time than now, because the clock was set back
		for i, s := range c.list {
			counts := []int{s.Nodes}
			if c.tree == deep {
				counts = []int{1, s.Nodes}
			}
			job.Choices = append(job.Choices, planner.Choice{ID: int64(i), Duration: s.Duration, Groups: []planner.Group{{Tree: c.tree, Counts: counts}}})
		}
		for _, name := range []string{"repeated+share", "repeated+reference", "repeated+least", "repeated+load", "share", "scojo-p", "traditional:top"} {
			p, err := policy.Pass(name)
			if err != nil {
				t.Fatal(err)
			}
			rule := planner.Rule{Policy: p.Policy}
			capped := rule.Capped(usable, 0, nil, []planner.Job{job})
			for way, got := range map[string]planner.Placed{
				"counted":              {Why: "not at all"},
				"resource by resource": planner.Plan(planner.NewCalendar(usable), 0, capped, nil)[0],
			} {
				list := capped[0].Choices
				if way == "counted" {
					plan, ok := planner.PlanAlike(rule, usable, 0, nil, []planner.Job{job})
					if !ok || c.tree == deep {
						continue
					}
					got, list = plan[0], job.Choices
				}
				if c.sizes == nil {
					if got.Why != planner.NeverFits {
						t.Errorf("%s, by %s, %s: %+v", c.name, name, way, got)
					}
					continue
				}
				if got.Why != "" || got.Start != 0 || !slices.Contains(c.sizes, c.list[list[got.Choice].ID].Nodes) {
					t.Errorf("%s, by %s, %s: %+v, want %v hosts at once", c.name, name, way, got, c.sizes)
				}
			}
		}
	}
}
