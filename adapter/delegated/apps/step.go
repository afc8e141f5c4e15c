package apps

import (
	"encoding/json"
	"fmt"
	"slices"

	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// New is a machine with the applications of a journal. An error is about a record that is none.
func New(now core.Time, all []Cluster, links []Link, s Settings, records []Record) (*Machine, error) {
	s.Timer = max(s.Timer, 1)
	if s.Pace == 0 {
		s.Pace = 1
	}
	m := &Machine{links: links, settings: s, now: now, begun: now, again: core.Forever,
		byID: map[int64]*application{}, sessions: map[uint64]*session{}, moved: true,
		touched: some{}, awaited: some{}, undated: some{}, unsorted: some{}, stirred: some{}, pending: some{}, holders: some{}, dirty: some{}}
	for _, named := range all {
		m.clusters = append(m.clusters, &cluster{Cluster: named, strays: map[core.JobID]core.Time{}, changed: true})
	}
	m.rms = delegated.New(make([]int, len(all)), delegated.Options{
		Timer: s.Timer, TellEstimates: true, Watch: true, Limit: s.Applications,
	}, &delegated.Indexed{})
	uncounted := false
	for _, r := range records {
		if r.ID == counter {
			last := int64(0)
			if err := json.Unmarshal(r.Data, &last); err != nil || last < 0 || last > mostNumber {
				uncounted = true
				continue
			}
			m.last = max(m.last, last)
			continue
		}
		a, err := m.read(r)
		if err != nil {
			m.last = max(m.last, min(r.ID, mostNumber))
			m.setAside(r.ID, err)
			continue
		}
		a.away = now
		m.byID[a.ID] = a
		m.place(a)
		m.asleep = true
		m.last = max(m.last, a.ID)
		m.store(a)
	}
	if uncounted { // of the numbers given since the newest application's, none is known
		m.last += skipped
		m.out.Stored = append(m.out.Stored, Record{ID: counter, Data: fmt.Append(nil, m.last)})
		m.out.Notes = append(m.out.Notes, Note{At: m.now, Verb: "damaged", Text: fmt.Sprintf("the number of the last application is damaged in the journal: the next one is %d", m.last+1)})
	}
	return m, nil
}

// Step tells the machine what happened at a second. Seconds that go back count as the latest that was.
func (m *Machine) Step(now core.Time, e Event) {
	m.at(now)
	switch e := e.(type) {
	case Heard:
		m.hear(e)
	case Left:
		m.leave(e.Session)
	case Shown:
		m.show(e.Cluster, e.State)
	}
	m.flush()
}

// Wake does what is due at a second: deadlines, and a pass. It says whether there was one.
func (m *Machine) Wake(now core.Time) (pass bool) {
	m.at(now)
	m.deadlines()
	pass = m.pass()
	m.flush()
	return pass
}

// Next is the second of the next Wake; core.Forever when nothing is due.
func (m *Machine) Next() core.Time {
	next := core.Forever
	switch {
	case !m.sleeps():
		next = min(next, m.rms.Next(), m.again)
	default:
		next = min(next, m.begun+m.settings.Grace)
	}
	m.plan()
	next = min(next, m.agenda.First())
	for _, c := range m.clusters {
		next = min(next, m.clusterDeadline(c))
	}
	return max(next, m.now)
}

// Effects are what is to be done about all that happened since they were asked for last.
func (m *Machine) Effects() Effects {
	for _, a := range m.dirty.byRank() { // the same effects in every run
		m.out.Stored = append(m.out.Stored, a.Record())
	}
	m.dirty.clear()
	for a := range m.unsorted {
		m.sort(a)
	}
	m.unsorted.clear()
	for i, c := range m.clusters {
		if c.changed {
			c.changed = false
			m.order(i)
		}
	}
	out := m.out
	m.out = Effects{}
	return out
}

// mostNumber is more than the number of any application. skipped is how many numbers are left out
// where the last one is not known.
const (
	mostNumber = 1 << 53
	skipped    = 1_000_000
)

// setAside forgets a damaged record. The clusters know what runs of the application. They end its
// jobs, because no application names them.
func (m *Machine) setAside(id int64, why error) {
	m.out.Gone = append(m.out.Gone, id)
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: id, Verb: "damaged", Text: fmt.Sprintf(
		"its record in the journal is damaged: %v. It is set aside, and its jobs are ended: its launcher gets the answer that no such application exists. Submit it again "+
			"(accordion launch), and check the disk that holds the journal of applications", why)})
}

// counter is the record of the last number given: numbers are not used again.
const counter = 0

// read makes a record an application again. What it had on clusters that are no longer there is gone: a request that used them, too.
func (m *Machine) read(r Record) (*application, error) {
	d, gone, err := Read(r, func(name string) int {
		return slices.IndexFunc(m.clusters, func(c *cluster) bool { return c.Name == name })
	})
	if err != nil {
		return nil, err
	}
	a := newApplication(*d)
	switch {
	case gone && (a.Phase == Starting || a.Phase == Running):
		m.end(a, launcher.WhyLost, "a cluster of it was taken out of the configuration", 0)
	case gone && a.Phase != Ending:
		a.Drop(a.Try)
		a.Phase, a.Tag, a.Walltime = Subscribed, -1, 0
		for _, p := range a.Parts {
			p.Hosts = 0
		}
	case a.Phase == Preparing: // presumed abort
		a.Drop(a.Try)
		a.Phase = Waiting
	}
	return a, nil
}

// Snapshot is what there is to be seen now.
func (m *Machine) Snapshot() view.Applications {
	s := view.Applications{At: m.now, Clusters: []view.ApplicationCluster{}, Applications: []view.Application{}}
	for _, c := range m.clusters {
		seen := view.ApplicationCluster{Name: c.Name, Hosts: c.Hosts(), Lost: c.lost, Never: c.State == nil}
		s.Clusters = append(s.Clusters, seen)
	}
	for _, a := range m.all {
		s.Applications = append(s.Applications, m.seen(a))
	}
	return s
}

func (m *Machine) seen(a *application) view.Application {
	s := view.Application{
		ID: a.ID, Name: a.Name, User: a.User, State: m.state(a), Phase: string(a.Phase), Rank: a.Rank, Parts: []view.ApplicationPart{}, Tag: a.Tag,
		Walltime: a.Walltime, Moved: a.moved, Why: m.waitsFor(a), View: a.View, Acked: a.Acked, Launcher: a.launcher != nil, Away: a.away,
		Owes: a.owes, At: a.At, By: a.By, Went: a.Went, Tries: a.Try, Failed: a.Failed,
	}
	if est := m.estimate(a); est < core.Forever {
		s.Estimate = est
	}
	for _, p := range a.Parts {
		s.Parts = append(s.Parts, view.ApplicationPart{Cluster: p.Name, Job: m.jobOf(a, p), Hosts: p.Hosts, Stand: a.Stand(p), Nodes: p.Nodes})
	}
	return s
}
