package applications

import (
	"slices"

	"accordion/adapter"
	kept "accordion/adapter/application"
	"accordion/adapter/sight"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// pending is a subscription, or parts, whose jobs are not all seen yet: a batch system shows a job a moment after it was submitted.
type pending struct {
	seq       int64
	subscribe *launcher.Subscribe // nil: parts
	jobs      []job
	at        core.Time
}

// job is a batch job on a cluster.
type job struct {
	cluster int
	id      core.JobID
}

// A job that a reading from so many seconds after it was named does not show is none; a cluster has so many seconds to be read.
const (
	shownWithin core.Time = 2
	readWithin  core.Time = 60
)

// subscribe takes a subscription; its answer may come later, when its jobs are seen.
func (m *Machine) subscribe(s *session, seq int64, l *launcher.Subscribe) *no {
	a := s.app
	if a.Phase != fresh || a.pending != nil {
		return refusal(launcher.CodeState, "t", "application %d has subscribed; withdraw it (done) and begin anew to change that", a.ID)
	}
	if l.Most < 0 || l.Most > core.MaxTotal {
		return refusal(launcher.CodeWalltime, "most", "the largest walltime is 0 (any) to %d seconds, not %d", core.MaxTotal, l.Most)
	}
	jobs, wrong := m.jobs(l.Jobs)
	if wrong != nil {
		return wrong
	}
	if !slices.ContainsFunc(m.clusters, func(c *cluster) bool {
		return c.may(l.Filter) && (c.Embedded || slices.ContainsFunc(jobs, func(j job) bool { return m.clusters[j.cluster] == c }))
	}) {
		return refusal(launcher.CodeCluster, "filter", "no cluster is left by the filter, of those on which the application has a job")
	}
	a.pending = &pending{seq: seq, subscribe: l, jobs: jobs, at: m.now}
	return m.try(a)
}

// parts takes batch jobs in place of former ones.
func (m *Machine) parts(s *session, seq int64, l *launcher.Parts) *no {
	a := s.app
	if a.pending != nil {
		return refusal(launcher.CodeState, "t", "jobs of application %d that were named before are still looked for", a.ID)
	}
	jobs, wrong := m.jobs(l.Jobs)
	if wrong != nil {
		return wrong
	}
	a.pending = &pending{seq: seq, jobs: jobs, at: m.now}
	return m.try(a)
}

// replaceable says whether parts may be given other jobs: what may hold nodes is not lost sight of. That may have changed since they were named.
func replaceable(a *application, jobs []job) *no {
	if a.Phase != subscribed && a.Phase != waiting {
		return refusal(launcher.CodeState, "t", "application %d takes no jobs now: it is %s", a.ID, a.Phase)
	}
	for _, j := range jobs {
		if p := a.Part(j.cluster); p != nil && p.Drop > 0 {
			return refusal(launcher.CodeState, "jobs", "what the last try left of job %d on %s is not cleared away yet", p.Job, p.Name)
		}
	}
	return nil
}

// jobs are those that a message names.
func (m *Machine) jobs(all []launcher.Part) ([]job, *no) {
	var out []job
	for _, p := range all {
		c := slices.IndexFunc(m.clusters, func(c *cluster) bool { return c.Name == p.Cluster })
		switch {
		case c < 0:
			return nil, refusal(launcher.CodeCluster, "jobs", "there is no cluster %q", p.Cluster)
		case m.clusters[c].Embedded:
			return nil, refusal(launcher.CodeCluster, "jobs", "cluster %s makes parts itself: name no job of it", p.Cluster)
		case slices.ContainsFunc(out, func(j job) bool { return j.cluster == c }):
			return nil, refusal(launcher.CodeCluster, "jobs", "cluster %s is named twice", p.Cluster)
		}
		out = append(out, job{c, core.JobID(p.Job)})
	}
	return out, nil
}

// try accepts what is pending if all its jobs are seen, refuses it if one cannot be had, and else lets it wait.
func (m *Machine) try(a *application) *no {
	p := a.pending
	if p.subscribe == nil {
		if wrong := replaceable(a, p.jobs); wrong != nil {
			a.pending = nil
			return wrong
		}
	}
	for _, j := range p.jobs {
		switch seen, wrong := m.find(a, j, p.at); {
		case wrong != nil:
			a.pending = nil
			return wrong
		case !seen:
			return nil
		}
	}
	a.pending = nil
	if p.subscribe != nil {
		a.Phase, a.Rank, a.Filter, a.Most, a.Since = subscribed, p.at, p.subscribe.Filter, p.subscribe.Most, m.now
		for i, c := range m.clusters {
			if c.Embedded && c.may(a.Filter) {
				a.Parts = append(a.Parts, &piece{Cluster: i, Name: c.Name})
			}
		}
		m.place(a)
	}
	for _, j := range p.jobs {
		a.Names(j.cluster, m.clusters[j.cluster].Name, j.id)
	}
	slices.SortFunc(a.Parts, func(p, q *piece) int { return p.Cluster - q.Cluster })
	m.store(a)
	m.okay(a.launcher, p.seq)
	if p.subscribe != nil {
		m.say(a.launcher, m.list(func(c int) bool { return m.visible(a, c) }))
		a.listed = make([]sight.Seen, len(m.clusters))
		for i, c := range m.clusters {
			a.listed[i] = sight.Seen{Told: m.visible(a, i), Info: c.info()}
		}
	}
	return nil
}

// find looks for a job that an application named at a second.
func (m *Machine) find(a *application, j job, at core.Time) (seen bool, wrong *no) {
	c := m.clusters[j.cluster]
	if c.board != nil {
		for _, b := range c.board.Jobs {
			switch {
			case b.ID != j.id:
			case b.Application != a.ID:
				return false, refusal(launcher.CodeJob, "jobs", "job %d on %s is not marked launch=%d", j.id, c.Name, a.ID)
			case b.User != a.User:
				return false, refusal(launcher.CodeJob, "jobs", "job %d on %s is %s's, and the application %s's", j.id, c.Name, b.User, a.User)
			case b.State != adapter.Pending:
				return false, refusal(launcher.CodeJob, "jobs", "job %d on %s does not wait: it is %s", j.id, c.Name, b.State)
			default:
				return true, nil
			}
		}
		if c.board.Read >= at+shownWithin {
			return false, refusal(launcher.CodeJob, "jobs", "there is no job %d on %s that is marked launch=%d", j.id, c.Name, a.ID)
		}
	}
	if m.now >= at+readWithin {
		return false, refusal(launcher.CodeJob, "jobs", "cluster %s was not read for %d s: whether there is a job %d is not known", c.Name, readWithin, j.id)
	}
	return false, nil
}

// retry looks again for the jobs of what is pending.
func (m *Machine) retry(a *application) {
	if p := a.pending; p != nil {
		if wrong := m.try(a); wrong != nil {
			m.say(a.launcher, wrong.message(p.seq, a))
		}
		m.touch(a)
	}
}

// may says whether a filter lets a cluster through, as far as the cluster is known.
func (c *cluster) may(f launcher.Filter) bool { return kept.Admits(f, c.Name, c.Attrs, c.board) }
