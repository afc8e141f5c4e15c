package scheduler

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core"
	"accordion/oar/planner"
	"accordion/oar/tables"
)

// inWords describes running jobs as text: the job, its resources, and the sizes that it requests, in resources.
func inWords(all []planner.Running) string {
	var words []string
	for _, r := range all {
		text := fmt.Sprintf("%d has %d until %d", r.Job, r.Resources.Len(), r.Until)
		for _, ep := range r.Listed {
			text += fmt.Sprintf(" |%dx%d", ep[0].Nodes, ep[0].Duration)
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// The cluster has three hosts of two cores (resources 10 to 60). It is second 1000, and the pause between two jobs is 5 s.
func TestRunningJobCountsWithTheConfigurationsThatItListed(t *testing.T) {
	hosts := func(id int64, walltime core.Time, n int) *choice {
		return &choice{id: id, walltime: walltime, groups: []*group{{levels: []level{{"network_address", n}}}}}
	}
	asked := func(types []string, choices ...*choice) *runs { return &runs{types, choices} }
	running := func(job, moldable int64, resources ...int64) claim {
		return claim{job: job, moldable: moldable, state: "Running", from: 900, walltime: 200, resources: resources}
	}
	for _, c := range []struct {
		name    string
		claims  []claim
		running map[int64]*runs
		orders  *tables.Orders
		want    string
	}{
		{"a moldable job", []claim{running(1, 12, 10, 20, 30, 40)}, map[int64]*runs{1: asked(nil, hosts(11, 300, 1), hosts(12, 200, 2), hosts(13, 150, 8))}, nil,
			"1 has 4 until 1100 |2x305 |4x205 |16x155"},
		{"one in cores of hosts", []claim{running(1, 11, 10, 30)}, map[int64]*runs{1: asked(nil,
			&choice{id: 11, walltime: 60, groups: []*group{{levels: []level{{"network_address", 2}, {"resource_id", 1}}}}},
			&choice{id: 12, walltime: 50, groups: []*group{{levels: []level{{"network_address", 2}, {"resource_id", 2}}}, {levels: []level{{"resource_id", 1}}}}})}, nil,
			"1 has 2 until 1100 |2x65 |5x55"},
		{"one that asked for all there are", []claim{running(1, 11, 10, 20)}, map[int64]*runs{1: asked(nil, hosts(11, 300, planner.AllOfThem), hosts(12, 200, 1))}, nil, "1 has 2 until 1100"},
		{"… or would have, instead", []claim{running(1, 12, 10, 20)}, map[int64]*runs{1: asked(nil, hosts(11, 300, planner.Best), hosts(12, 200, 1))}, nil, "1 has 2 until 1100"},
		{"one in a configuration that is gone", []claim{running(1, 19, 10, 20)}, map[int64]*runs{1: asked(nil, hosts(11, 300, 1))}, nil, "1 has 2 until 1100"},
		{"what another queue has planned for now, of which nobody knows more", []claim{{job: 1, moldable: 11, state: "Waiting", from: 1000, walltime: 9, resources: []int64{10}}}, nil, nil, "1 has 1 until 1009"},
		{"not what begins later, and not what is ending", []claim{{job: 1, state: "Waiting", from: 1001, walltime: 9, resources: []int64{10}},
			{job: 2, state: "Finishing", from: 900, walltime: 900, resources: []int64{20}}, {job: 3, state: "toError", from: 900, walltime: 900, resources: []int64{30}}}, nil, nil, ""},
		{"an evolving job is one with its companions, whoever is named first", []claim{running(2, 12, 30, 40), running(1, 11, 10, 20)},
			map[int64]*runs{1: asked([]string{"ep1=1x100s", "ep2=2x60s", "deploy"}, hosts(11, 100, 1)), 2: asked([]string{"noop"}, hosts(12, 60, 1))},
			&tables.Orders{Jobs: map[int64]tables.Order{1: {State: "Running"}, 2: {Base: 1, State: "Running"}}}, "1 has 4 until 1100 |2x100 |4x60"},
		{"one of several steps counts with what it has", []claim{running(1, 11, 10, 20)}, map[int64]*runs{1: asked([]string{"ep1=1x100s", "ep2=2x60s,1x9s"}, hosts(11, 100, 1))},
			&tables.Orders{Jobs: map[int64]tables.Order{1: {State: "Running"}}}, "1 has 2 until 1100"},
		{"numbers that nobody has", []claim{running(1, 11, 10, 20)}, map[int64]*runs{1: asked(nil, hosts(11, 300, 1), hosts(12, 200, 1<<31-1))}, nil,
			fmt.Sprintf("1 has 2 until 1100 |2x305 |%dx205", 2*core.MaxNodes)},
	} {
		tr := cluster()
		tr.state.claims, tr.state.running, tr.state.orders = c.claims, c.running, c.orders
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := inWords(p.rule.Running); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAJobThatIsReleasedIsHeldAndNotWantedASecondTime(t *testing.T) {
	for free, want := range map[bool]string{true: "7 has 4 until 1060; beside []", false: "1 has 2 until 1100; beside [7]"} {
		released := request(7, 60, level{"network_address", 2})
		released.types = []string{"ep1=2x50s", "ep2=4x40s"}
		tr := cluster(released)
		tr.state.orders = &tables.Orders{Jobs: map[int64]tables.Order{7: {Released: true, State: "Waiting"}}, Places: map[int64][]int64{7: {10, 20, 30, 40}}}
		if !free {
			tr.state.claims = []claim{{job: 1, state: "Running", from: 900, walltime: 200, resources: []int64{10, 20}}}
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		evolvingWaiting := []core.JobID{}
		for _, j := range p.rule.Beside {
			evolvingWaiting = append(evolvingWaiting, j.ID)
		}
		if got := fmt.Sprintf("%s; beside %v", inWords(p.rule.Running), evolvingWaiting); got != want {
			t.Errorf("where its hosts are free, %t: %s, want %s", free, got, want)
		}
	}
}
