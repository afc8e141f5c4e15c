package managed

import (
	"slices"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
)

func TestRejectedJobIsTriedAgainAfterGrowingPauses(t *testing.T) {
	var pauses []core.Time
	for times := range 9 {
		pauses = append(pauses, PauseAfter(times+1))
	}
	if want := []core.Time{10, 20, 40, 80, 160, 320, 600, 600, 600}; !slices.Equal(pauses, want) {
		t.Errorf("the pauses are %v, want %v", pauses, want)
	}
	if PauseAfter(1<<40) != longestPause || PauseAfter(0) != firstPause {
		t.Errorf("%d s after very many times, %d s after none", PauseAfter(1<<40), PauseAfter(0))
	}
	r := &Job{Record: Record{Phase: Starting, Nodes: []string{"n1"}}, Plan: Plan{Course: &Course{}}}
	r.Reject("BadConstraints", 1000, "a")
	r.Reject("BadConstraints", 1010, "a")
	if r.Phase != Waiting || r.Nodes != nil || r.Course != nil || !r.SetAside(time.Unix(1029, 0)) || r.SetAside(time.Unix(1030, 0)) {
		t.Errorf("after the second time it is %s until %d", r.Phase, r.Rejected.Until)
	}
	if data, err := r.Encode(); err != nil {
		t.Fatal(err)
	} else if _, err := Restore(data); err == nil {
		t.Error("a record without a request was read")
	}
}

func TestRejectedJobIsTriedAtOnceWhenItOrTheNodesChange(t *testing.T) {
	seen := adapter.Job{Partition: "main", Tasks: 3, CPUs: 3}
	for name, test := range map[string]struct {
		change func(j *adapter.Job)
		kinds  string
		want   bool
	}{
		"nothing changes":         {func(*adapter.Job) {}, "a", false},
		"its rank changes":        {func(j *adapter.Job) { j.Priority = 7 }, "a", false},
		"it asks for fewer tasks": {func(j *adapter.Job) { j.Tasks = 2 }, "a", true},
		"it asks for less disk":   {func(j *adapter.Job) { j.Needs = "tmp 100" }, "a", true},
		"it goes elsewhere":       {func(j *adapter.Job) { j.Partition = "wide" }, "a", true},
		"other nodes suit it":     {func(j *adapter.Job) { j.Kinds = []string{"fat"} }, "a", true},
		"nodes of another kind":   {func(*adapter.Job) {}, "b", true},
	} {
		r := &Job{Record: Record{Phase: Starting}}
		r.Reject("BadConstraints", 1000, "a")
		r.Reject("BadConstraints", 1010, "a")
		if r.Reconsider(&seen, "a", 1011) {
			t.Errorf("%s: the first reading after it counts as a change", name)
		}
		later := seen
		test.change(&later)
		if r.Reconsider(&later, test.kinds, 1019) {
			t.Errorf("%s: it is tried again less than 10 s after it was sent back", name)
		}
		if got := r.Reconsider(&later, test.kinds, 1020); got != test.want || r.SetAside(time.Unix(1020, 0)) == test.want || (r.Rejected.Times == 0) != test.want {
			t.Errorf("%s: tried again: %v, set aside: %v", name, got, r.SetAside(time.Unix(1020, 0)))
		}
	}
	thin, fat := adapter.Node{Name: "n1", Kind: "thin"}, adapter.Node{Name: "n2", Kind: "fat"}
	a, b := KindsOf([]adapter.Node{thin, fat}), KindsOf([]adapter.Node{{Name: "n2", Kind: "fat", Lost: true}, thin})
	if a != b || a == KindsOf([]adapter.Node{thin, fat, fat}) || a == KindsOf([]adapter.Node{thin, thin}) {
		t.Error("kinds of nodes are told apart by more, or less, than how many there are of each")
	}
}
