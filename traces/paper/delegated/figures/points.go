package figures

import (
	"slices"

	"accordion/traces/paper/delegated"
)

// Variables of the figures.
var (
	shares     = []int{0, 20, 40, 60, 80, 100} // percentages of moldable jobs
	clusters   = []int{1, 2, 3, 4, 5, 6, 7, 8}
	cemShares  = []int{20, 50, 80, 100}          // percentages of cem applications in W2
	wasteCEM   = []int{0, 20, 50, 80, 100}       // percentages of cem applications in Figure 11
	fairStarts = []int{0, 5, 10, 15, 20, 25, 30} // fair-start delays in Figure 11, in seconds
	models     = []delegated.Model{              // interpretations of the cem application (0 hours means the work of the job that it replaces)
		{Hours: 0, Iterations: 10_000}, {Hours: 0, Iterations: 1_000}, {Hours: 0, Iterations: 100},
		{Hours: 600. / 3600, Iterations: 10_000}, {Hours: 1, Iterations: 10_000}, {Hours: 1, Iterations: 1_000},
		{Hours: 10, Iterations: 10_000}, {Hours: 100, Iterations: 10_000},
	}
	fitted = []delegated.Workload{ // interpretations of the log
		{Sizes: delegated.Cut}, {Sizes: delegated.Skip}, {Sizes: delegated.Nodes}, {Sizes: delegated.NodesSkip},
		{Sizes: delegated.Cut, From: 5_000}, {Sizes: delegated.Skip, From: 5_000}, {Sizes: delegated.Cut, From: 20_000},
	}
)

// wasteClusters is the number of clusters of Figure 11.
const wasteClusters = 4

// single returns a point of Figures 7 and 8.
func (e Experiment) single(share, clusters int, rms string) point {
	return point{workload: delegated.Workload{Moldable: share, Sizes: e.Sizes, Model: delegated.Standard}, clusters: clusters, fairStart: fairStart, rms: rms}
}

// w0, w1 and w2 return points of Figures 9 and 11.
func (e Experiment) w0(clusters int) point {
	return e.single(moldableJobs, clusters, delegated.Delegated)
}

func (e Experiment) w1(clusters, at int) point {
	p := e.w0(clusters)
	p.workload.At = at
	return p
}

func (e Experiment) w2(clusters, cem int) point {
	p := e.w0(clusters)
	p.workload.CEM = cem
	return p
}

func (e Experiment) waste(cem, fair int) point {
	p := e.w2(wasteClusters, cem)
	p.fairStart = int64(fair)
	return p
}

// sized and modeled return points of other interpretations of the paper.
func (e Experiment) sized(reading delegated.Workload, share, clusters int) point {
	reading.Moldable, reading.Model = share, delegated.Standard
	return point{workload: reading, clusters: clusters, fairStart: fairStart, rms: delegated.Delegated}
}

func (e Experiment) modeled(m delegated.Model, p point) point {
	p.workload.Model = m
	return p
}

// plan has the runs that some figures need, each once.
type plan struct {
	counted  []point // runs that also give operations and times
	light    []point // runs that are needed only for the waste
	readings []point // points of other interpretations of the paper
}

func (e Experiment) plan(names []string) (all plan) {
	seen := map[point]bool{}
	add := func(p point) {
		if !seen[p] {
			seen[p] = true
			all.counted = append(all.counted, p)
		}
	}
	both := func(share, n int) {
		add(e.single(share, n, delegated.Delegated))
		add(e.single(share, n, delegated.OAR))
	}
	if slices.Contains(names, "fig7") {
		for _, share := range shares {
			both(share, 1)
		}
	}
	if slices.Contains(names, "fig8") {
		for _, n := range clusters {
			both(moldableJobs, n)
		}
	}
	if slices.Contains(names, "fig9") {
		for _, n := range clusters {
			add(e.w0(n))
			add(e.w1(n, place))
			for _, cem := range cemShares {
				add(e.w2(n, cem))
			}
			for at := 1; e.All && at <= delegated.Jobs; at++ {
				add(e.w1(n, at))
			}
		}
	}
	if slices.Contains(names, "fig11") {
		for _, cem := range wasteCEM {
			for _, fair := range fairStarts {
				if p := e.waste(cem, fair); !seen[p] {
					all.light = append(all.light, p)
				}
			}
		}
	}
	if e.Readings > 0 {
		all.readings = e.others()
	}
	return all
}

// others returns the points of other interpretations of the paper.
func (e Experiment) others() (readings []point) {
	for _, r := range fitted {
		for _, share := range []int{60, 80, 100} {
			readings = append(readings, e.sized(r, share, 1))
		}
		for n := 2; n <= 5; n++ {
			readings = append(readings, e.sized(r, moldableJobs, n))
		}
	}
	for _, m := range models {
		for _, cem := range cemShares {
			readings = append(readings, e.modeled(m, e.w2(delegated.MaxClusters, cem)))
		}
		readings = append(readings, e.modeled(m, e.waste(100, 30)))
	}
	return readings
}
