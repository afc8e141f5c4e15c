// Package apps makes the decisions about applications and their launchers (delegated scheduling, RR-7389). It decides which applications
// wait, with which requests and ranks, which applications are prepared on which clusters, and until when applications run. It also
// decides which messages each launcher receives.
//
// The package is pure: a Machine has no clock, no goroutine, no input and no output. Its caller (adapter/delegated/loop) passes it each
// event with its second, and carries out the effects that the machine returns, the records first:
//
//	m, err := apps.New(now, clusters, links, settings, records)
//	m.Step(now, apps.Received{Session: 7, User: "ann", Seq: 1, Message: &launcher.Hello{…}})
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

// Machine decides about all applications of a process. One goroutine owns the Machine.
type Machine struct {
	clusters []*cluster
	links    []Link
	settings Settings
	rms      *delegated.RMS

	now         core.Time
	last        int64          // the number of the newest application
	all         []*application // by rank; applications without a rank come last
	byID        map[int64]*application
	sessions    map[uint64]*session
	occupied    []delegated.Stretch // the hosts that applications hold, as they were last passed to the RMS
	begun       core.Time           // when the machine began
	asleep      bool                // after a restart: no pass happens before all clusters are read, or Settings.Grace has passed
	again       core.Time           // when hosts that are held without a known end are checked again; core.Forever if there are none
	unsettled   bool                // the RMS has to be updated
	regroup     bool                // the set of applications that wait or may start has changed since it was last passed to the RMS
	heldChanged bool                // the hosts that applications hold, or the set of lost clusters, changed since occupied was made
	heldAt      core.Time           // when occupied was made
	shows       int64               // number of occupations of clusters that passes have computed so far

	// Sets of applications that changed. Each set is for one method, which goes only through the applications in its set. So the cost of
	// an event depends on how much it changes, and not on the number of applications.
	unplanned   some // for updateRMS
	unchecked   some // for deadlines
	unscheduled some // for the agenda
	ordersDue   some // for updateOrders
	viewsDue    some // for flush: applications whose launchers may have to receive a view
	pending     some // applications that have named jobs which no reading has shown yet
	holders     some // applications that hold hosts, or may hold some
	unsaved     some // applications whose records must be written to the journal
	agenda      agenda[*application]
	out         Effects
}

// application is an application in a machine. The fields of Application are in its record; the other fields are lost when the process ends.
type application struct {
	Application
	launcher     *session
	away         core.Time        // when the launcher disconnected; 0 if it is connected
	unackedSince core.Time        // when the last view was sent, if the launcher has not acknowledged it; otherwise 0
	unackedView  int64            // the number of that view
	sentEstimate core.Time        // the last estimate for the request in force that was sent to the launcher, or noEstimate
	joined       bool             // the RMS knows the application
	newest       []clusterView    // what the last pass showed, by cluster; nil if no pass has shown anything since the application joined
	sent         []clusterView    // what the last view showed
	acked        []clusterView    // what the last acknowledged view showed
	listed       []clusterView    // what the list of clusters showed in this session, until the first view
	pending      *pending         // a message that names jobs which no reading has shown yet; nil if there is none
	viewDue      bool             // the launcher may have to receive a view
	moved        string           // why the estimate last moved
	group        group            // the group that was last passed to the RMS
	estimate     core.Time        // the estimate in the orders about the application
	orders       []*mailbox.Order // orders by cluster; nil if there are none
	barriers     []*session       // sessions of the application's parts, ordered by number
	entry        entry[*application]
}

const noEstimate core.Time = -1

// newApplication returns an application that is in no machine yet.
func newApplication(d Application) *application {
	a := &application{Application: d, sentEstimate: noEstimate}
	a.entry.Of = a
	return a
}

// unreadAfter is the number of seconds without a reading after which a cluster counts as lost, so that nothing starts on it.
const unreadAfter core.Time = 60

// Shift adds `by` to the promised times of all applications, after the clock was set by that many seconds. It must be called before the
// first event.
func (m *Machine) Shift(by core.Time) {
	for _, a := range m.all {
		a.Shift(by)
	}
}

// place inserts an application at its rank.
func (m *Machine) place(a *application) {
	m.all = slices.DeleteFunc(m.all, func(b *application) bool { return a == b })
	at, _ := slices.BinarySearchFunc(m.all, a, func(b, a *application) int { return b.Compare(&a.Application) })
	m.all = slices.Insert(m.all, at, a)
}

// store records that an application's record must be written. The orders about the application, and what the RMS must know about it, may
// also have changed.
func (m *Machine) store(a *application) {
	m.unsaved[a], m.unsettled = true, true
	m.changed(a)
}

// forget removes an application.
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

// some is a set of applications.
type some map[*application]bool

// byRank returns the applications in the order of their ranks.
func (s some) byRank() []*application {
	return slices.SortedFunc(maps.Keys(s), func(a, b *application) int { return a.Compare(&b.Application) })
}

// clear empties the set. It replaces a large map by a new one, because ranging over a map that was once large stays slow.
func (s *some) clear() {
	const many = 64
	if len(*s) > many {
		*s = some{}
		return
	}
	clear(*s)
}

// changed adds an application to the sets, because any of its fields may have changed.
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

// setViewDue records that an application's launcher may have to receive a view.
func (m *Machine) setViewDue(a *application) { a.viewDue, m.viewsDue[a] = true, true }

func (m *Machine) note(a *application, verb, text string) {
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: a.ID, Verb: verb, Text: text})
}

// must panics if err is not nil. The caller's own checks must make an error impossible.
func must(err error) {
	if err != nil {
		panic("applications: " + err.Error())
	}
}

// New returns a machine with the applications in the records of a journal. It sets damaged records aside, and does not return an error
// for them.
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
	if uncounted { // applications newer than the newest readable record may have had numbers that are not known
		m.last += skipped
		m.out.Stored = append(m.out.Stored, Record{ID: lastNumber, Data: fmt.Append(nil, m.last)})
		m.out.Notes = append(m.out.Notes, Note{At: m.now, Verb: "damaged", Text: fmt.Sprintf("the number of the last application is damaged in the journal: the next one is %d", m.last+1)})
	}
	return m, nil
}

// Step passes an event to the machine. now is the second of the event. If `now` is earlier than in a previous call, the machine uses the
// latest second instead.
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

// Wake carries out what is due at the second `now`: deadlines, and a pass. It reports whether there was a pass.
func (m *Machine) Wake(now core.Time) (pass bool) {
	m.at(now)
	m.deadlines()
	pass = m.pass()
	m.flush()
	return pass
}

// Next returns the second at which Wake is due, or core.Forever.
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

// Effects returns the effects of everything that has happened since the previous call.
func (m *Machine) Effects() Effects {
	for _, a := range m.unsaved.byRank() { // in order, so that the effects are the same in every run
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

// mostNumber is larger than the number of any application. skipped is how many numbers are skipped if the record of the last number is
// lost, so that no number is used twice.
const (
	mostNumber = 1 << 53
	skipped    = 1_000_000
)

// setAside removes a damaged record. The jobs of its application are then ended as orphans, because no application names them.
func (m *Machine) setAside(id int64, why error) {
	m.out.Deleted = append(m.out.Deleted, id)
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: id, Verb: "damaged", Text: fmt.Sprintf(
		"its record in the journal is damaged: %v. It is set aside, and its jobs are ended: its launcher gets the answer that no such application exists. Submit it again "+
			"(accordion launch), and check the disk that holds the journal of applications", why)})
}

// lastNumber is the ID of the record that stores the number of the last application, so that no number is used again.
const lastNumber = 0

// read returns the application in a record. It removes parts on clusters that no longer exist. If the request used such a cluster, the
// application loses its request or, if it has started, ends.
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
	case a.Phase == Preparing: // the start was not committed, so the try is given up
		a.giveUp(a.Try)
		a.Phase = Waiting
	}
	return a, nil
}
