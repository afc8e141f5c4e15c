package selector

import (
	"maps"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// Sight is a whole view, with everything that a launcher sees. Times are Unix seconds of the sidecar's clock.
type Sight struct {
	View     int64
	Now      core.Time
	Estimate core.Time // when the last request would start; 0 if unknown
	Clusters []Seen    // by number
	Links    []launcher.Link
}

// Seen is a cluster with its occupation.
type Seen struct {
	launcher.Cluster
	Points []profile.Point
}

// Of returns the content of a view. The result shares no memory that changes later.
func Of(v *launcher.View) Sight {
	s := Sight{View: v.Number, Now: v.Now, Estimate: v.Est}
	for _, c := range slices.Sorted(maps.Keys(v.Clusters)) {
		p := v.Clusters[c]
		seen := Seen{Cluster: p.Info}
		seen.C = c
		for i := 0; i+1 < len(p.Steps); i += 2 {
			seen.Points = append(seen.Points, profile.Point{At: p.Steps[i], Used: int(p.Steps[i+1])})
		}
		s.Clusters = append(s.Clusters, seen)
		s.Links = append(s.Links, p.Links...)
	}
	return s
}

// unlinked is the latency, in seconds, between clusters without a link. The sidecar's configuration has the same default.
const unlinked = 0.050

// view returns the sight in the form that core/moldable needs, which numbers clusters by their index in s.Clusters.
func (s Sight) view() moldable.View {
	v := make(moldable.View, len(s.Clusters))
	for i, c := range s.Clusters {
		v[i] = moldable.Cluster{Hosts: c.Hosts, Points: c.Points}
	}
	return v
}

// speeds returns the clusters' speeds.
func (s Sight) speeds() []float64 {
	all := make([]float64, len(s.Clusters))
	for i, c := range s.Clusters {
		if all[i] = c.Speed; !(c.Speed > 0) { // also true for NaN
			all[i] = 1
		}
	}
	return all
}

// latencies returns the latencies between clusters, in seconds, one row for each cluster.
func (s Sight) latencies() []float64 {
	n := len(s.Clusters)
	place := make(map[int]int, n)
	for i, c := range s.Clusters {
		place[c.C] = i
	}
	all := make([]float64, n*n)
	for i := range all {
		if i/n != i%n {
			all[i] = unlinked
		}
	}
	for _, l := range s.Links {
		a, known := place[l.A]
		b, also := place[l.B]
		if known && also && a != b && l.Latency >= 0 {
			all[a*n+b] = float64(l.Latency) / 1e6
			all[b*n+a] = all[a*n+b]
		}
	}
	return all
}

// Cluster returns the cluster with a number, or nil.
func (s Sight) Cluster(c int) *Seen {
	for i := range s.Clusters {
		if s.Clusters[i].C == c {
			return &s.Clusters[i]
		}
	}
	return nil
}
