package advise

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
)

// nodes returns n nodes, numbered from first.
func nodes(first, n int32) []int32 {
	set := make([]int32, n)
	for i := range set {
		set[i] = first + int32(i)
	}
	return set
}

// job returns a run from second 0 on eight nodes, with its script on node 0.
func job(end core.Time, steps ...Step) *Run {
	return &Run{ID: "1", User: "ada", Name: "mesh", Start: 0, End: end, Requested: 8, Held: 8, Completed: true, Steps: steps}
}

func TestJobUsesTheNodesOfItsRunningSteps(t *testing.T) {
	for _, c := range []struct {
		name string
		run  *Run
		want string
	}{
		{"one after the other", job(300, Step{"a", 0, 100, nodes(0, 2)}, Step{"b", 100, 200, nodes(0, 6)}, Step{"c", 200, 300, nodes(0, 1)}), "2x100s,6x100s,1x100s"},
		{"a gap takes the larger neighbour", job(300, Step{"a", 0, 100, nodes(0, 2)}, Step{"b", 150, 300, nodes(0, 6)}), "2x100s,6x200s"},
		{"a gap on the way down", job(300, Step{"a", 0, 100, nodes(0, 6)}, Step{"b", 150, 300, nodes(0, 2)}), "6x150s,2x150s"},
		{"before and after the steps there is the script", job(300, Step{"a", 100, 200, nodes(0, 4)}), "1x100s,4x100s,1x100s"},
		{"side by side", job(100, Step{"a", 0, 60, nodes(0, 2)}, Step{"b", 40, 100, nodes(2, 2)}), "2x40s,4x20s,3x40s"},
		{"on the same nodes", job(100, Step{"a", 0, 60, nodes(0, 3)}, Step{"b", 40, 100, nodes(0, 2)}), "3x60s,2x40s"},
		{"the script's node is used where no step is on it", job(100, Step{"a", 0, 100, nodes(3, 2)}), "3x100s"},
		{"a step within a second used its nodes", job(100, Step{"a", 50, 50, nodes(0, 8)}), "1x50s,8x1s,1x49s"},
		{"a clock that jumped", job(100, Step{"a", -50, 40, nodes(0, 2)}, Step{"b", 90, 500, nodes(0, 4)}, Step{"c", 700, 20, nodes(0, 5)}), "2x40s,4x59s,5x1s"},
		{"no steps, no profile", job(100), ""},
		{"no length, no profile", job(0, Step{"a", 0, 0, nodes(0, 2)}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := observed(c.run).String(); got != c.want {
				t.Errorf("it used %s, want %s", got, c.want)
			}
		})
	}
}

func TestJobWithoutScriptUsesTheNodesOfItsSteps(t *testing.T) {
	r := job(100, Step{"a", 20, 100, nodes(3, 2)})
	r.Script = -1
	if got := observed(r).String(); got != "1x20s,2x80s" {
		t.Errorf("it used %s", got)
	}
}

// plain computes the same as observed, second by second.
func plain(r *Run) core.EP {
	if len(r.Steps) == 0 || r.End <= r.Start {
		return nil
	}
	n := int(r.End - r.Start)
	used := make([]int, n) // 0 if no step is running
	for at := range used {
		on := map[int32]bool{}
		running := false
		for i := range r.Steps {
			if from, to := r.within(&r.Steps[i]); from-r.Start <= core.Time(at) && core.Time(at) < to-r.Start {
				running = true
				for _, node := range r.Steps[i].Nodes {
					on[node] = true
				}
			}
		}
		if r.Script >= 0 {
			on[r.Script] = true
		}
		if running {
			used[at] = max(len(on), 1)
		}
	}
	var ep core.EP
	for at := range used {
		nodes := used[at]
		if nodes == 0 {
			before, after := at, at
			for before >= 0 && used[before] == 0 {
				before--
			}
			for after < n && used[after] == 0 {
				after++
			}
			if nodes = 1; before >= 0 && after < n {
				nodes = max(used[before], used[after])
			}
		}
		if last := len(ep) - 1; last >= 0 && ep[last].Nodes == nodes {
			ep[last].Duration++
		} else {
			ep = append(ep, core.Step{Duration: 1, Nodes: nodes})
		}
	}
	return ep
}

// runs draws a run of up to 60 seconds on up to six nodes. Its steps may have wrong times.
var runs = rapid.Custom(func(t *rapid.T) *Run {
	start := rapid.Int64Range(0, 5).Draw(t, "start")
	r := &Run{ID: "1", Name: "any", Start: start, End: start + rapid.Int64Range(0, 60).Draw(t, "length"), Requested: 6, Held: 6, Completed: true, Script: rapid.Int32Range(-1, 5).Draw(t, "script")}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		from := rapid.Int64Range(start-3, r.End+3).Draw(t, "from")
		r.Steps = append(r.Steps, Step{Name: "s", From: from, To: from + rapid.Int64Range(-2, 30).Draw(t, "for"),
			Nodes: rapid.SliceOfNDistinct(rapid.Int32Range(0, 5), 0, 6, rapid.ID).Draw(t, "nodes")})
	}
	return r
})

func TestObservedProfileIsRightInEverySecond(t *testing.T) {
	var w watcher // one watcher for all runs, because it must not keep anything from one run to the next
	rapid.Check(t, func(t *rapid.T) {
		r := runs.Draw(t, "run")
		var got core.EP
		if all := w.observed(r); all != nil {
			got = profile(all)
		}
		if diff := cmp.Diff(plain(r), got); diff != "" {
			t.Errorf("it differs (-second by second +got):\n%s", diff)
		}
	})
}

// observed returns the profile of what a job used, without joining short steps, or nil if the job has no steps.
func observed(r *Run) core.EP {
	if all := new(watcher).observed(r); all != nil {
		return profile(all)
	}
	return nil
}
