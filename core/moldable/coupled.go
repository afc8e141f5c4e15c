package moldable

import (
	"math/bits"
	"slices"

	"accordion/core"
)

// Coupled is an application that divides its work over hosts of several clusters at once, and waits for the network once an
// iteration: it is as quick as all its hosts together, and as slow as the two of its clusters that are farthest apart. It stands
// in for CEM of RR-7389, section 6, whose own function is printed elsewhere.
type Coupled struct {
	Work       float64   // host-seconds at speed 1
	Iterations float64   // each of which waits for the network once
	Speeds     []float64 // of each cluster, above 0
	Groups     []Group   // the sets of clusters that it considers, in this order

	// Walltime makes of the seconds that it needs those that it asks for: never fewer for more, 1 to core.MaxTotal.
	Walltime func(seconds float64) core.Time
}

// Group is a set of clusters whose hosts may work together.
type Group struct {
	Clusters []int   // rising
	Latency  float64 // seconds, between those two that are farthest apart
}

// Time is how many seconds the application needs on so many hosts of each cluster, with a latency between the farthest two.
// Every product is rounded before it is added to anything, so that no machine fuses the two and rounds otherwise.
func (c *Coupled) Time(hosts []int, latency float64) float64 {
	power := 0.0
	for i, n := range hosts {
		if n > 0 {
			power += float64(float64(n) * c.Speeds[i])
		}
	}
	return float64(c.Work/power) + float64(c.Iterations*latency)
}

// Selection takes all hosts that it is offered of one group, that on which the application is the quickest: of several the one
// with the fewest clusters, then the first. Among the groups must be every cluster by itself. As more hosts never hurt where the
// farthest two clusters stay the same, nothing is quicker if the groups are all sets of clusters, or if any two sets of clusters
// that are equally near to each other have no cluster in common or the same ones.
func (c *Coupled) Selection() Selection {
	taken, offeredThere := make([]int, len(c.Speeds)), make([]int, len(c.Speeds))
	return func(offered []int) ([]int, core.Time) {
		best, fewest := 0.0, 0
		for _, g := range c.Groups {
			clear(offeredThere)
			used := 0
			for _, i := range g.Clusters {
				if offeredThere[i] = offered[i]; offered[i] > 0 {
					used++
				}
			}
			if used == 0 {
				continue
			}
			const same = 1e-9 // seconds: what is rounding
			if t := c.Time(offeredThere, g.Latency); fewest == 0 || t < best-same || t < best+same && used < fewest {
				best, fewest = t, used
				copy(taken, offeredThere)
			}
		}
		return taken, c.Walltime(best)
	}
}

// MostExhaustive is up to how many clusters Groups lists every set of them.
const MostExhaustive = 12

// Groups are the sets of clusters that an application should consider, smaller ones first: every one of up to MostExhaustive
// clusters, else for each cluster and each latency those that are no farther from it. The latency, in seconds, is symmetric; that of
// a cluster to itself is not asked for.
func Groups(clusters int, latency func(a, b int) float64) []Group {
	var all []Group
	if clusters <= MostExhaustive {
		for set := uint(1); set < 1<<clusters; set++ {
			var members []int
			for rest := set; rest != 0; rest &= rest - 1 {
				members = append(members, bits.TrailingZeros(rest))
			}
			all = append(all, newGroup(members, latency))
		}
	} else {
		for center := range clusters {
			all = append(all, around(center, clusters, latency)...)
		}
	}
	slices.SortFunc(all, func(a, b Group) int {
		if n := len(a.Clusters) - len(b.Clusters); n != 0 {
			return n
		}
		return slices.Compare(a.Clusters, b.Clusters)
	})
	return slices.CompactFunc(all, func(a, b Group) bool { return slices.Equal(a.Clusters, b.Clusters) })
}

// around are the groups of a cluster: itself, and with each latency those that are no farther from it.
func around(center, clusters int, latency func(a, b int) float64) []Group {
	all := []Group{{Clusters: []int{center}}}
	distances := make([]float64, clusters)
	for i := range distances {
		if i != center {
			distances[i] = latency(center, i)
		}
	}
	for _, farthest := range distances {
		var members []int
		for i, d := range distances {
			if d <= farthest {
				members = append(members, i)
			}
		}
		all = append(all, newGroup(members, latency))
	}
	return all
}

func newGroup(members []int, latency func(a, b int) float64) Group {
	g := Group{Clusters: members}
	for i, a := range members {
		for _, b := range members[:i] {
			g.Latency = max(g.Latency, latency(a, b))
		}
	}
	return g
}
