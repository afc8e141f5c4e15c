package delegated

import (
	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// launcher is the launcher of one application.
type launcher struct {
	job      *Job
	view     moldable.View
	moldable moldable.Moldable
	complex  *moldable.Complex // used for cem applications

	walltimes []core.Time // of rigid and moldable applications, cluster by cluster; 0 if not yet computed
	computed  int

	last moldable.Request // the last request that was sent
	ran  []moldable.Part  // what the application got
}

func newLauncher(job *Job, clusters int) *launcher {
	l := &launcher{job: job, view: make(moldable.View, clusters)}
	if job.Kind == CEM {
		l.complex = moldable.NewComplex(job.selection(clusters))
		return l
	}
	l.walltimes = make([]core.Time, clusters*job.sizes())
	l.moldable = moldable.Moldable{Least: job.Least, Most: job.Most, Walltime: l.walltime}
	return l
}

// walltime returns the walltime on a number of hosts of a cluster. It computes each walltime once.
func (l *launcher) walltime(cluster, hosts int) core.Time {
	known := &l.walltimes[cluster*l.job.sizes()+hosts-l.job.Least]
	if *known == 0 {
		*known = l.job.walltime(l.job.time(cluster, hosts))
		l.computed++
	}
	return *known
}

// see updates the view with the changes of a message.
func (l *launcher) see(changes []delegated.Change) {
	for _, c := range changes {
		l.view[c.Cluster] = moldable.Cluster{Hosts: c.Hosts, Points: c.Points}
	}
}

// find returns the application's request, given its view.
func (l *launcher) find(now core.Time) (moldable.Found, error) {
	if l.complex != nil {
		return l.complex.Find(l.view, now)
	}
	return l.moldable.Find(l.view, now), nil
}

// run returns how long the application runs on these hosts.
func (l *launcher) run(parts []moldable.Part) core.Time {
	if l.job.Kind != CEM {
		return l.job.run(l.job.time(parts[0].Cluster, parts[0].Hosts))
	}
	hosts := make([]int, len(l.view))
	for _, p := range parts {
		hosts[p.Cluster] = p.Hosts
	}
	return l.job.run(l.job.several(hosts))
}

// groups returns the sets of clusters that a cem application considers: each cluster, each city of two, each country of four, and all.
func groups(clusters int) []moldable.Group {
	var all []moldable.Group
	for size := 1; size <= MaxClusters; size *= 2 {
		for first := 0; first < clusters; first += size {
			var g moldable.Group
			for c := first; c < min(first+size, clusters); c++ {
				g.Clusters = append(g.Clusters, c)
			}
			g.Latency = latency(first, g.Clusters[len(g.Clusters)-1])
			all = append(all, g)
		}
	}
	return all
}

// selection returns the selection of a cem application. It takes all offered hosts of one cluster, of one city,
// of one country, or of all clusters, whichever is fastest. It replaces the selection of another paper, which
// RR-7389 used and did not print.
func (j *Job) selection(clusters int) moldable.Selection {
	c := j.coupled(clusters)
	c.Groups = groups(clusters)
	c.Walltime = j.walltime
	return c.Selection()
}

// coupled returns a cem job for a number of clusters.
func (j *Job) coupled(clusters int) moldable.Coupled {
	return moldable.Coupled{Work: j.W, Iterations: j.Iterations, Speeds: speeds[:clusters]}
}
