package selector

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
)

// complexChooser is the Chooser of an application that runs on several clusters simultaneously.
type complexChooser struct {
	work, iterations float64
	speeds           []float64 // speeds of the clusters for which `complex` was made
	latencies        []float64
	limit            core.Time
	complex          *moldable.Complex
}

func (x *complexChooser) Choose(s Sight, most core.Time) (Answer, error) {
	if limit := Longest(most); x.complex == nil || x.limit != limit || !slices.Equal(x.speeds, s.speeds()) || !slices.Equal(x.latencies, s.latencies()) {
		x.speeds, x.latencies, x.limit = s.speeds(), s.latencies(), limit
		x.complex = x.made()
	}
	found, err := x.complex.Find(s.view(), s.Now)
	if err != nil {
		return Answer{}, err
	}
	if !found.OK || found.Walltime > x.limit {
		return Answer{}, fmt.Errorf("no set of clusters is ever large enough%s", within(most))
	}
	a := Answer{Walltime: found.Walltime}
	for _, p := range found.Parts {
		a.Hosts = append(a.Hosts, moldable.Part{Cluster: s.Clusters[p.Cluster].C, Hosts: p.Hosts})
	}
	return a, nil
}

// made returns the search for the present clusters. A walltime above the limit counts as the longest possible walltime, so that the search
// prefers every walltime within the limit.
func (x *complexChooser) made() *moldable.Complex {
	c := moldable.Coupled{Work: x.work, Iterations: x.iterations, Speeds: x.speeds, Walltime: func(t float64) core.Time {
		if w := seconds(t); w <= x.limit {
			return w
		}
		return core.MaxTotal
	}}
	n := len(x.speeds)
	c.Groups = moldable.Groups(n, func(a, b int) float64 { return x.latencies[a*n+b] })
	return moldable.NewComplex(c.Selection())
}
