package launcher

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// profiles draws steps that begin at or before `now`. The numbers are small, so that they are often equal.
func profiles(now int64) *rapid.Generator[[]int64] {
	return rapid.Custom(func(t *rapid.T) []int64 {
		at := now - rapid.Int64Range(0, 5).Draw(t, "before")
		var steps []int64
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			steps = append(steps, at, rapid.Int64Range(0, 3).Draw(t, "busy"))
			at += rapid.Int64Range(1, 6).Draw(t, "for")
		}
		return steps
	})
}

// busy returns how many hosts are busy at a second; 0 before the first step.
func busy(steps []int64, at int64) int64 {
	if i := after(steps, at); i > 0 {
		return steps[2*i-1]
	}
	return 0
}

func TestAChangeReplacesItsSpanAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.SampledFrom([]int64{20, 120, 1 << 16, 1_700_000_000, 1 << 33}).Draw(t, "now")
		old, steps := profiles(now).Draw(t, "old"), profiles(now).Draw(t, "steps")
		from, last := steps[0], steps[len(steps)-2]
		to := rapid.SampledFrom([]int64{0, max(last, old[0]) + 1, max(last, old[0]) + 9}).Draw(t, "to")
		view := &View{Number: 1, Clusters: map[int]Picture{7: {Steps: old}}}
		change := &Change{View: 2, Base: 1, Now: now, All: []ClusterChange{{C: 7, Kind: KindOccupation, From: from, To: to, Steps: steps}}}
		if err := view.Apply(change); err != nil {
			t.Fatal(err)
		}
		got := view.Clusters[7].Steps
		for at := now; at < now+90; at++ {
			want := busy(old, at)
			if from <= at && (to == 0 || at < to) {
				want = busy(steps, at)
			}
			if busy(got, at) != want {
				t.Fatalf("[%d, %d) %v on %v makes %v: at %d %d are busy, want %d", from, to, steps, old, got, at, busy(got, at), want)
			}
		}
		for i := 3; i < len(got); i += 2 {
			if got[i] == got[i-2] {
				t.Fatalf("%v has equal neighbors", got)
			}
		}
	})
}

func TestAChangeThatCannotBeLeavesTheViewAsItWas(t *testing.T) {
	occupied := func(from, to int64, steps ...int64) ClusterChange {
		return ClusterChange{C: 1, Kind: KindOccupation, From: from, To: to, Steps: steps}
	}
	for name, c := range map[string]Change{
		"odd":                        {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0, 10, 1, 20)}},
		"none":                       {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0)}},
		"not rising":                 {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0, 10, 1, 10, 2)}},
		"beyond to":                  {View: 6, Base: 5, All: []ClusterChange{occupied(10, 20, 10, 1, 20, 2)}},
		"to before from":             {View: 6, Base: 5, All: []ClusterChange{occupied(10, 10, 10, 1)}},
		"not from its from":          {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0, 11, 1)}},
		"fewer than none":            {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0, 10, -1)}},
		"a cluster twice":            {View: 6, Base: 5, All: []ClusterChange{occupied(10, 0, 10, 1), occupied(10, 0, 10, 1)}},
		"no kind":                    {View: 6, Base: 5, All: []ClusterChange{{C: 1}}},
		"no info":                    {View: 6, Base: 5, All: []ClusterChange{{C: 1, Kind: KindInfo}}},
		"a base of the future":       {View: 6, Base: 6},
		"no number":                  {Base: 0},
		"another base":               {View: 6, Base: 4},
		"a gap behind a new profile": {View: 6, Base: 5, All: []ClusterChange{{C: 2, Kind: KindOccupation, From: 10, To: 20, Steps: []int64{10, 1}}}},
	} {
		view := View{Number: 5, Now: 10, Clusters: map[int]Picture{1: {Steps: []int64{10, 3}}}}
		err := view.Apply(&c)
		var problem *Problem
		var base *BaseError
		if !errors.As(err, &problem) && !errors.As(err, &base) {
			t.Errorf("%s: %v", name, err)
		}
		if view.Number != 5 || !slices.Equal(view.Clusters[1].Steps, []int64{10, 3}) || len(view.Clusters) != 1 {
			t.Errorf("%s: the view is %+v", name, view)
		}
	}
}

func TestAWholeViewForgetsProfilesAndKeepsWhatClustersAre(t *testing.T) {
	var view View
	view.Know(&Clusters{
		All:   []Cluster{{C: 1, Name: "a", Hosts: 4}, {C: 2, Name: "b", Hosts: 8}},
		Links: []Link{{A: 1, B: 2, Latency: 5000}},
	})
	step := func(c int) ClusterChange {
		return ClusterChange{C: c, Kind: KindOccupation, From: 10, Steps: []int64{10, 3}}
	}
	if err := view.Apply(&Change{View: 1, Now: 10, All: []ClusterChange{step(1), step(2)}}); err != nil {
		t.Fatal(err)
	}
	if err := view.Apply(&Change{View: 3, Now: 12, Est: 40, All: []ClusterChange{step(2)}}); err != nil {
		t.Fatal(err)
	}
	if a, b := view.Clusters[1], view.Clusters[2]; len(a.Steps) != 0 || a.Info.Name != "a" || len(a.Links) != 1 ||
		!slices.Equal(b.Steps, []int64{12, 3}) || len(b.Links) != 1 || view.Est != 40 {
		t.Errorf("the view is %+v", view)
	}
}
