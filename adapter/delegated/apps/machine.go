// Package apps decides about applications and the launchers that speak for them (delegated scheduling, RR-7389). It decides which application
// waits with which request and rank, which one is prepared on which clusters, and which one runs until when. It also decides what each
// launcher receives.
//
// It is pure: a Machine has no clock, no goroutine, no input and no output. Its caller gives it each event with its second, and
// carries out the effects that it returns (adapter/delegated/loop), the records first:
//
//	m, err := apps.New(now, clusters, links, settings, records)
//	m.Step(now, apps.Heard{Session: 7, User: "ann", Seq: 1, Message: &launcher.Hello{…}})
//	m.Wake(now)             // what is due: passes, deadlines
//	effects := m.Effects()  // carry them out in their order: records, then messages and orders
//	next := m.Next()        // the second of the next Wake
//
// core/delegated decides where a request fits. The sidecar decides how its batch system starts a part (adapter/delegated/mailbox).
package apps

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/delegated"
	"accordion/shim/wire/launcher"
)

// Machine is what becomes of applications. One goroutine owns it.
type Machine struct {
	clusters []*cluster
	links    []Link
	settings Settings
	rms      *delegated.RMS

	now         core.Time
	last        int64          // the newest application's number
	all         []*application // by rank; those without one behind
	byID        map[int64]*application
	sessions    map[uint64]*session
	occupied    []delegated.Stretch // as the RMS knows it
	begun       core.Time           // since when the machine runs
	asleep      bool                // after a restart: no pass before all clusters are read, or grace is over
	again       core.Time           // when what has no known end is looked at again; core.Forever: there is no such thing
	unsettled   bool                // the RMS does not know all that it should
	regroup     bool                // who waits, or may, is somebody else than the RMS knows
	heldChanged bool                // what applications hold, or a cluster's being lost, has changed since occupied was made
	heldAt      core.Time           // when that was
	shows       int64               // occupations that passes have shown

	// An event costs what it touches: whoever has to look at applications looks at those of which something changed since he last did.
	unplanned   some // not told to the RMS
	unchecked   some // not looked at by deadlines
	unscheduled some // not in the agenda
	ordersDue   some // whose orders may be others
	viewsDue    some // whose launchers may have to be told something
	pending     some // that wait for jobs to be seen
	holders     some // that hold hosts, or may
	unsaved     some // to be stored
	agenda      agenda[*application]
	out         Effects
}

// application is one in its machine.
type application struct {
	Application
	launcher     *session
	away         core.Time        // since when there is no launcher
	unackedSince core.Time        // since when a view is not acknowledged; 0: none is owed
	unackedView  int64            // that view
	sentEstimate core.Time        // the estimate that its launcher was told for the request in force; untold: none
	joined       bool             // the RMS knows it
	newest       []clusterView    // what the last pass showed, by cluster; nil: nothing since it joined
	sent         []clusterView    // what the last view showed
	acked        []clusterView    // what the last acknowledged view showed
	listed       []clusterView    // what the list of clusters told its launcher in this session, as long as no view has
	pending      *pending         // a subscription or parts that wait for their jobs to be seen
	viewDue      bool             // its launcher is to be looked after: something may be new to it
	moved        string           // what moved its estimate
	group        group            // as admit knows it
	estimate     core.Time        // that its orders were made with
	orders       []*mailbox.Order // by cluster; nil: none
	barriers     []*session       // of its parts, by their numbers
	entry        entry[*application]
}

const noEstimate core.Time = -1

// newApplication is one in no machine yet.
func newApplication(d Application) *application {
	a := &application{Application: d, sentEstimate: noEstimate}
	a.entry.Of = a
	return a
}

// unread is how long a cluster may go unread before nothing starts on it.
const unreadAfter core.Time = 60

// Shift is for a machine that was made of the records of a clock that was set since, by so many seconds: what is promised for a second moves with
// it. It comes before anything else.
func (m *Machine) Shift(by core.Time) {
	for _, a := range m.all {
		a.Shift(by)
	}
}

// place puts an application where its rank says.
func (m *Machine) place(a *application) {
	m.all = slices.DeleteFunc(m.all, func(b *application) bool { return a == b })
	at, _ := slices.BinarySearchFunc(m.all, a, func(b, a *application) int { return b.Compare(&a.Application) })
	m.all = slices.Insert(m.all, at, a)
}

// store notes that an application's record is to be written, and that orders, and what the RMS is to know, may have changed.
func (m *Machine) store(a *application) {
	m.unsaved[a], m.unsettled = true, true
	m.changed(a)
}

// forget takes an application out for good.
func (m *Machine) forget(a *application) {
	m.leaveRMS(a)
	m.all = slices.DeleteFunc(m.all, func(b *application) bool { return a == b })
	delete(m.byID, a.ID)
	for _, s := range []some{m.unplanned, m.unchecked, m.unscheduled, m.ordersDue, m.viewsDue, m.pending, m.holders, m.unsaved} {
		delete(s, a)
	}
	m.agenda.Remove(&a.entry)
	for i := range m.clusters {
		m.setOrder(a, i, nil)
	}
	m.heldChanged = true
	m.out.Deleted = append(m.out.Deleted, a.ID)
}

// some are applications.
type some map[*application]bool

// byRank are they, in the order of their ranks.
func (s some) byRank() []*application {
	return slices.SortedFunc(maps.Keys(s), func(a, b *application) int { return a.Compare(&b.Application) })
}

// clear leaves none. What many have been in is made anew: a map that was large once takes long to walk over for ever.
func (s *some) clear() {
	const many = 64
	if len(*s) > many {
		*s = some{}
		return
	}
	clear(*s)
}

// changed notes that something of an application may have changed.
func (m *Machine) changed(a *application) {
	if a == nil || m.byID[a.ID] != a {
		return
	}
	m.unplanned[a], m.unchecked[a], m.unscheduled[a], m.ordersDue[a] = true, true, true, true
	if a.viewDue {
		m.viewsDue[a] = true
	}
	switch {
	case a.pending != nil:
		m.pending[a] = true
	default:
		delete(m.pending, a)
	}
}

// setViewDue has an application's launcher looked after: something may be new to it.
func (m *Machine) setViewDue(a *application) { a.viewDue, m.viewsDue[a] = true, true }

func (m *Machine) note(a *application, verb, text string) {
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: a.ID, Verb: verb, Text: text})
}

// must is for what cannot fail: the machine has checked it.
func must(err error) {
	if err != nil {
		panic("applications: " + err.Error())
	}
}

// New is a machine with the applications of a journal. An error is about a record that is none.
func New(now core.Time, all []Cluster, links []Link, s Settings, records []Record) (*Machine, error) {
	s.Timer = max(s.Timer, 1)
	if s.Pace == 0 {
		s.Pace = 1
	}
	m := &Machine{links: links, settings: s, now: now, begun: now, again: core.Forever,
		byID: map[int64]*application{}, sessions: map[uint64]*session{}, heldChanged: true,
		unplanned: some{}, unchecked: some{}, unscheduled: some{}, ordersDue: some{}, viewsDue: some{}, pending: some{}, holders: some{}, unsaved: some{}}
	for _, named := range all {
		m.clusters = append(m.clusters, &cluster{Cluster: named, orphans: map[core.JobID]core.Time{}, changed: true})
	}
	m.rms = delegated.New(make([]int, len(all)), delegated.Options{
		Timer: s.Timer, TellEstimates: true, Watch: true, Limit: s.Applications,
	}, &delegated.Indexed{})
	uncounted := false
	for _, r := range records {
		if r.ID == lastNumber {
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
		m.out.Stored = append(m.out.Stored, Record{ID: lastNumber, Data: fmt.Append(nil, m.last)})
		m.out.Notes = append(m.out.Notes, Note{At: m.now, Verb: "damaged", Text: fmt.Sprintf("the number of the last application is damaged in the journal: the next one is %d", m.last+1)})
	}
	return m, nil
}

// Step tells the machine what happened at a second. Seconds that go back count as the latest that was.
func (m *Machine) Step(now core.Time, e Event) {
	m.at(now)
	switch e := e.(type) {
	case Received:
		m.receive(e)
	case Disconnected:
		m.leave(e.Session)
	case StateShown:
		m.showState(e.Cluster, e.State)
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
	case !m.awaitsClusters():
		next = min(next, m.rms.Next(), m.again)
	default:
		next = min(next, m.begun+m.settings.Grace)
	}
	m.schedule()
	next = min(next, m.agenda.First())
	for _, c := range m.clusters {
		next = min(next, m.clusterDeadline(c))
	}
	return max(next, m.now)
}

// Effects are what is to be done about all that happened since they were asked for last.
func (m *Machine) Effects() Effects {
	for _, a := range m.unsaved.byRank() { // the same effects in every run
		m.out.Stored = append(m.out.Stored, a.Record())
	}
	m.unsaved.clear()
	for a := range m.ordersDue {
		m.updateOrders(a)
	}
	m.ordersDue.clear()
	for i, c := range m.clusters {
		if c.changed {
			c.changed = false
			m.sendOrders(i)
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
	m.out.Deleted = append(m.out.Deleted, id)
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: id, Verb: "damaged", Text: fmt.Sprintf(
		"its record in the journal is damaged: %v. It is set aside, and its jobs are ended: its launcher gets the answer that no such application exists. Submit it again "+
			"(accordion launch), and check the disk that holds the journal of applications", why)})
}

// counter is the record of the last number given: numbers are not used again.
const lastNumber = 0

// read makes a record an application again. What it had on clusters that are no longer there is gone: a request that used them, too.
func (m *Machine) read(r Record) (*application, error) {
	d, gone, err := readRecord(r, func(name string) int {
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
		a.giveUp(a.Try)
		a.Phase, a.Tag, a.Walltime = Subscribed, -1, 0
		for _, p := range a.Parts {
			p.Hosts = 0
		}
	case a.Phase == Preparing: // presumed abort
		a.giveUp(a.Try)
		a.Phase = Waiting
	}
	return a, nil
}
