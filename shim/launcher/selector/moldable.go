package selector

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
)

// oneCluster is the Chooser of an application that runs on one cluster, in one of several configurations.
type oneCluster struct {
	sizes []size // ordered by number of hosts; each size is faster than the sizes before it
	moldable.Moldable
	speeds []float64 // speeds of the view's clusters
}

// size is a configuration at speed 1.
type size struct {
	hosts int
	time  core.Time
}

func newMoldable(choices []core.EP) *oneCluster {
	m := &oneCluster{}
	for _, c := range choices {
		m.sizes = append(m.sizes, size{c[0].Nodes, c[0].Duration})
	}
	slices.SortFunc(m.sizes, func(a, b size) int {
		if a.hosts != b.hosts {
			return a.hosts - b.hosts
		}
		return int(min(max(a.time-b.time, -1), 1))
	})
	// Configurations that have more hosts but are not faster are left out. They are useless, and Algorithm 1 requires times that decrease
	// with the number of hosts.
	kept := m.sizes[:0]
	for _, s := range m.sizes {
		if len(kept) == 0 || s.time < kept[len(kept)-1].time {
			kept = append(kept, s)
		}
	}
	m.sizes = kept
	m.Walltime = func(cluster, hosts int) core.Time {
		return seconds(float64(m.at(hosts).time) / m.speeds[cluster])
	}
	return m
}

// at returns the largest configuration with at most `hosts` hosts. The caller ensures that there is one.
func (m *oneCluster) at(hosts int) size {
	i, exact := slices.BinarySearchFunc(m.sizes, hosts, func(s size, n int) int { return s.hosts - n })
	if !exact {
		i--
	}
	return m.sizes[i]
}

func (m *oneCluster) Choose(s Sight, most core.Time) (Answer, error) {
	view := s.view()
	m.speeds = s.speeds()
	m.Most = m.sizes[len(m.sizes)-1].hosts
	best := moldable.Found{}
	cluster := 0
	// Each cluster is searched separately, because the smallest size within the walltime limit depends on the cluster's speed.
	for c := range view {
		m.Least = m.least(c, Longest(most))
		if m.Least == 0 {
			continue
		}
		alone := make(moldable.View, len(view)) // the other clusters have no hosts
		alone[c] = view[c]
		if f := m.Find(alone, s.Now); f.OK && (!best.OK || f.End() < best.End() || f.End() == best.End() && f.Start < best.Start) {
			best, cluster = f, c
			best.Parts = slices.Clone(f.Parts)
		}
	}
	if !best.OK {
		return Answer{}, fmt.Errorf("no cluster is ever large enough for %d hosts%s", m.sizes[0].hosts, within(most))
	}
	// The search returns the largest number of hosts that are free for that time. The configuration may need fewer hosts.
	hosts := m.at(best.Parts[0].Hosts).hosts
	return Answer{Hosts: []moldable.Part{{Cluster: s.Clusters[cluster].C, Hosts: hosts}}, Walltime: best.Walltime}, nil
}

// least returns the smallest configuration within the time limit on a cluster, or 0.
func (m *oneCluster) least(cluster int, limit core.Time) int {
	for _, s := range m.sizes {
		if m.Walltime(cluster, s.hosts) <= limit && float64(s.time)/m.speeds[cluster] <= float64(limit) {
			return s.hosts
		}
	}
	return 0
}

// within names the user's limit, for messages.
func within(most core.Time) string {
	if most <= 0 {
		return ""
	}
	return " within --most " + core.FormatDuration(most)
}
