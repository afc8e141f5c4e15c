package applications

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"accordion/adapter/agenda"
	"accordion/adapter/clusters"
	"accordion/adapter/part"
	"accordion/adapter/sight"
	"accordion/core"
	"accordion/core/delegate"
)

// Machine is what becomes of applications. One goroutine owns it.
type Machine struct {
	clusters []*cluster
	known    clusters.All // the same ones
	settings Settings
	rms      *delegate.RMS

	now       core.Time
	last      int64          // the newest application's number
	all       []*application // by rank; those without one behind
	byID      map[int64]*application
	sessions  map[uint64]*session
	occupied  []delegate.Stretch // as the RMS knows it
	begun     core.Time          // since when the machine runs
	asleep    bool               // after a restart: no pass before all clusters are read, or grace is over
	again     core.Time          // the next half minute, when what has no known end is looked at again; core.Forever: there is no such thing
	unsettled bool               // the RMS does not know all that it should
	regroup   bool               // who waits, or may, is somebody else than the RMS knows
	moved     bool               // what applications hold, or a cluster's being lost, has changed since occupied was made
	heldAt    core.Time          // when that was
	shows     int64              // occupations that passes have shown

	// An event costs what it touches: whoever has to look at applications looks at those of which something changed since he last did.
	touched  some // not told to the RMS
	awaited  some // not looked at by deadlines
	undated  some // not in the agenda
	unsorted some // whose orders may be others
	stirred  some // whose launchers may have to be told something
	pending  some // that wait for jobs to be seen
	holders  some // that hold hosts, or may
	dirty    some // to be stored
	agenda   agenda.Agenda[*application]
	out      Effects
}

// cluster is one in its machine.
type cluster struct {
	clusters.Known
	lost    bool           // not read for a minute
	trouble string         // why its board cannot be used; "": it can
	placed  bool           // a pass has placed what is there
	changed bool           // its orders have, or a stray is due
	ordered []*application // that it has an order about, by rank
	orders  []part.Order
	strays  map[core.JobID]core.Time // jobs that no application names: since when
}

// application is one in its machine.
type application struct {
	durable
	launcher *session
	away     core.Time     // since when there is no launcher
	owes     core.Time     // since when a view is not acknowledged; 0: none is owed
	owed     int64         // that view
	told     core.Time     // the estimate that its launcher was told for the request in force; untold: none
	joined   bool          // the RMS knows it
	newest   []sight.Seen  // what the last pass showed, by cluster; nil: nothing since it joined
	sent     []sight.Seen  // what the last view showed
	acked    []sight.Seen  // what the last acknowledged view showed
	listed   []sight.Seen  // what the list of clusters told its launcher in this session, as long as no view has
	pending  *pending      // a subscription or parts that wait for their jobs to be seen
	look     bool          // its launcher is to be looked after: something may be new to it
	moved    string        // what moved its estimate
	stood    group         // as admit knows it
	estimate core.Time     // that its orders were made with
	orders   []*part.Order // by cluster; nil: none
	barriers []*session    // of its parts, by their numbers
	entry    agenda.Entry[*application]
}

const untold core.Time = -1

// newApplication is one in no machine yet.
func newApplication(d durable) *application {
	a := &application{durable: d, told: untold}
	a.entry.Of = a
	return a
}

// unread is how long a cluster may go unread before nothing starts on it.
const unread core.Time = 60

// New is a machine with the applications of a journal. An error is about a record that is none.
func New(now core.Time, all []Cluster, links []Link, s Settings, records []Record) (*Machine, error) {
	s.Timer = max(s.Timer, 1)
	if s.Pace == 0 {
		s.Pace = 1
	}
	m := &Machine{known: clusters.All{Links: links}, settings: s, now: now, begun: now, again: core.Forever,
		byID: map[int64]*application{}, sessions: map[uint64]*session{}, moved: true,
		touched: some{}, awaited: some{}, undated: some{}, unsorted: some{}, stirred: some{}, pending: some{}, holders: some{}, dirty: some{}}
	for _, named := range all {
		c := &cluster{Known: clusters.Known{Cluster: named}, strays: map[core.JobID]core.Time{}, changed: true}
		m.clusters, m.known.Clusters = append(m.clusters, c), append(m.known.Clusters, &c.Known)
	}
	m.rms = delegate.New(make([]int, len(all)), delegate.Options{
		Timer: s.Timer, TellEstimates: true, Watch: true, Limit: s.Applications,
	}, &delegate.Indexed{})
	for _, r := range records {
		if r.ID == counter {
			if err := json.Unmarshal(r.Data, &m.last); err != nil {
				return nil, fmt.Errorf("the record of the last application's number: %w", err)
			}
			continue
		}
		a, err := m.read(r)
		if err != nil {
			return nil, err
		}
		a.away = now
		m.byID[a.ID] = a
		m.place(a)
		m.asleep = true
		m.last = max(m.last, a.ID)
		m.store(a)
	}
	return m, nil
}

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
	at, _ := slices.BinarySearchFunc(m.all, a, func(b, a *application) int { return b.Compare(&a.durable) })
	m.all = slices.Insert(m.all, at, a)
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
		m.show(e.Cluster, e.Board)
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
	return slices.SortedFunc(maps.Keys(s), func(a, b *application) int { return a.Compare(&b.durable) })
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
