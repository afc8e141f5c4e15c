package place_test

import (
	"slices"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/place"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAssignFollowsAlgorithm1(t *testing.T) {
	got, err := place.Assign(5, []core.Allocation{
		{Job: 1, EP: epOf("0x10 2x10 4x10 1x10")},
		{Job: 2, EP: epOf("3x20 1x10")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]place.Interval{
		{{0, 10, nil}, {10, 20, []int{3, 4}}, {20, 30, []int{1, 2, 3, 4}}, {30, 40, []int{3}}},
		{{0, 20, []int{0, 1, 2}}, {20, 30, []int{0}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTheApplicationChoosesWhatItFrees(t *testing.T) {
	first := func(_ core.JobID, held []int, n int) []int { return held[:n] }
	got, err := place.Assign(3, []core.Allocation{{Job: 1, EP: epOf("3x5 1x5")}}, first)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{2}, got[0][1].Nodes); d != "" {
		t.Error(d)
	}
}

func TestAssignSaysWhatIsWrong(t *testing.T) {
	shrinking := []core.Allocation{{Job: 7, EP: epOf("3x5 1x5")}}
	choosing := func(nodes ...int) place.Choose {
		return func(core.JobID, []int, int) []int { return nodes }
	}
	for _, c := range []struct {
		name   string
		nodes  int
		jobs   []core.Allocation
		choose place.Choose
		want   string
	}{
		{"too few nodes", 2, shrinking, nil, "second 0: job 7 needs 3 more nodes, but only 2 of 2 are free"},
		{"no nodes", -3, shrinking, nil, "only 0 of 0 are free"},
		{"a negative count", 9, []core.Allocation{{Job: 7, EP: epOf("-1x5")}}, nil, "step 1 of job 7 is -1 nodes"},
		{"a negative duration", 9, []core.Allocation{{Job: 7, EP: epOf("1x-5")}}, nil, "for -5 seconds"},
		{"one too few chosen", 9, shrinking, choosing(1), "has to free 2 of its nodes, but it chose 1"},
		{"a free node chosen", 9, shrinking, choosing(1, 8), "chose to free node 8, which it does not hold"},
		{"a node chosen twice", 9, shrinking, choosing(1, 1), "chose to free node 1, which it does not hold"},
		{"no node of the machine chosen", 9, shrinking, choosing(1, -1), "node -1, which"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := place.Assign(c.nodes, c.jobs, c.choose)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// The test checks conditions C2 to C4 of RR-7205, section 3.2, whatever the applications choose.
func TestANodeIsNeverAssignedToTwoJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]core.Allocation, rapid.IntRange(1, 6).Draw(t, "jobs"))
		var end core.Time
		for i := range jobs {
			jobs[i] = core.Allocation{Job: core.JobID(i), Start: core.Time(rapid.IntRange(0, 9).Draw(t, "start")), EP: drawEP(t, 5, 4, 5)}
			end = max(end, jobs[i].End())
		}
		nodes := 0
		for x := range end {
			sum := 0
			for _, j := range jobs {
				sum += j.EP.At(x - j.Start)
			}
			nodes = max(nodes, sum)
		}
		choose := func(_ core.JobID, held []int, n int) []int {
			return rapid.Permutation(held).Draw(t, "chosen")[:n]
		}
		got, err := place.Assign(nodes, jobs, choose)
		if err != nil {
			t.Fatalf("the counts fit %d nodes, but: %v", nodes, err)
		}
		if _, err := place.Assign(nodes-1, jobs, choose); err == nil && nodes > 0 {
			t.Fatalf("assigned on %d nodes what needs %d", nodes-1, nodes)
		}
		for x := range end {
			owner := map[int]core.JobID{}
			for i, j := range jobs {
				var held []int
				for _, s := range got[i] {
					if s.From <= x && x < s.To {
						held = s.Nodes
					}
				}
				if len(held) != j.EP.At(x-j.Start) {
					t.Fatalf("job %d has nodes %v at second %d, want %d", j.Job, held, x, j.EP.At(x-j.Start))
				}
				for _, node := range held {
					if other, taken := owner[node]; taken || node < 0 || node >= nodes {
						t.Fatalf("node %d at second %d: given to job %d, held by %d", node, x, j.Job, other)
					}
					owner[node] = j.Job
				}
			}
		}
		for i := range got {
			for k := 1; k < len(got[i]); k++ {
				before, after := got[i][k-1].Nodes, got[i][k].Nodes
				if len(before) > len(after) {
					before, after = after, before
				}
				for _, node := range before {
					if !slices.Contains(after, node) {
						t.Fatalf("job %d migrates from %v to %v", i, got[i][k-1].Nodes, got[i][k].Nodes)
					}
				}
			}
		}
	})
}
