package gantt_test

import (
	"testing"

	"accordion/core"
	"accordion/core/adapt"
	"accordion/core/queue"
	"accordion/oar/gantt"
)

// Sixteen hosts of two cores each. A job's reference is 4 hosts where nothing else is said, and by the rule share it may have
// 4·min(s·√(M/8), max(1, s/3)) of them; the same in cores.
func TestAMoldableJobGetsItsPartOfTheHosts(t *testing.T) {
	const hosts = 16
	of := make(gantt.Property, 2*hosts)
	for i := range of {
		of[i] = int32(i / 2)
	}
	usable := gantt.AllOf(2 * hosts)
	tree := gantt.NewTree(usable, of)
	list := gantt.Job{ID: 7, Choices: []gantt.Choice{onHosts(70, 2, 1000, tree), onHosts(71, 4, 650, tree), onHosts(72, 8, 520, tree)}}
	// taken is the first hosts, claimed until second 400; job 5 has them, where it runs, and listed some sizes, in cores.
	taken := func(n int) []gantt.Claim {
		set := gantt.NewSet(2 * hosts)
		for i := range 2 * n {
			set.Add(i)
		}
		return []gantt.Claim{{Resources: set, From: -100, To: 400}}
	}
	runs := func(n int, listed ...core.EP) []gantt.Running {
		return []gantt.Running{{Job: 5, Resources: taken(n)[0].Resources, Until: 400, Listed: listed}}
	}
	rigid := func(id int64, n int) gantt.Job {
		return gantt.Job{ID: id, Choices: []gantt.Choice{onHosts(10*id, n, 300, tree)}}
	}
	for _, c := range []struct {
		name    string
		rule    adapt.Sizing
		claims  []gantt.Claim
		running []gantt.Running
		before  []gantt.Job
		beside  []core.Job
		want    int64 // the choice
	}{
		{"alone (s = 4): its largest size but one", adapt.Share{}, nil, nil, nil, nil, 71},
		{"by no rule it ends first", nil, nil, nil, nil, nil, 72},
		{"… nor where a machine is full", nil, taken(16), runs(16), nil, nil, 72},
		{"what runs counts (s = 16/36, M = 12: 2.2)", adapt.Share{}, taken(16), runs(16), []gantt.Job{rigid(1, 16)}, nil, 70},
		{"… with its reference, which may be larger than what it has (s = 16/20, M = 18: 4.8)", adapt.Share{}, taken(16), runs(16, core.EP{{Duration: 9000, Nodes: 2}}, core.EP{{Duration: 100, Nodes: 64}}), nil, nil, 71},
		{"… or smaller (s = 16/20, M = 2.5: 1.8)", adapt.Share{}, taken(16), runs(16, core.EP{{Duration: 100, Nodes: 2}}, core.EP{{Duration: 99, Nodes: 32}}), nil, nil, 70},
		{"hosts that are kept free are the machine's, and nobody's (s = 16/4, M = 4: 4 of 5.3)", adapt.Share{}, taken(12), nil, nil, nil, 71},
		{"who waits counts (s = 16/36, M = 12: 2.2)", adapt.Share{}, nil, nil, []gantt.Job{rigid(1, 16), rigid(2, 16)}, nil, 70},
		{"… also whom others plan (s = 16/36, M = 12: 2.2)", adapt.Share{}, nil, nil, []gantt.Job{rigid(1, 16)},
			[]core.Job{{ID: 9, Choices: []core.EP{{{Duration: 60, Nodes: 8}, {Duration: 60, Nodes: 16}}}}}, 70},
		{"its reference, whatever else", adapt.Reference{}, taken(16), runs(16), []gantt.Job{rigid(1, 16)}, nil, 71},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := gantt.Rule{Policy: queue.Repeated{Sizing: c.rule}, Running: c.running, Beside: c.beside}
			jobs := append(c.before, list)
			counted, ok := gantt.PlanAlike(rule, usable, 0, c.claims, jobs)
			if !ok {
				t.Fatal("it was not counted")
			}
			got := counted[len(jobs)-1]
			if id := list.Choices[got.Choice].ID; got.Why != "" || id != c.want {
				t.Errorf("counted, it gets choice %d (%s), want %d", id, got.Why, c.want)
			}
			capped := rule.Capped(usable, 0, jobs)
			cal := gantt.NewCalendar(usable)
			for _, one := range c.claims {
				cal.Take(one.Resources, one.From, one.To)
			}
			named := gantt.Plan(cal, 0, capped, nil)[len(jobs)-1]
			if id := capped[len(jobs)-1].Choices[named.Choice].ID; named.Why != "" || id != c.want {
				t.Errorf("resource by resource it gets choice %d (%s), want %d", id, named.Why, c.want)
			}
		})
	}
}
