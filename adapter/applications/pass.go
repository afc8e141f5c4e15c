package applications

import (
	"slices"

	"accordion/adapter/sight"
	"accordion/core"
	"accordion/core/delegate"
)

// halfMinute is what has no known end is rounded up to, so that views are quiet: else each second were a new view for everybody.
const halfMinute core.Time = 30

// settle tells the RMS all that it does not know yet.
func (m *Machine) settle() {
	m.unsettled = false
	m.admit()
	m.occupy()
}

// admit tells the RMS who waits, for what, and who of these may start: as many as a pass considers, by rank, and of one user a share.
func (m *Machine) admit() {
	all, mine := 0, map[string]int{}
	share := max(1, m.settings.Applications/4)
	for _, a := range m.all {
		in := a.Phase == subscribed || a.Phase == waiting
		if in && m.settings.Applications > 0 {
			in = all < m.settings.Applications && mine[a.User] < share
			if a.Phase == waiting && in {
				all++
				mine[a.User]++
			}
		}
		if !in {
			m.quit(a)
			continue
		}
		id := core.JobID(a.ID)
		if !a.joined {
			a.joined, a.newest = true, make([]sight.Seen, len(m.clusters))
			messages, err := m.rms.Join(m.now, id, a.Rank)
			must(err)
			m.take(messages)
		}
		if a.Phase != waiting {
			continue
		}
		// An error says that there are not so many hosts now: the application keeps its rank, and waits for them.
		// What comes up takes its hosts before its walltime begins, and its cluster plans its job with all of its limit, from when it prepares.
		_ = m.rms.Request(m.now, id, a.Requested(m.extra(a, prepareWithin)+m.margin(a)))
		from, keep := m.hold(a)
		must(m.rms.Hold(m.now, id, from, keep))
	}
}

// quit takes an application out of the RMS.
func (m *Machine) quit(a *application) {
	if a.joined {
		must(m.rms.Leave(m.now, core.JobID(a.ID)))
		a.joined, a.newest = false, nil
	}
}

// hold says what keeps an application that waits from starting: not before a second, or only that it keeps its place meanwhile.
func (m *Machine) hold(a *application) (from core.Time, keep bool) {
	from = a.RetryAt()
	for _, p := range a.Parts {
		switch {
		case p.Hosts == 0:
		case p.Lost > 0 && m.now >= p.Lost+m.settings.Answer:
			from = core.Forever // nobody waits for its launcher
		case p.Lost > 0, p.Drop > 0:
			keep = true
		}
	}
	return from, keep || a.launcher == nil
}

// occupy tells the RMS what the applications that have left it hold.
func (m *Machine) occupy() {
	var all []delegate.Stretch
	m.again = core.Forever
	late := m.now - m.now%halfMinute + halfMinute
	for _, a := range m.all {
		for _, p := range a.Parts {
			hosts, until := a.Takes(p, m.now)
			if hosts == 0 || m.clusters[p.Cluster].lost {
				continue
			}
			if until <= m.now {
				until, m.again = late, late
			}
			all = append(all, delegate.Stretch{Cluster: p.Cluster, From: 0, To: until, Hosts: hosts})
		}
	}
	for i, c := range m.clusters {
		if c.lost && c.hosts() > 0 {
			all = append(all, delegate.Stretch{Cluster: i, From: 0, To: core.Forever, Hosts: c.hosts()})
		}
	}
	if !slices.Equal(all, m.occupied) {
		must(m.rms.Occupy(m.now, all))
		m.occupied = all
	}
}

// sleeps says whether, after a restart, some cluster is not read yet: until it is, or grace is over, nobody gets what another may need there.
func (m *Machine) sleeps() bool {
	return m.asleep && m.now < m.begun+m.settings.Grace && slices.ContainsFunc(m.clusters, func(c *cluster) bool { return c.board == nil })
}

// pass lets the RMS place all requests, if that is due.
func (m *Machine) pass() bool {
	if m.asleep = m.sleeps(); m.asleep {
		return false
	}
	if m.unsettled || m.again <= m.now {
		m.settle()
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
	for _, c := range m.clusters {
		c.placed = c.placed || c.board != nil
		c.changed = true // estimates
	}
	for _, a := range m.all {
		a.look = a.look || a.Phase == waiting
	}
	for _, id := range m.take(messages) {
		m.prepare(m.byID[int64(id)])
	}
	return true
}

// take keeps what the RMS shows, and gives those that start.
func (m *Machine) take(messages []delegate.Message) (starts []core.JobID) {
	for _, x := range messages {
		if x.Kind == delegate.Start {
			starts = append(starts, x.To)
			continue
		}
		a := m.byID[int64(x.To)]
		for _, c := range x.Changes {
			a.newest[c.Cluster] = sight.Seen{Known: true, Hosts: c.Hosts, Points: c.Points}
		}
		a.look = true
	}
	return starts
}
