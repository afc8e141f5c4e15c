package apps

import (
	"slices"

	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/delegated"
)

// updateRMS passes all changes since its last call to the RMS.
func (m *Machine) updateRMS() {
	m.unsettled = false
	m.updateWaiting()
	m.updateHeld()
}

// group is how the RMS treats an application.
type group int8

const (
	outside group = iota // the RMS does not know the application
	watches              // the application receives views, but has no request
	waits                // the application has a request, which the RMS plans
)

// group returns the group to which an application now belongs. An application that cannot see any cluster yet is `outside`, because its
// launcher could not answer an empty view.
func (m *Machine) group(a *application) group {
	switch a.Phase {
	case Subscribed:
		if slices.ContainsFunc(a.Parts, func(p *Part) bool { return m.clusters[p.Cluster].placed }) {
			return watches
		}
	case Waiting:
		return waits
	}
	return outside
}

// updateWaiting passes to the RMS which applications wait, with their requests, and which of them may start. The applications that may
// start are the first ones by rank. Their number is limited, in total and for each user. If the set of waiting applications has not
// changed, updateWaiting passes only the applications that have changed.
func (m *Machine) updateWaiting() {
	for a := range m.unplanned {
		if g := m.group(a); g != a.group {
			a.group, m.regroup = g, true
		}
		if m.holders[a] || a.occupies() {
			m.holders[a], m.heldChanged = true, true
		}
	}
	if m.regroup {
		m.regroup = false
		m.regroupAll()
	} else {
		for _, a := range m.unplanned.byRank() {
			if a.joined {
				m.tellRMS(a)
			}
		}
	}
	m.unplanned.clear()
}

// regroupAll determines which applications may start, and passes to the RMS which applications it must add and remove.
func (m *Machine) regroupAll() {
	all, mine := 0, map[string]int{}
	most, share := m.settings.Applications, max(1, m.settings.Applications/4)
	for _, a := range m.all {
		in := a.group != outside
		if in && most > 0 {
			in = all < most && mine[a.User] < share
			if in && a.group == waits {
				all++
				mine[a.User]++
			}
		}
		switch {
		case !in:
			m.leaveRMS(a)
		case !a.joined || m.unplanned[a]:
			m.tellRMS(a)
		}
	}
	m.regroup = false // leaveRMS has set it
}

// tellRMS passes an application's request to the RMS.
func (m *Machine) tellRMS(a *application) {
	id := core.JobID(a.ID)
	m.ordersDue[a] = true
	if !a.joined {
		a.joined, a.newest = true, make([]clusterView, len(m.clusters))
		messages, err := m.rms.Join(m.now, id, a.Rank)
		must(err)
		m.takeMessages(messages)
		if a.viewDue {
			m.viewsDue[a] = true
		}
	}
	if a.Phase != Waiting {
		return
	}
	// An error means that the clusters have too few hosts now. The application then keeps its rank, and waits for hosts. The requested
	// time is longer than the walltime, because parts hold hosts before the walltime begins, and clusters plan jobs with their whole time
	// limits.
	_ = m.rms.Request(m.now, id, a.request(m.extra(a, prepareWithin)+m.margin(a)))
	from, keep := a.held(m.now, m.settings)
	must(m.rms.Hold(m.now, id, from, keep))
}

// leaveRMS removes an application from the RMS.
func (m *Machine) leaveRMS(a *application) {
	if a.joined {
		must(m.rms.Leave(m.now, core.JobID(a.ID)))
		a.joined, a.newest, m.regroup = false, nil, true
		m.ordersDue[a] = true
	}
}

// updateHeld passes to the RMS which hosts are held by applications that the RMS does not know, because they have left it to start.
func (m *Machine) updateHeld() {
	if !m.heldChanged && m.heldAt == m.now {
		return
	}
	m.heldChanged, m.heldAt, m.again = false, m.now, core.Forever
	late := plan.HalfMinute(m.now)
	var all []delegated.Stretch
	for _, a := range m.holders.byRank() {
		if !a.occupies() {
			delete(m.holders, a)
		}
		for _, p := range a.Parts {
			hosts, until := a.heldHosts(p, m.now)
			if hosts == 0 || m.clusters[p.Cluster].lost {
				continue
			}
			if until <= m.now {
				until, m.again = late, late-plan.Stale
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
		must(m.rms.Occupy(m.now, all))
		m.occupied = all
	}
}

// awaitsClusters reports whether the machine still waits for the first reading of a cluster after a restart. Until all clusters are read,
// or Settings.Grace has passed, nothing starts. Otherwise an application could get hosts that another application still holds.
func (m *Machine) awaitsClusters() bool {
	return m.asleep && m.now < m.begun+m.settings.Grace && slices.ContainsFunc(m.clusters, func(c *cluster) bool { return c.State == nil })
}

// pass makes a pass if one is due: it lets the RMS find places for all requests. It reports whether it made a pass.
func (m *Machine) pass() bool {
	if m.asleep = m.awaitsClusters(); m.asleep {
		return false
	}
	if m.unsettled || m.again <= m.now {
		m.updateRMS()
	}
	if m.rms.Next() > m.now {
		return false
	}
	before := m.rms.Counts().Passes
	messages, err := m.rms.Wake(m.now)
	must(err)
	if m.rms.Counts().Passes == before {
		return false
	}
	for _, a := range m.all {
		if a.Phase != Waiting {
			continue
		}
		if a.viewDue = true; a.listens() {
			m.viewsDue[a] = true
		}
		if a.estimate != m.estimate(a) {
			m.ordersDue[a] = true
		}
	}
	for _, id := range m.takeMessages(messages) {
		m.prepare(m.byID[int64(id)])
	}
	for i, c := range m.clusters {
		if !c.placed && c.State != nil {
			c.placed = true
			m.showCluster(i)
		}
	}
	return true
}

// showCluster shows a cluster to applications without a request, after a pass has computed the cluster's occupation for the first time.
// It removes these applications from the RMS and adds them again. That is necessary, because the RMS shows an application only the clusters
// whose occupation was known when the application was added.
func (m *Machine) showCluster(i int) {
	m.unsettled = true
	for _, a := range m.all {
		if a.Phase == Subscribed && a.Part(i) != nil {
			m.leaveRMS(a)
			m.changed(a)
		}
	}
}

// takeMessages stores the views in messages of the RMS, and returns the applications that start.
func (m *Machine) takeMessages(messages []delegated.Message) (starts []core.JobID) {
	for _, x := range messages {
		if x.Kind == delegated.Start {
			starts = append(starts, x.To)
			continue
		}
		a := m.byID[int64(x.To)]
		for _, c := range x.Changes {
			m.shows++
			a.newest[c.Cluster] = clusterView{Known: true, Hosts: c.Hosts, Points: c.Points, Version: m.shows}
		}
		m.setViewDue(a)
	}
	return starts
}
