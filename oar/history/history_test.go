package history

import (
	"strings"
	"testing"

	"accordion/traces/advise"
)

func TestRunsOfWhatOARKeeps(t *testing.T) {
	jobs := []job{
		{id: 1, name: "cfd_7", user: "ada", project: "phys", queue: "default", state: terminated, submit: 10, start: 100, stop: 400, limit: 600},
		{id: 2, user: "ada", state: terminated, command: "  ./run  --n 5\n", start: 100, stop: 200, exit: 0},
		{id: 3, name: "failed", state: failed, start: 100, stop: 200, exit: 0},
		{id: 4, name: "killed", state: terminated, start: 100, stop: 200, exit: 137 << 8},
		{id: 5, name: "running", state: "Running", start: 100},
		{id: 6, name: "grew", state: terminated, start: 100, stop: 200},
		{id: 7, name: "of old nodes", state: terminated, start: 100, stop: 200},
		{id: 8, name: "in no time", state: terminated, start: 100, stop: 100},
		{id: 10, name: "\x1b[2Jhostile", state: terminated, start: 100, stop: 200},
		{id: 11, name: "before it began", state: terminated, start: 100, stop: 90},
		{id: 9, name: "ending", state: "Finishing", start: 100, stop: 200},
	}
	hosts := map[int64]int{1: 4, 2: 1, 3: 1, 4: 1, 5: 1, 6: 2, 8: 1, 9: 1, 10: 1, 11: 1}
	var left Left
	got := runsOf(jobs, hosts, map[int64]int{6: 1}, &left)
	want := []advise.Run{
		{ID: "1", User: "ada", Account: "phys", Partition: "default", Name: "cfd_7", Submit: 10, Start: 100, End: 400, Requested: 4, Limit: 600, Held: 4, Completed: true, Script: -1},
		{ID: "2", User: "ada", Name: "./run --n 5", Start: 100, End: 200, Requested: 1, Held: 1, Completed: true, Script: -1},
		{ID: "3", Name: "failed", Start: 100, End: 200, Requested: 1, Held: 1, Script: -1},
		{ID: "4", Name: "killed", Start: 100, End: 200, Requested: 1, Held: 1, Script: -1},
		{ID: "8", Name: "in no time", Start: 100, End: 100, Requested: 1, Held: 1, Completed: true, Script: -1},
		{ID: "10", Name: "?[2Jhostile", Start: 100, End: 200, Requested: 1, Held: 1, Completed: true, Script: -1},
	}
	if len(got) != len(want) {
		t.Fatalf("%d runs, want %d", len(got), len(want))
	}
	for i := range want {
		if g, w := got[i], want[i]; g.ID != w.ID || g.Name != w.Name || g.Completed != w.Completed || g.Held != w.Held || g.Start != w.Start || g.End != w.End || g.Limit != w.Limit || g.User != w.User || g.Account != w.Account || g.Partition != w.Partition {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if text := left.String(); left != (Left{Unfinished: 2, Changing: 1, NoNodes: 1, Backwards: 1}) || text != "2 jobs that run, 1 jobs with a profile, and their companions, 1 jobs of which OAR no longer knows the nodes, 1 jobs that ended before they began" {
		t.Errorf("left out: %s", text)
	}
}

func TestALongCommandIsCut(t *testing.T) {
	if got := named(strings.Repeat("é", 500)); len([]rune(got)) != 100 || !strings.HasSuffix(got, "…") {
		t.Errorf("%s", got)
	}
}
