package apps

import (
	"slices"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// pending is a subscription, or parts, whose jobs are not all seen yet: a batch system shows a job a moment after it was submitted.
type pending struct {
	seq       int64
	subscribe *launcher.Subscribe // nil: parts
	jobs      []Job
	at        core.Time
}

// subscribe takes a subscription; its answer may come later, when its jobs are seen.
func (m *Machine) subscribe(s *session, seq int64, l *launcher.Subscribe) *Refusal {
	a := s.app
	if a.Phase != Fresh || a.pending != nil {
		return Refuse(launcher.CodeState, "t", "application %d has subscribed; withdraw it (done) and begin anew to change that", a.ID)
	}
	if l.Most < 0 || l.Most > core.MaxTotal {
		return Refuse(launcher.CodeWalltime, "most", "the largest walltime is 0 (any) to %d seconds, not %d", core.MaxTotal, l.Most)
	}
	jobs, wrong := Named(l.Jobs, m.clusters)
	if wrong != nil {
		return wrong
	}
	if !slices.ContainsFunc(m.clusters, func(c *cluster) bool {
		return c.Passes(l.Filter) && (c.Embedded || slices.ContainsFunc(jobs, func(j Job) bool { return m.clusters[j.Cluster] == c }))
	}) {
		return Refuse(launcher.CodeCluster, "filter", "no cluster is left by the filter, of those on which the application has a job")
	}
	a.pending = &pending{seq: seq, subscribe: l, jobs: jobs, at: m.now}
	return m.try(a)
}

// parts takes batch jobs in place of former ones.
func (m *Machine) parts(s *session, seq int64, l *launcher.Parts) *Refusal {
	a := s.app
	if a.pending != nil {
		return Refuse(launcher.CodeState, "t", "jobs of application %d that were named before are still looked for", a.ID)
	}
	jobs, wrong := Named(l.Jobs, m.clusters)
	if wrong != nil {
		return wrong
	}
	a.pending = &pending{seq: seq, jobs: jobs, at: m.now}
	return m.try(a)
}

// try accepts what is pending if all its jobs are seen, refuses it if one cannot be had, and else lets it wait.
func (m *Machine) try(a *application) *Refusal {
	p := a.pending
	if p.subscribe == nil {
		if wrong := a.Replaceable(p.jobs); wrong != nil {
			a.pending = nil
			return wrong
		}
	}
	for _, j := range p.jobs {
		switch seen, wrong := a.Find(j.ID, m.clusters[j.Cluster], p.at, m.now); {
		case wrong != nil:
			a.pending = nil
			return wrong
		case !seen:
			return nil
		}
	}
	a.pending = nil
	if p.subscribe != nil {
		a.Phase, a.Rank, a.Filter, a.Most, a.Since = Subscribed, p.at, p.subscribe.Filter, p.subscribe.Most, m.now
		for i, c := range m.clusters {
			if c.Embedded && c.Passes(a.Filter) {
				a.Parts = append(a.Parts, &Part{Cluster: i, Name: c.Name})
			}
		}
		m.place(a)
	}
	for _, j := range p.jobs {
		a.Names(j.Cluster, m.clusters[j.Cluster].Name, j.ID)
	}
	slices.SortFunc(a.Parts, func(p, q *Part) int { return p.Cluster - q.Cluster })
	m.store(a)
	m.okay(a.launcher, p.seq)
	if p.subscribe != nil {
		m.say(a.launcher, m.listOf(func(c int) bool { return m.visible(a, c) }))
		a.listed = make([]Seen, len(m.clusters))
		for i, c := range m.clusters {
			a.listed[i] = Seen{Told: m.visible(a, i), Info: c.Info()}
		}
	}
	return nil
}

// retry looks again for the jobs of what is pending.
func (m *Machine) retry(a *application) {
	if p := a.pending; p != nil {
		if wrong := m.try(a); wrong != nil {
			m.say(a.launcher, wrong.Message(p.seq, &a.Application))
		}
		m.touch(a)
	}
}
