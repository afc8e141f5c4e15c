package moldable

import (
	"math/bits"
	"slices"

	"accordion/core"
)

// Coupled is an application that divides its work over hosts of several clusters, and waits for the network once in each
// iteration. Its speed is the sum of the speeds of all its hosts, and its wait is the latency between its two most distant
// clusters. Coupled replaces the application CEM of RR-7389, section 6, whose function is published elsewhere.
type Coupled struct {
	Work       float64   // host-seconds at speed 1
	Iterations float64   // number of iterations, each of which waits for the network once
	Speeds     []float64 // speed of a host of each cluster, above 0
	Groups     []Group   // the sets of clusters that the application considers, in this order

	// Walltime converts the needed seconds to the requested time: from 1 to core.MaxTotal, and monotone.
	Walltime func(seconds float64) core.Time
}

// Group is a set of clusters whose hosts may work together.
type Group struct {
	Clusters []int   // ascending
	Latency  float64 // seconds between the two most distant clusters
}

// Time returns the seconds that the application needs on the given hosts of each cluster. `latency` is the
// latency between the two most distant clusters. Each product is converted before it is added, so that no
// processor fuses the two operations and rounds differently.
func (c *Coupled) Time(hosts []int, latency float64) float64 {
	power := 0.0
	for i, n := range hosts {
		if n > 0 {
			power += float64(float64(n) * c.Speeds[i])
		}
	}
	return float64(c.Work/power) + float64(c.Iterations*latency)
}

// Selection returns a Selection that takes all offered hosts of one group: the group on which the application
// is fastest. If groups are equally fast, it takes the one with the fewest clusters, then the first. The groups
// must include every single cluster. More hosts never make the application slower as long as the two most
// distant clusters stay the same. So the result is the fastest possible if the groups are all sets of clusters,
// or if any two groups with the same latency are equal or disjoint.
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
			const same = 1e-9 // seconds; smaller differences are rounding
			if t := c.Time(offeredThere, g.Latency); fewest == 0 || t < best-same || t < best+same && used < fewest {
				best, fewest = t, used
				copy(taken, offeredThere)
			}
		}
		return taken, c.Walltime(best)
	}
}

// MostExhaustive is the largest number of clusters for which Groups lists every set.
const MostExhaustive = 12

// Groups returns the sets of clusters that an application should consider, smaller sets first. Up to MostExhaustive clusters
// it returns all sets. For more clusters it returns, for each cluster and each latency, the set of clusters within that latency
// of the cluster. `latency` returns seconds and is symmetric. Groups does not call it for a cluster and itself.
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

// around returns the groups of a cluster: the cluster alone, and for each latency the clusters within that latency of it.
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
