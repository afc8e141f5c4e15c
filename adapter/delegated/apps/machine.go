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
	"maps"
	"slices"

	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/core/delegated"
)

// Machine is what becomes of applications. One goroutine owns it.
type Machine struct {
	clusters []*cluster
	links    []Link
	settings Settings
	rms      *delegated.RMS

	now       core.Time
	last      int64          // the newest application's number
	all       []*application // by rank; those without one behind
	byID      map[int64]*application
	sessions  map[uint64]*session
	occupied  []delegated.Stretch // as the RMS knows it
	begun     core.Time           // since when the machine runs
	asleep    bool                // after a restart: no pass before all clusters are read, or grace is over
	again     core.Time           // when what has no known end is looked at again; core.Forever: there is no such thing
	unsettled bool                // the RMS does not know all that it should
	regroup   bool                // who waits, or may, is somebody else than the RMS knows
	moved     bool                // what applications hold, or a cluster's being lost, has changed since occupied was made
	heldAt    core.Time           // when that was
	shows     int64               // occupations that passes have shown

	// An event costs what it touches: whoever has to look at applications looks at those of which something changed since he last did.
	touched  some // not told to the RMS
	awaited  some // not looked at by deadlines
	undated  some // not in the agenda
	unsorted some // whose orders may be others
	stirred  some // whose launchers may have to be told something
	pending  some // that wait for jobs to be seen
	holders  some // that hold hosts, or may
	dirty    some // to be stored
	agenda   Agenda[*application]
	out      Effects
}

// application is one in its machine.
type application struct {
	Application
	launcher *session
	away     core.Time        // since when there is no launcher
	owes     core.Time        // since when a view is not acknowledged; 0: none is owed
	owed     int64            // that view
	told     core.Time        // the estimate that its launcher was told for the request in force; untold: none
	joined   bool             // the RMS knows it
	newest   []Seen           // what the last pass showed, by cluster; nil: nothing since it joined
	sent     []Seen           // what the last view showed
	acked    []Seen           // what the last acknowledged view showed
	listed   []Seen           // what the list of clusters told its launcher in this session, as long as no view has
	pending  *pending         // a subscription or parts that wait for their jobs to be seen
	look     bool             // its launcher is to be looked after: something may be new to it
	moved    string           // what moved its estimate
	stood    group            // as admit knows it
	estimate core.Time        // that its orders were made with
	orders   []*mailbox.Order // by cluster; nil: none
	barriers []*session       // of its parts, by their numbers
	entry    Entry[*application]
}

const untold core.Time = -1

// newApplication is one in no machine yet.
func newApplication(d Application) *application {
	a := &application{Application: d, told: untold}
	a.entry.Of = a
	return a
}

// unread is how long a cluster may go unread before nothing starts on it.
const unread core.Time = 60

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
	m.dirty[a], m.unsettled = true, true
	m.touch(a)
}

// forget takes an application out for good.
func (m *Machine) forget(a *application) {
	m.quit(a)
	m.all = slices.DeleteFunc(m.all, func(b *application) bool { return a == b })
	delete(m.byID, a.ID)
	for _, s := range []some{m.touched, m.awaited, m.undated, m.unsorted, m.stirred, m.pending, m.holders, m.dirty} {
		delete(s, a)
	}
	m.agenda.Remove(&a.entry)
	for i := range m.clusters {
		m.setOrder(a, i, nil)
	}
	m.moved = true
	m.out.Gone = append(m.out.Gone, a.ID)
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

// touch notes that something of an application may have changed.
func (m *Machine) touch(a *application) {
	if a == nil || m.byID[a.ID] != a {
		return
	}
	m.touched[a], m.awaited[a], m.undated[a], m.unsorted[a] = true, true, true, true
	if a.look {
		m.stirred[a] = true
	}
	switch {
	case a.pending != nil:
		m.pending[a] = true
	default:
		delete(m.pending, a)
	}
}

// stir has an application's launcher looked after: something may be new to it.
func (m *Machine) stir(a *application) { a.look, m.stirred[a] = true, true }

func (m *Machine) note(a *application, verb, text string) {
	m.out.Notes = append(m.out.Notes, Note{At: m.now, Application: a.ID, Verb: verb, Text: text})
}

// must is for what cannot fail: the machine has checked it.
func must(err error) {
	if err != nil {
		panic("applications: " + err.Error())
	}
}
