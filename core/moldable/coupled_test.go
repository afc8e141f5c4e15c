package moldable

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
)

func ceil(seconds float64) core.Time { return max(1, core.Time(math.Ceil(seconds-1e-9))) }

func TestGroupsAreEverySetOfFewClustersAndTheNeighboursOfMany(t *testing.T) {
	far := func(a, b int) float64 {
		if a/2 == b/2 {
			return 1
		}
		return 5
	}
	want := []Group{
		{[]int{0}, 0}, {[]int{1}, 0}, {[]int{2}, 0},
		{[]int{0, 1}, 1}, {[]int{0, 2}, 5}, {[]int{1, 2}, 5},
		{[]int{0, 1, 2}, 5},
	}
	if d := cmp.Diff(want, Groups(3, far)); d != "" {
		t.Errorf("three clusters (-want +got):\n%s", d)
	}
	if n := len(Groups(MostExhaustive, far)); n != 1<<MostExhaustive-1 {
		t.Errorf("%d clusters have %d groups", MostExhaustive, n)
	}
	many := Groups(14, far)
	if len(many) != 14+7+1 {
		t.Fatalf("14 clusters in pairs have %d groups: %v", len(many), many)
	}
	if d := cmp.Diff(Group{[]int{2, 3}, 1}, many[14+1]); d != "" {
		t.Error(d)
	}
	if last := many[len(many)-1]; len(last.Clusters) != 14 || last.Latency != 5 {
		t.Errorf("the last group is %v", last)
	}
	if got := Groups(0, far); len(got) != 0 {
		t.Errorf("no clusters have the groups %v", got)
	}
}

// drawCoupled draws an application and arbitrary symmetric latencies.
func drawCoupled(t *rapid.T, clusters int) (*Coupled, func(a, b int) float64) {
	between := make([][]float64, clusters)
	for a := range between {
		between[a] = make([]float64, clusters)
		for b := range a {
			between[a][b] = float64(rapid.IntRange(0, 5).Draw(t, "latency"))
			between[b][a] = between[a][b]
		}
	}
	latency := func(a, b int) float64 { return between[a][b] }
	c := &Coupled{
		Work:       float64(rapid.IntRange(1, 1000).Draw(t, "work")),
		Iterations: float64(rapid.IntRange(0, 20).Draw(t, "iterations")),
		Groups:     Groups(clusters, latency),
		Walltime:   ceil,
	}
	for range clusters {
		c.Speeds = append(c.Speeds, float64(rapid.IntRange(1, 20).Draw(t, "speed"))/10)
	}
	return c, latency
}

// The second implementation tries every vector of hosts within the offer.
func TestNothingIsQuickerThanWhatACoupledApplicationTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := rapid.IntRange(1, 4).Draw(t, "clusters")
		c, latency := drawCoupled(t, clusters)
		offered := rapid.SliceOfN(rapid.IntRange(0, 3), clusters, clusters).Draw(t, "offered")
		if !anything(offered) {
			offered[0] = 1
		}
		quickest := math.Inf(1)
		vector := make([]int, clusters)
		for next := 0; next < clusters; {
			for next = 0; next < clusters; next++ {
				if vector[next]++; vector[next] <= offered[next] {
					break
				}
				vector[next] = 0
			}
			if next < clusters {
				quickest = min(quickest, c.Time(vector, farthest(vector, latency)))
			}
		}
		taken, walltime := c.Selection()(offered)
		if took := c.Time(taken, farthest(taken, latency)); took > quickest+2e-9 || walltime != ceil(took) {
			t.Fatalf("of %v hosts %v are taken, for %g s (walltime %d): %g s can be had", offered, taken, took, walltime, quickest)
		}
	})
}

func farthest(hosts []int, latency func(a, b int) float64) float64 {
	most := 0.0
	for a, n := range hosts {
		for b, m := range hosts[:a] {
			if n > 0 && m > 0 {
				most = max(most, latency(a, b))
			}
		}
	}
	return most
}

// Algorithm 2 relies on two properties of a selection. A larger offer never gives a longer time, and the selection takes only
// hosts that were offered.
func TestACoupledApplicationIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := rapid.SampledFrom([]int{1, 3, 6, 13, 15}).Draw(t, "clusters")
		c, _ := drawCoupled(t, clusters)
		fewer := rapid.SliceOfN(rapid.IntRange(0, 4), clusters, clusters).Draw(t, "fewer")
		fewer[0]++
		more := slices.Clone(fewer)
		for i := range more {
			more[i] += rapid.IntRange(0, 2).Draw(t, "more")
		}
		f := c.Selection()
		few, long := f(fewer)
		if !within(few, fewer) || !anything(few) {
			t.Fatalf("of %v hosts %v are taken", fewer, few)
		}
		if _, short := f(more); short > long {
			t.Fatalf("offered %v it takes %d s, offered %v %d s", fewer, long, more, short)
		}
	})
}
