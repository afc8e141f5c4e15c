package decide

import (
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

func TestARigidJobIsLetInAtItsTimeAndKeptOutBefore(t *testing.T) {
	other := adapter.Job{Key: adapter.Key{ID: 1}, State: adapter.Running, Started: now - 10, Limit: 100, Nodes: []string{"n1", "n2", "n3", "n4", "n5", "n6"}}
	first := adapter.Job{Key: adapter.Key{ID: 2}, State: adapter.Pending, Want: 8, Limit: 60, Priority: 9} // an ordinary one, before it
	for _, c := range []struct {
		name   string
		change func(r *managed.Job, j *adapter.Job)
		size   int
		before []adapter.Job
		want   string
	}{
		{"it fits", nil, 2, nil, "let in"},
		{"it is the next", nil, 8, nil, "let in"},
		{"it is in the queue already", func(_ *managed.Job, j *adapter.Job) { j.Held, j.Why = false, "Resources" }, 2, nil, "waits: the batch system starts it: Resources"},
		{"it was let in", func(r *managed.Job, j *adapter.Job) { j.Held, r.Let = false, now-50 }, 8, nil, "waits: the batch system starts it"},
		{"it waits for another", func(_ *managed.Job, j *adapter.Job) { j.Blocked, j.Why = true, "Dependency" }, 2, nil, "waits: Dependency"},
		{"a limit of the site's is in the way", func(_ *managed.Job, j *adapter.Job) { j.Held, j.Blocked, j.Why = false, true, "AssocGrpNodeLimit" }, 2, nil,
			"waits: the batch system starts it: AssocGrpNodeLimit"},
		{"its owner holds it", func(_ *managed.Job, j *adapter.Job) { j.HeldByUser, j.Priority = true, 0 }, 2, nil, "waits: held by its owner or an operator; it goes on after scontrol release 7"},
		{"an operator holds it", func(_ *managed.Job, j *adapter.Job) { j.Priority = 0 }, 2, nil, "waits: held by its owner or an operator; it goes on after scontrol release 7"},
		{"it needs more than there is", nil, 9, nil, "waits: no place in the plan"},
		{"an ordinary job is before it", nil, 2, []adapter.Job{first}, "let in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := adapter.Job{Key: adapter.Key{ID: 7}, State: adapter.Pending, Rigid: true, Held: true, Priority: 5, Want: c.size, Limit: 60}
			r := managed.New(&j, adapter.RequestOfRigid(&j), []core.EP{{{Nodes: c.size, Duration: 60}}})
			if c.change != nil {
				c.change(r, &j)
			}
			d := about(r, pool(append(append([]adapter.Job{other}, c.before...), j)...), nil)
			if got := text(d); got != c.want {
				t.Errorf("decided: %s, want %s", got, c.want)
			}
		})
	}
}
