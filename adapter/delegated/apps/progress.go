package apps

import (
	"fmt"
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// observe updates an application's part from the newest state of its cluster.
func (m *Machine) observe(a *application, i int) {
	p := a.Part(i)
	if p == nil || p.Over || m.byID[a.ID] != a {
		return
	}
	s, b := m.standing(a, p), m.clusters[i].State
	j, listed := m.clusters[i].lists(a.ID, p.Job)
	if listed && j.ID == p.Job && j.User == a.User && p.Since != j.Key.Submitted {
		p.Since = j.Key.Submitted
		m.changed(a)
	}
	if listed || s != nil && s.Stand != mailbox.Over {
		p.LastSeen = b.Read
	}
	made := m.clusters[i].Embedded // on an embedded cluster, a part's job exists only from the part's start on
	over := s != nil && s.Stand == mailbox.Over
	if s == nil && (p.Job != 0 || made) {
		over = b.Read >= max(p.LastSeen, a.Since, m.begun)+absentAfter
	}
	switch a.Phase {
	case Fresh, Subscribed, Waiting:
		m.observeWaiting(a, p, s, over, made)
	case Preparing:
		m.observePreparing(a, p, s, over && !made)
	case Starting:
		m.observeStarting(a, p, s, over)
	case Running:
		m.observeRunning(a, p, s, over)
	case Ending:
		if over || p.Job == 0 && !made {
			p.Over = true
			m.store(a)
		}
		m.answerDone(a, p, s)
	}
	m.advance(a)
}

// observeWaiting observes a part that is not being started.
func (m *Machine) observeWaiting(a *application, p *Part, s *mailbox.Standing, over, made bool) {
	if p.Drop > 0 && (over || s != nil && s.Try >= p.Drop && (s.Stand == mailbox.Waiting || s.Stand == mailbox.Refused)) {
		p.Drop, p.Kept = 0, 0
		m.store(a)
	}
	switch {
	case made || p.Lost > 0:
	case over:
		m.lose(a, p, why(s, "its job is gone"))
	case p.Drop == 0 && s != nil && (s.Stand == mailbox.Running || s.Stand == mailbox.Starting) && s.Try >= a.Try:
		a.Try++
		p.Drop, p.Kept = a.Try, max(p.Hosts, len(s.Nodes))
		m.unsettled = true
		m.note(a, "abort", p.Name+": its job was released without the sidecar: it ends, because the application has not started")
		m.store(a)
	}
}

func why(s *mailbox.Standing, otherwise string) string {
	if s != nil && s.Why != "" {
		return s.Why
	}
	return otherwise
}

// lose asks the launcher to submit another job for a part whose job no longer exists.
func (m *Machine) lose(a *application, p *Part, why string) {
	p.Lost, p.Drop, p.Kept = m.now, 0, 0
	m.note(a, "lost", fmt.Sprintf("job %d on %s: %s", p.Job, p.Name, why))
	m.store(a)
	m.send(a.launcher, p.Gone())
}

func (m *Machine) observePreparing(a *application, p *Part, s *mailbox.Standing, over bool) {
	switch {
	case p.Hosts == 0:
		m.observeUnused(a, p, s, over)
	case over:
		m.refused(a, p, why(s, "its job is gone"))
		m.lose(a, p, why(s, "its job is gone"))
	case s == nil || s.Try != a.Try:
	case s.Stand == mailbox.Refused:
		m.refused(a, p, why(s, "refused"))
	case s.Stand == mailbox.Prepared && !m.clusters[p.Cluster].Embedded && len(s.Nodes) != p.Hosts:
		m.refused(a, p, fmt.Sprintf("%d nodes were reserved, not %d", len(s.Nodes), p.Hosts))
	case s.Stand == mailbox.Prepared:
		p.Prepared, p.Nodes = true, s.Nodes
	}
}

// observeUnused observes a part on a cluster that the request does not use. If the part's job no longer exists, it asks for another job,
// because a later request may use the cluster.
func (m *Machine) observeUnused(a *application, p *Part, s *mailbox.Standing, over bool) {
	if over && p.Lost == 0 && !m.clusters[p.Cluster].Embedded {
		m.lose(a, p, why(s, "its job is gone"))
	}
}

func (m *Machine) observeStarting(a *application, p *Part, s *mailbox.Standing, over bool) {
	switch {
	case p.Hosts == 0:
		m.observeUnused(a, p, s, over)
	case over:
		m.refused(a, p, why(s, "its job ended before all were up"))
		if p.Drop = 0; !m.clusters[p.Cluster].Embedded {
			m.lose(a, p, why(s, "its job ended before all were up"))
		}
	case s == nil || s.Try != a.Try:
	case s.Stand == mailbox.Refused:
		m.refused(a, p, why(s, "it does not start"))
	case s.Stand == mailbox.Running:
		p.Runs = true
		if len(s.Nodes) > 0 {
			p.Nodes = s.Nodes
		}
	}
}

func (m *Machine) observeRunning(a *application, p *Part, s *mailbox.Standing, over bool) {
	m.answerDone(a, p, s)
	if !over {
		return
	}
	p.Over = true
	m.store(a)
	if p.Hosts > 0 && s != nil && s.Failed && !p.Failing() {
		m.end(a, launcher.WhyLost, p.Name+": "+why(s, "its job died"), endIn)
	}
}

// endIn is how many seconds an application has to clean up before its jobs end.
const endIn core.Time = 30

// end ends an application in any phase. Its launcher and parts receive `reason`, unless that is "". Its jobs end after `in` seconds.
func (m *Machine) end(a *application, reason, why string, in core.Time) {
	if a.Phase == Ending {
		return
	}
	held, barrier := a.Phase.Holds(), a.Phase == Starting
	noted := a.Phase != Fresh || reason != "" // no note is needed if the launcher disconnected before it subscribed
	if barrier {
		in = 0 // no code of the user has run, so that there is nothing to clean up
	}
	a.Phase, a.Reason, a.Why, a.Since, a.EndAt, a.pending = Ending, reason, why, m.now, m.now+in, nil
	for _, p := range a.Parts {
		p.Ghost = 0
		p.Over = p.Over || p.Lost > 0 || m.clusters[p.Cluster].Embedded && (!held || p.Hosts == 0) && p.Drop == 0
	}
	if noted {
		m.note(a, "end", why)
	}
	m.store(a)
	last := &launcher.End{Why: reason, In: in}
	switch {
	case reason == "":
	case in > 0:
		m.send(a.launcher, last)
	default:
		m.close(a.launcher, last)
	}
	for _, s := range slices.Clone(a.barriers) { // cloned, because close changes the slice
		switch {
		case barrier:
			m.close(s, &launcher.Abort{Why: why})
		case reason != "":
			m.send(s, last)
		}
	}
}

// finish ends an application whose parts have all ended by themselves.
func (m *Machine) finish(a *application) {
	a.Phase, a.Reason, a.Why, a.Since, a.EndAt = Ending, "", "the application is over", m.now, m.now
	m.note(a, "done", "all parts are over")
	m.store(a)
	m.close(a.launcher, &launcher.Done{Code: a.exitCode()})
	m.advance(a)
}

// launcherDone handles a launcher's report that the application has ended or is withdrawn.
func (m *Machine) launcherDone(s *session, seq int64, code int) {
	a := s.app
	was := a.Phase
	m.okay(s, seq)
	m.close(s, nil)
	if was == Ending {
		return
	}
	m.end(a, "", "its launcher is done with it", 0)
	if was == Running {
		for _, p := range a.Parts {
			if p.Hosts > 0 && !p.Over && !p.Done {
				p.Done, p.Code = true, code
				m.keepReservation(a, p)
			}
		}
	}
	m.advance(a)
}

// keepReservation makes a ghost: it keeps the nodes of an ended part reserved for a while, if another application could request them. It
// reports whether it does that.
func (m *Machine) keepReservation(a *application, p *Part) bool {
	if m.settings.FairStart == 0 {
		return false
	}
	for _, b := range m.all {
		if b != a && (b.Phase == Subscribed || b.Phase == Waiting) && m.visible(b, p.Cluster) {
			p.Ghost = m.now + m.settings.FairStart
			m.unsettled = true
			return true
		}
	}
	return false
}
