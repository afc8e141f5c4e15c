package decide

import (
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// found/24. Before, a job was planned for a second after its deadline.
func TestAJobWithADeadlineStartsInTimeOrIsToldThatItCannot(t *testing.T) {
	for _, test := range []struct {
		name   string
		latest core.Time // the last second at which it may start
		busy   core.Time // seconds for which another job has all nodes
		change func(*adapter.Job)
		want   string
	}{
		{"there is room", now + 100, 0, nil, "start, starting"},
		{"there is room at the last second", now + 4, 0, nil, "start, starting"},
		{"no deadline", 0, 200, nil, "waits: nodes"},
		{"room in time", now + 250, 200, nil, "waits: nodes"},
		{"room too late", now + 150, 200, nil, "waits: no place in the plan by its deadline"},
		{"a start takes some seconds", now + 3, 0, nil, "waits: no place in the plan by its deadline"},
		{"clocks differ", now - 5, 0, nil, "waits: no place in the plan by its deadline"},
		{"too late whatever happens", now - 6, 0, nil, "refuse, refused"},
		{"… and it depends on another job", now - 6, 0, func(j *adapter.Job) { j.Blocked, j.Why = true, "Dependency" }, "waits: Dependency"},
		{"… and its owner holds it", now - 6, 0, func(j *adapter.Job) { j.HeldByUser = true }, "adopt"},
	} {
		r := waits()
		r.Seen.Latest = test.latest
		if test.latest > 0 {
			r.Seen.Deadline = test.latest + 300
		}
		if test.change != nil {
			test.change(r.Seen)
		}
		jobs := []adapter.Job{*r.Seen}
		if test.busy > 0 {
			jobs = append(jobs, adapter.Job{Key: adapter.Key{ID: 9}, State: adapter.Running, Nodes: []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"}, Started: now - 10, Limit: test.busy + 10})
		}
		d := about(r, pool(jobs...), nil)
		if got := text(d); got != test.want && !strings.HasPrefix(got, test.want+", ") {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if (r.Course == nil) != strings.Contains(text(d), "no place") && !r.Seen.Blocked && d.Do == nil {
			t.Errorf("%s: its place in the plan is %+v", test.name, r.Course)
		}
	}
}
