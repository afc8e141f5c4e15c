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

// orphanGrace is how many seconds a job that is marked launch= may exist before an application names it.
const orphanGrace core.Time = 60

// absentAfter is the number of seconds after which a part that no reading shows counts as ended.
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
	m.at(b.Read) // the state describes second b.Read, and must not be used at an earlier second
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

// concerned returns, by rank, the applications that may have to change after a cluster's new state. These are all applications with a batch
// job on the cluster, because the job may be gone. If the cluster itself makes jobs of parts, these are the applications that the state
// names or that hold hosts.
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

// setLocal passes a cluster's own jobs and reservations to the RMS, or nothing if the cluster is lost.
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
	if why := err.Error(); why != c.trouble { // reported once, although each later state may cause the same error
		c.trouble = why
		m.out.Notes = append(m.out.Notes, Note{At: m.now, Verb: "board", Text: c.Name + ": nothing starts on it: " + why})
	}
}

// clusterDeadline returns the second at which something is due for a cluster that shows no new state.
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

// checkReadings finds clusters that were not read for too long. All their hosts are busy in views, and nothing starts on them.
func (m *Machine) checkReadings() {
	for i, c := range m.clusters {
		if c.State != nil && !c.lost && m.now > c.State.Read+unreadAfter {
			m.setLost(c, true)
			m.unsettled = true
			m.setLocal(i)
		}
	}
}

// findOrphans finds a cluster's jobs that are marked launch= and that no application names. If a part's job was lost before its start, an
// orphan with the right user and mark replaces the job: a batch system may have requeued the job under a new number.
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

// claimed reports whether an application names a job, or may name the job soon.
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

// standing returns what the cluster's state says of a part, or nil.
func (m *Machine) standing(a *application, p *Part) *mailbox.Standing {
	return m.clusters[p.Cluster].standing(a.ID, p.Job)
}

// jobOf returns a part's batch job, or 0. If the cluster made several jobs for the part, it returns the newest.
func (m *Machine) jobOf(a *application, p *Part) core.JobID {
	return max(m.clusters[p.Cluster].made(a.ID, a.User), p.Job)
}
