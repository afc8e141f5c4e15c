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

// ack handles a launcher's message that it has received a view, and does not change its request.
func (m *Machine) ack(a *application, view int64) *refusal {
	if view < 1 || view > a.View {
		return refuse(launcher.CodeView, "view", "view %d was never shown; the last is %d", view, a.View)
	}
	m.acknowledge(a, view)
	return nil
}

// acknowledge records that a launcher has received a view. Only after that, the launcher receives the next view.
func (m *Machine) acknowledge(a *application, view int64) {
	if a.unackedSince != 0 && view == a.unackedView {
		a.unackedSince, a.Acked, a.acked = 0, view, a.sent
		m.setViewDue(a)
	}
}

// request handles a request.
func (m *Machine) request(s *session, l *launcher.Request) *refusal {
	a := s.app
	if wrong := m.limit(s, l.View); wrong != nil {
		return wrong
	}
	parts, wrong := a.checkRequest(l, m.clusters, func(c int) bool { return m.visible(a, c) })
	if wrong != nil {
		return wrong
	}
	if a.Phase == Preparing { // the launcher sent a new request before it received the message about the start
		m.retreat(a, "its launcher changed the request", false)
	}
	first := a.Phase == Subscribed
	changed := a.setRequest(l.Tag, moldable.Request{Parts: parts, Walltime: l.Walltime}) || first
	a.Phase = Waiting
	if changed {
		a.sentEstimate, a.moved = noEstimate, ""
	}
	if changed && !first {
		a.moved = "the launcher changed the request"
	}
	m.setViewDue(a)
	m.acknowledge(a, l.View)
	m.store(a)
	return nil
}

// limit returns a refusal if a launcher sends requests too often. It allows one request for each view, and in addition one request a second.
func (m *Machine) limit(s *session, view int64) *refusal {
	if a := s.app; a.unackedSince != 0 && view == a.unackedView && s.answered != view {
		s.answered = view
		return nil
	}
	if s.floods.Allow(m.now) {
		return nil
	}
	return refuse(launcher.CodeFlood, "", "one request a view, and one more a second: wait for the next change")
}

// extra returns `seconds` if the request uses a cluster that is not embedded. Otherwise it returns 0, because on embedded clusters a part
// runs as soon as it starts.
func (m *Machine) extra(a *application, seconds core.Time) core.Time {
	if a.each(func(p *Part) bool { return m.clusters[p.Cluster].Embedded }) {
		return 0
	}
	return seconds
}

// margin returns by how many seconds the time limits of an application's batch jobs exceed its walltime.
func (m *Machine) margin(a *application) core.Time {
	return m.extra(a, m.settings.BringUp+m.settings.Guard)
}

// pending is a message with jobs that readings do not show yet: a subscription, or new jobs for existing parts. It is handled when
// readings show all of the jobs. A batch system may show a job only some time after its submission.
type pending struct {
	seq       int64
	subscribe *launcher.Subscribe // the subscription; nil if the message has new jobs for existing parts
	jobs      []namedJob
	at        core.Time
}

// subscribe handles a subscription. The answer may be sent later, when readings show the jobs in the subscription.
func (m *Machine) subscribe(s *session, seq int64, l *launcher.Subscribe) *refusal {
	a := s.app
	if a.Phase != Fresh || a.pending != nil {
		return refuse(launcher.CodeState, "t", "application %d has subscribed; to change that, withdraw it (done) and start again", a.ID)
	}
	if l.Most < 0 || l.Most > core.MaxTotal {
		return refuse(launcher.CodeWalltime, "most", "the largest walltime is 0 (any) to %d seconds, not %d", core.MaxTotal, l.Most)
	}
	jobs, wrong := namedJobs(l.Jobs, m.clusters)
	if wrong != nil {
		return wrong
	}
	if !slices.ContainsFunc(m.clusters, func(c *cluster) bool {
		return c.passes(l.Filter) && (c.Embedded || slices.ContainsFunc(jobs, func(j namedJob) bool { return m.clusters[j.Cluster] == c }))
	}) {
		return refuse(launcher.CodeCluster, "filter", "the filter excludes all clusters on which the application has a job")
	}
	a.pending = &pending{seq: seq, subscribe: l, jobs: jobs, at: m.now}
	return m.nameJobs(a)
}

// replaceParts handles a message that names new jobs for existing parts.
func (m *Machine) replaceParts(s *session, seq int64, l *launcher.Parts) *refusal {
	a := s.app
	if a.pending != nil {
		return refuse(launcher.CodeState, "t", "jobs of application %d from an earlier message were not found yet", a.ID)
	}
	jobs, wrong := namedJobs(l.Jobs, m.clusters)
	if wrong != nil {
		return wrong
	}
	a.pending = &pending{seq: seq, jobs: jobs, at: m.now}
	return m.nameJobs(a)
}

// nameJobs handles the pending message of an application. It accepts the message if readings show all jobs in it, and refuses the message
// if one of them cannot be used. Otherwise the message stays pending.
func (m *Machine) nameJobs(a *application) *refusal {
	p := a.pending
	if p.subscribe == nil {
		if wrong := a.replaceable(p.jobs); wrong != nil {
			a.pending = nil
			return wrong
		}
	}
	for _, j := range p.jobs {
		switch seen, wrong := a.findJob(j.ID, m.clusters[j.Cluster], p.at, m.now); {
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
			if c.Embedded && c.passes(a.Filter) {
				a.Parts = append(a.Parts, &Part{Cluster: i, Name: c.Name})
			}
		}
		m.place(a)
	}
	for _, j := range p.jobs {
		a.setJob(j.Cluster, m.clusters[j.Cluster].Name, j.ID)
	}
	slices.SortFunc(a.Parts, func(p, q *Part) int { return p.Cluster - q.Cluster })
	m.store(a)
	m.okay(a.launcher, p.seq)
	if p.subscribe != nil {
		m.send(a.launcher, m.listOf(func(c int) bool { return m.visible(a, c) }))
		a.listed = make([]clusterView, len(m.clusters))
		for i, c := range m.clusters {
			a.listed[i] = clusterView{Told: m.visible(a, i), Info: c.info()}
		}
	}
	return nil
}

// retryNaming calls nameJobs again if the application has a pending message.
func (m *Machine) retryNaming(a *application) {
	if p := a.pending; p != nil {
		if wrong := m.nameJobs(a); wrong != nil {
			m.send(a.launcher, wrong.Message(p.seq, &a.Application))
		}
		m.changed(a)
	}
}

// refusal is the reason why a message is refused. A refused message has no effect.
type refusal struct{ Code, Field, text string }

// refuse returns a refusal with a code from package launcher, the name of the wrong field, and a text.
func refuse(code, field, format string, args ...any) *refusal {
	return &refusal{code, field, fmt.Sprintf(format, args...)}
}

// Message returns the answer to a launcher or a part of application `a`. If `a` is nil, the peer belongs to no application.
func (r *refusal) Message(seq int64, a *Application) *launcher.Refuse {
	m := &launcher.Refuse{To: seq, Code: r.Code, Text: r.text, Field: r.Field}
	if a != nil && r.Code == launcher.CodeState {
		m.Tag = max(0, a.Tag)
	}
	return m
}

// checkRequest returns the parts of a request, ordered by cluster, or why the request is refused. The function `sees` reports whether the
// launcher can see a cluster.
func (a *Application) checkRequest(l *launcher.Request, all []*cluster, sees func(cluster int) bool) ([]moldable.Part, *refusal) {
	switch {
	case a.Phase.Started():
		return nil, refuse(launcher.CodeState, "t", "application %d has started, with the request of tag %d", a.ID, a.Tag)
	case a.Phase == Ending:
		return nil, refuse(launcher.CodeState, "t", "application %d is over, or being ended", a.ID)
	case a.Phase == Fresh:
		return nil, refuse(launcher.CodeState, "t", "application %d has not subscribed", a.ID)
	case l.View < 1 || l.View > a.View:
		return nil, refuse(launcher.CodeView, "view", "view %d was never shown; the last is %d", l.View, a.View)
	case l.Tag < 0:
		return nil, refuse(launcher.CodeView, "tag", "a tag is 0 or more, not %d", l.Tag)
	case len(l.Hosts) == 0:
		return nil, refuse(launcher.CodeHosts, "hosts", "a request needs hosts on at least one cluster")
	}
	most := core.MaxTotal
	if a.Most > 0 {
		most = a.Most
	}
	if l.Walltime < 1 || l.Walltime > most {
		return nil, refuse(launcher.CodeWalltime, "walltime", "a walltime is 1 to %d seconds here, not %d", most, l.Walltime)
	}
	var parts []moldable.Part
	for _, h := range l.Hosts {
		if h.C < 0 || h.C >= len(all) {
			return nil, refuse(launcher.CodeCluster, "hosts", "there is no cluster %d", h.C)
		}
		switch c := all[h.C]; {
		case a.Part(h.C) == nil || !sees(h.C) && !c.passes(a.Filter):
			return nil, refuse(launcher.CodeCluster, "hosts", "application %d is not subscribed to cluster %s", a.ID, c.Name)
		case slices.ContainsFunc(parts, func(p moldable.Part) bool { return p.Cluster == h.C }):
			return nil, refuse(launcher.CodeCluster, "hosts", "cluster %s is named twice", c.Name)
		case h.N < 1 || h.N > c.mostHosts():
			return nil, refuse(launcher.CodeHosts, "hosts", "1 to %d hosts are possible on cluster %s, not %d", c.mostHosts(), c.Name, h.N)
		}
		parts = append(parts, moldable.Part{Cluster: h.C, Hosts: h.N})
	}
	slices.SortFunc(parts, func(p, q moldable.Part) int { return cmp.Compare(p.Cluster, q.Cluster) })
	return parts, nil
}

// namedJob is a batch job on a cluster.
type namedJob struct {
	Cluster int
	ID      core.JobID
}

// namedJobs returns the jobs in a message, or why the message is refused.
func namedJobs(named []launcher.Part, all []*cluster) ([]namedJob, *refusal) {
	var out []namedJob
	for _, p := range named {
		c := slices.IndexFunc(all, func(c *cluster) bool { return c.Name == p.Cluster })
		switch {
		case c < 0:
			return nil, refuse(launcher.CodeCluster, "jobs", "there is no cluster %q", p.Cluster)
		case all[c].Embedded:
			return nil, refuse(launcher.CodeCluster, "jobs", "cluster %s makes parts itself: name no job of it", p.Cluster)
		case slices.ContainsFunc(out, func(j namedJob) bool { return j.Cluster == c }):
			return nil, refuse(launcher.CodeCluster, "jobs", "cluster %s is named twice", p.Cluster)
		}
		out = append(out, namedJob{c, core.JobID(p.Job)})
	}
	return out, nil
}

// replaceable returns a refusal if a message has new jobs for parts that may hold nodes. It is called again when readings show the jobs,
// because a part may have received nodes meanwhile.
func (a *Application) replaceable(jobs []namedJob) *refusal {
	if a.Phase != Subscribed && a.Phase != Waiting {
		return refuse(launcher.CodeState, "t", "application %d takes no jobs now: it is %s", a.ID, a.Phase)
	}
	for _, j := range jobs {
		if p := a.Part(j.Cluster); p != nil && p.Drop > 0 {
			return refuse(launcher.CodeState, "jobs", "what the last try left of job %d on %s is not cleared away yet", p.Job, p.Name)
		}
	}
	return nil
}

// If a job in a message is not shown by a reading after shownWithin seconds, it counts as missing. If there is no reading for readWithin
// seconds, the message is refused.
const (
	shownWithin core.Time = 2
	readWithin  core.Time = 60
)

// findJob reports whether the newest state of a cluster shows a job. A message of the application has named the job at the second `at`.
// `wrong` is the reason if the job cannot be used.
func (a *Application) findJob(job core.JobID, c *cluster, at, now core.Time) (seen bool, wrong *refusal) {
	if c.State != nil {
		for _, b := range c.State.Jobs {
			switch {
			case b.ID != job:
			case b.Application != a.ID:
				return false, refuse(launcher.CodeJob, "jobs", "job %d on %s is not marked launch=%d", job, c.Name, a.ID)
			case b.User != a.User:
				return false, refuse(launcher.CodeJob, "jobs", "job %d on %s is %s's, and the application %s's", job, c.Name, b.User, a.User)
			case b.State != adapter.Pending:
				return false, refuse(launcher.CodeJob, "jobs", "job %d on %s does not wait: it is %s", job, c.Name, b.State)
			default:
				return true, nil
			}
		}
		if c.State.Read >= at+shownWithin {
			return false, refuse(launcher.CodeJob, "jobs", "there is no job %d on %s that is marked launch=%d", job, c.Name, a.ID)
		}
	}
	if now >= at+readWithin {
		return false, refuse(launcher.CodeJob, "jobs", "cluster %s was not read for %d s: whether there is a job %d is not known", c.Name, readWithin, job)
	}
	return false, nil
}
