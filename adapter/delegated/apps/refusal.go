package apps

import (
	"cmp"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/wire/launcher"
)

// Refusal refuses a message: nothing has changed by it.
type Refusal struct{ Code, Field, text string }

// Refuse says why a message is refused: a code of launcher, which field of it, and in words.
func Refuse(code, field, format string, args ...any) *Refusal {
	return &Refusal{code, field, fmt.Sprintf(format, args...)}
}

// Message is what a launcher or a part of the application is told; nil: of none.
func (r *Refusal) Message(seq int64, a *Application) *launcher.Refuse {
	m := &launcher.Refuse{To: seq, Code: r.Code, Text: r.text, Field: r.Field}
	if a != nil && r.Code == launcher.CodeState {
		m.Tag = max(0, a.Tag)
	}
	return m
}

// Check says what is wrong with a request, and else what it asks for, by rising cluster. sees says whether the application's launcher is shown a
// cluster.
func (a *Application) Check(l *launcher.Request, all []*cluster, sees func(cluster int) bool) ([]moldable.Part, *Refusal) {
	switch {
	case a.Phase.Started():
		return nil, Refuse(launcher.CodeState, "t", "application %d has started, with the request of tag %d", a.ID, a.Tag)
	case a.Phase == Ending:
		return nil, Refuse(launcher.CodeState, "t", "application %d is over, or being ended", a.ID)
	case a.Phase == Fresh:
		return nil, Refuse(launcher.CodeState, "t", "application %d has not subscribed", a.ID)
	case l.View < 1 || l.View > a.View:
		return nil, Refuse(launcher.CodeView, "view", "view %d was never shown; the last is %d", l.View, a.View)
	case l.Tag < 0:
		return nil, Refuse(launcher.CodeView, "tag", "a tag is 0 or more, not %d", l.Tag)
	case len(l.Hosts) == 0:
		return nil, Refuse(launcher.CodeHosts, "hosts", "a request needs hosts on at least one cluster")
	}
	most := core.MaxTotal
	if a.Most > 0 {
		most = a.Most
	}
	if l.Walltime < 1 || l.Walltime > most {
		return nil, Refuse(launcher.CodeWalltime, "walltime", "a walltime is 1 to %d seconds here, not %d", most, l.Walltime)
	}
	var parts []moldable.Part
	for _, h := range l.Hosts {
		if h.C < 0 || h.C >= len(all) {
			return nil, Refuse(launcher.CodeCluster, "hosts", "there is no cluster %d", h.C)
		}
		switch c := all[h.C]; {
		case a.Part(h.C) == nil || !sees(h.C) && !c.Passes(a.Filter):
			return nil, Refuse(launcher.CodeCluster, "hosts", "application %d is not subscribed to cluster %s", a.ID, c.Name)
		case slices.ContainsFunc(parts, func(p moldable.Part) bool { return p.Cluster == h.C }):
			return nil, Refuse(launcher.CodeCluster, "hosts", "cluster %s is named twice", c.Name)
		case h.N < 1 || h.N > c.Most():
			return nil, Refuse(launcher.CodeHosts, "hosts", "1 to %d hosts can be had on cluster %s, not %d", c.Most(), c.Name, h.N)
		}
		parts = append(parts, moldable.Part{Cluster: h.C, Hosts: h.N})
	}
	slices.SortFunc(parts, func(p, q moldable.Part) int { return cmp.Compare(p.Cluster, q.Cluster) })
	return parts, nil
}

// Job is a batch job on a cluster.
type Job struct {
	Cluster int
	ID      core.JobID
}

// Named are the jobs that a message names.
func Named(named []launcher.Part, all []*cluster) ([]Job, *Refusal) {
	var out []Job
	for _, p := range named {
		c := slices.IndexFunc(all, func(c *cluster) bool { return c.Name == p.Cluster })
		switch {
		case c < 0:
			return nil, Refuse(launcher.CodeCluster, "jobs", "there is no cluster %q", p.Cluster)
		case all[c].Embedded:
			return nil, Refuse(launcher.CodeCluster, "jobs", "cluster %s makes parts itself: name no job of it", p.Cluster)
		case slices.ContainsFunc(out, func(j Job) bool { return j.Cluster == c }):
			return nil, Refuse(launcher.CodeCluster, "jobs", "cluster %s is named twice", p.Cluster)
		}
		out = append(out, Job{c, core.JobID(p.Job)})
	}
	return out, nil
}

// Replaceable says whether parts may be given other jobs: what may hold nodes is not lost sight of. That may have changed since they were named.
func (a *Application) Replaceable(jobs []Job) *Refusal {
	if a.Phase != Subscribed && a.Phase != Waiting {
		return Refuse(launcher.CodeState, "t", "application %d takes no jobs now: it is %s", a.ID, a.Phase)
	}
	for _, j := range jobs {
		if p := a.Part(j.Cluster); p != nil && p.Drop > 0 {
			return Refuse(launcher.CodeState, "jobs", "what the last try left of job %d on %s is not cleared away yet", p.Job, p.Name)
		}
	}
	return nil
}

// A job that a reading from so many seconds after it was named does not show is none; a cluster has so many seconds to be read.
const (
	shownWithin core.Time = 2
	readWithin  core.Time = 60
)

// Find looks on a cluster for a job that the application named at a second.
func (a *Application) Find(job core.JobID, c *cluster, at, now core.Time) (seen bool, wrong *Refusal) {
	if c.State != nil {
		for _, b := range c.State.Jobs {
			switch {
			case b.ID != job:
			case b.Application != a.ID:
				return false, Refuse(launcher.CodeJob, "jobs", "job %d on %s is not marked launch=%d", job, c.Name, a.ID)
			case b.User != a.User:
				return false, Refuse(launcher.CodeJob, "jobs", "job %d on %s is %s's, and the application %s's", job, c.Name, b.User, a.User)
			case b.State != adapter.Pending:
				return false, Refuse(launcher.CodeJob, "jobs", "job %d on %s does not wait: it is %s", job, c.Name, b.State)
			default:
				return true, nil
			}
		}
		if c.State.Read >= at+shownWithin {
			return false, Refuse(launcher.CodeJob, "jobs", "there is no job %d on %s that is marked launch=%d", job, c.Name, a.ID)
		}
	}
	if now >= at+readWithin {
		return false, Refuse(launcher.CodeJob, "jobs", "cluster %s was not read for %d s: whether there is a job %d is not known", c.Name, readWithin, job)
	}
	return false, nil
}
