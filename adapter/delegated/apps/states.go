package apps

import (
	"fmt"
	"maps"
	"slices"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/sched"
)

// orphanGrace is the number of seconds for which a job that is marked launch= may exist before an application names it.
const orphanGrace core.Time = 60

// absentAfter is the number of seconds after which a part counts as ended if readings no longer show it.
const absentAfter core.Time = 10

// showState handles a cluster's new state.
func (m *Machine) showState(i int, b *mailbox.ClusterState) {
	c := m.clusters[i]
	if c.State != nil && b.Read < c.State.Read {
		return
	}
	fresh := c.State == nil || c.State.Hosts != b.Hosts
	c.setState(b)
	m.unsettled = true
	m.at(b.Read) // the state is of the second b.Read, so the machine's time must not be earlier
	m.setLost(c, m.now > b.Read+unreadAfter)
	if fresh {
		hosts := make([]int, len(m.clusters))
		for j, d := range m.clusters {
			hosts[j] = d.hosts()
		}
		must(m.rms.Resize(m.now, hosts))
		m.heldChanged = true
		for _, a := range m.all { // a request that was too large may be possible now
			m.changed(a)
		}
	}
	m.setLocal(i)
	m.findOrphans(i)
	for _, a := range m.concerned(i) {
		m.observe(a, i)
		m.retryNaming(a)
	}
}

// concerned returns, by rank, the applications that may have to change after a cluster's new state. For a cluster to which launchers
// submit jobs, that is every application, because any of its jobs may be gone. For a cluster that itself makes the jobs of parts, only
// some applications are concerned: those that the state names, and those that may hold hosts.
func (m *Machine) concerned(i int) []*application {
	c := m.clusters[i]
	if !c.Embedded {
		return slices.Clone(m.all)
	}
	all := maps.Clone(m.holders)
	maps.Copy(all, m.unplanned) // the RMS may not know yet which hosts they hold
	maps.Copy(all, m.pending)
	for id := range c.Jobs {
		if a := m.byID[id]; a != nil {
			all[a] = true
		}
	}
	for id := range c.Parts {
		if a := m.byID[id]; a != nil {
			all[a] = true
		}
	}
	return all.byRank()
}

// setLost records whether a cluster is lost.
func (m *Machine) setLost(c *cluster, lost bool) {
	m.heldChanged = m.heldChanged || c.lost != lost
	c.lost = lost
}

// setLocal passes a cluster's own jobs and reservations to the RMS. If the cluster is lost, it passes none.
func (m *Machine) setLocal(i int) {
	c := m.clusters[i]
	l := c.State.Local
	if c.lost {
		l = sched.Local{}
	}
	err := m.rms.Local(m.now, i, l)
	if err == nil {
		c.trouble = ""
		return
	}
	m.setLost(c, true)
	must(m.rms.Local(m.now, i, sched.Local{}))
	if why := err.Error(); why != c.trouble { // reported only once, because later states may cause the same error
		c.trouble = why
		m.out.Notes = append(m.out.Notes, Note{At: m.now, Verb: "board", Text: c.Name + ": nothing starts on it: " + why})
	}
}

// clusterDeadline returns the second at which something is due for a cluster if no new state comes before.
func (m *Machine) clusterDeadline(c *cluster) core.Time {
	next := core.Forever
	if c.State != nil && !c.lost {
		next = c.State.Read + unreadAfter + 1
	}
	for _, since := range c.orphans {
		if since+orphanGrace > m.now {
			next = min(next, since+orphanGrace)
		}
	}
	return next
}

// checkReadings finds clusters that have not been read for too long. Views then show all their hosts as busy, and nothing starts on them.
func (m *Machine) checkReadings() {
	for i, c := range m.clusters {
		if c.State != nil && !c.lost && m.now > c.State.Read+unreadAfter {
			m.setLost(c, true)
			m.unsettled = true
			m.setLocal(i)
		}
	}
}

// findOrphans finds a cluster's orphans, which are jobs that are marked launch= and that no application names. If the job of a part was
// lost before its start, an orphan with the right user and mark replaces it, because a batch system may have requeued the job under a new
// number.
func (m *Machine) findOrphans(i int) {
	c := m.clusters[i]
	now := map[core.JobID]core.Time{}
	for _, j := range c.State.Jobs {
		if j.State == adapter.Done || m.claimed(i, j) {
			continue
		}
		since, known := c.orphans[j.ID]
		if !known {
			since = m.now
		}
		now[j.ID] = since
	}
	c.changed = c.changed || len(c.orphans)+len(now) > 0
	c.orphans = now
}

// claimed reports whether an application names the job, or may do so soon.
func (m *Machine) claimed(i int, j mailbox.Job) bool {
	a := m.byID[j.Application]
	if a == nil || a.User != j.User {
		return false
	}
	if m.clusters[i].Embedded {
		return a.Part(i) != nil
	}
	p := a.Part(i)
	switch {
	case p == nil:
		return false
	case p.Job == j.ID:
		return true
	case p.Lost > 0 && !a.Phase.Started() && a.Phase != Ending && (j.State == adapter.Pending || j.State == adapter.Running):
		a.setJob(i, m.clusters[i].Name, j.ID)
		m.note(a, "adopt", fmt.Sprintf("the batch system submitted its part again: %s %d", m.clusters[i].Name, j.ID))
		m.store(a)
		return true
	}
	return false
}

// standing returns the entry for a part in the state of the part's cluster, or nil if there is none.
func (m *Machine) standing(a *application, p *Part) *mailbox.Standing {
	return m.clusters[p.Cluster].standing(a.ID, p.Job)
}

// jobOf returns the batch job of a part, or 0 if there is none. If the cluster made several jobs for the part, it returns the newest.
func (m *Machine) jobOf(a *application, p *Part) core.JobID {
	return max(m.clusters[p.Cluster].made(a.ID, a.User), p.Job)
}
