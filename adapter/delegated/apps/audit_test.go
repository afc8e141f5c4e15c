package apps

import (
	"fmt"
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/delegated"
)

// audit checks the machine's sets and caches by going through all applications. It returns a description of a difference, or "".
func (m *Machine) audit() string {
	for _, wrong := range []string{m.auditNext(), m.auditSilence(), m.auditRMS(), m.auditOccupied(), m.auditBoards(), m.auditOrders()} {
		if wrong != "" {
			return wrong
		}
	}
	return ""
}

func (m *Machine) auditNext() string {
	next := m.begun + m.settings.Grace
	if !m.awaitsClusters() {
		next = min(m.rms.Next(), m.again)
	}
	for _, a := range m.all {
		next = min(next, a.deadline(m.now, m.begun, m.settings))
	}
	for _, c := range m.clusters {
		next = min(next, m.clusterDeadline(c))
	}
	if next = max(next, m.now); next != m.Next() {
		return fmt.Sprintf("the next deadline is at %d, not at %d", next, m.Next())
	}
	return ""
}

// auditSilence finds an application whose launcher should receive a view, but that is not in m.viewsDue.
func (m *Machine) auditSilence() string {
	for _, a := range m.all {
		if a.viewDue && a.listens() && (a.Phase == Subscribed || a.Phase == Waiting && m.rms.State(core.JobID(a.ID)) != delegated.RequestSent) && !m.viewsDue[a] {
			return fmt.Sprintf("application %d was not looked after", a.ID)
		}
	}
	return ""
}

// auditRMS finds an application that the RMS should or should not know, or knows with another request.
func (m *Machine) auditRMS() string {
	if m.unsettled {
		return ""
	}
	all, mine := 0, map[string]int{}
	share := max(1, m.settings.Applications/4)
	for _, a := range m.all {
		in := m.group(a) != outside
		if in && m.settings.Applications > 0 {
			in = all < m.settings.Applications && mine[a.User] < share
			if a.Phase == Waiting && in {
				all++
				mine[a.User]++
			}
		}
		if in != a.joined {
			return fmt.Sprintf("application %d is in the RMS: %v", a.ID, a.joined)
		}
		if !in || a.Phase != Waiting || m.unplanned[a] { // the RMS gets the changes of applications in m.unplanned only at the next step
			continue
		}
		id, due := core.JobID(a.ID), max(m.now, m.rms.Next())
		was := m.rms.State(id)
		err := m.rms.Request(m.now, id, a.request(m.extra(a, prepareWithin)+m.margin(a)))
		from, keep := a.held(m.now, m.settings)
		must(m.rms.Hold(m.now, id, from, keep))
		if is := m.rms.State(id); err == nil && is != was || max(m.now, m.rms.Next()) != due {
			return fmt.Sprintf("the RMS had another request or hold of application %d (%v, %v)", a.ID, was, is)
		}
	}
	return ""
}

func (m *Machine) auditOccupied() string {
	if m.unsettled || m.heldAt != m.now {
		return ""
	}
	var all []delegated.Stretch
	late := plan.HalfMinute(m.now)
	for _, a := range m.all {
		for _, p := range a.Parts {
			hosts, until := a.heldHosts(p, m.now)
			if hosts == 0 || m.clusters[p.Cluster].lost {
				continue
			}
			if until <= m.now {
				until = late
			}
			all = append(all, delegated.Stretch{Cluster: p.Cluster, From: 0, To: until, Hosts: hosts})
		}
	}
	for i, c := range m.clusters {
		if c.lost && c.hosts() > 0 {
			all = append(all, delegated.Stretch{Cluster: i, From: 0, To: core.Forever, Hosts: c.hosts()})
		}
	}
	if !slices.Equal(all, m.occupied) {
		return fmt.Sprintf("the RMS believes %v occupied, and not %v", m.occupied, all)
	}
	return ""
}

// auditBoards finds an application that may have to change after a cluster's new state, but that Machine.concerned does not return.
func (m *Machine) auditBoards() string {
	for i, c := range m.clusters {
		concerned := m.concerned(i)
		for _, a := range m.all {
			p := a.Part(i)
			if p == nil || slices.Contains(concerned, a) {
				continue
			}
			listed := c.State != nil && slices.ContainsFunc(c.State.Jobs, func(j mailbox.Job) bool { return j.Application == a.ID })
			shown := c.State != nil && slices.ContainsFunc(c.State.Parts, func(s mailbox.Standing) bool { return s.Application == a.ID })
			if listed || shown || p.Drop > 0 || p.Job != 0 || a.Phase.Holds() || a.pending != nil {
				return fmt.Sprintf("cluster %s does not concern application %d: %v", c.Name, a.ID, a.Phase)
			}
		}
	}
	return ""
}

func (m *Machine) auditOrders() string {
	for a := range m.ordersDue {
		m.updateOrders(a)
	}
	clear(m.ordersDue)
	for i, c := range m.clusters {
		var all, have []mailbox.Order
		for _, a := range m.all {
			if p := a.Part(i); p != nil {
				if o, ok := a.orderOf(p, m.now, a.Walltime+m.margin(a), m.estimate(a)); ok && !(c.Embedded && a.unmade(p, o.Want)) {
					all = append(all, o)
				}
			}
		}
		for _, a := range c.ordered {
			have = append(have, *a.orders[i])
		}
		if !slices.Equal(all, have) {
			return fmt.Sprintf("cluster %s has orders %+v, and should have %+v", c.Name, have, all)
		}
	}
	return ""
}
