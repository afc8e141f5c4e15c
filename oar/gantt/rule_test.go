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
	// held is the first hosts, claimed for a job, or for none.
	held := func(n int, job int64, to core.Time) []gantt.Claim {
		set := gantt.NewSet(2 * hosts)
		for i := range 2 * n {
			set.Add(i)
		}
		return []gantt.Claim{{Resources: set, From: -100, To: to, Job: job}}
	}
	rigid := func(id int64, n int) gantt.Job {
		return gantt.Job{ID: id, Choices: []gantt.Choice{onHosts(10*id, n, 300, tree)}}
	}
	for _, c := range []struct {
		name   string
		rule   adapt.Sizing
		claims []gantt.Claim
		before []gantt.Job
		beside []core.Job
		want   int64 // the choice
	}{
		{"alone (s = 4): its largest size but one", adapt.Share{}, nil, nil, nil, 71},
		{"by no rule it ends first", nil, nil, nil, nil, 72},
		{"… nor where a machine is full", nil, held(16, 5, 400), nil, nil, 72},
		{"what runs counts (s = 16/36, M = 12: 2.2)", adapt.Share{}, held(16, 5, 400), []gantt.Job{rigid(1, 16)}, nil, 70},
		{"hosts that are kept for nobody are not the machine's (s = 4/4, M = 4: 2.8)", adapt.Share{}, held(12, 0, 400), nil, nil, 70},
		{"who waits counts (s = 16/36, M = 12: 2.2)", adapt.Share{}, nil, []gantt.Job{rigid(1, 16), rigid(2, 16)}, nil, 70},
		{"… also whom others plan (s = 16/36, M = 12: 2.2)", adapt.Share{}, nil, []gantt.Job{rigid(1, 16)},
			[]core.Job{{ID: 9, Choices: []core.EP{{{Duration: 60, Nodes: 8}, {Duration: 60, Nodes: 16}}}}}, 70},
		{"its reference, whatever else", adapt.Reference{}, held(16, 5, 400), []gantt.Job{rigid(1, 16)}, nil, 71},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := gantt.Rule{Policy: queue.Repeated{Sizing: c.rule}, Beside: c.beside}
			jobs := append(c.before, list)
			counted, ok := gantt.PlanAlike(rule, usable, 0, c.claims, jobs)
			if !ok {
				t.Fatal("it was not counted")
			}
			got := counted[len(jobs)-1]
			if id := list.Choices[got.Choice].ID; got.Why != "" || id != c.want {
				t.Errorf("counted, it gets choice %d (%s), want %d", id, got.Why, c.want)
			}
			capped := rule.Capped(usable, 0, c.claims, jobs)
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
