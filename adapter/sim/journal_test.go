package sim

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"accordion/adapter/actions"
	"accordion/adapter/journal"
)

// memoryJournal is a simple journal in memory. Most scenarios use it instead of *journal.Journal, which needs a file. A test compares the
// two.
type memoryJournal struct {
	mu      sync.Mutex
	entries []journal.Entry
	open    []int64 // IDs of intents without an outcome, ascending
	records map[[2]int64][]byte
	view    []byte
	queue   []byte
	quick   bool // do not check that entries can be encoded as JSON
}

// readableJournal is a journal whose entries can be read. *journal.Journal and memoryJournal implement it.
type readableJournal interface {
	actions.Journal
	Entries(since int64) iter.Seq2[journal.Entry, error]
}

var (
	_ readableJournal = (*journal.Journal)(nil)
	_ readableJournal = (*memoryJournal)(nil)
)

func newMemory() *memoryJournal { return &memoryJournal{records: map[[2]int64][]byte{}} }

func (m *memoryJournal) Records() ([]journal.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []journal.Record
	for key, data := range m.records {
		all = append(all, journal.Record{Job: key[0], Submitted: key[1], Data: data})
	}
	slices.SortFunc(all, func(a, b journal.Record) int {
		return slices.Compare([]int64{a.Job, a.Submitted}, []int64{b.Job, b.Submitted})
	})
	return all, nil
}

func (m *memoryJournal) Unfinished() ([]journal.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []journal.Entry
	for _, id := range m.open {
		all = append(all, m.entries[id-1])
	}
	return all, nil
}

func (m *memoryJournal) add(e journal.Entry) (int64, error) {
	// Like the real journal, memoryJournal returns an error for values that cannot be encoded.
	if !m.quick {
		if _, err := json.Marshal(e.Args); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.ID = int64(len(m.entries) + 1)
	m.entries = append(m.entries, e)
	if e.Unfinished() {
		m.open = append(m.open, e.ID)
	}
	return e.ID, nil
}

func (m *memoryJournal) Begin(in journal.Intent) (int64, error) {
	return m.add(journal.Entry{
		Kind: journal.KindIntent, At: in.At, Cluster: in.Cluster, Job: in.Job, Submitted: in.Submitted, Verb: in.Verb, Args: in.Args,
	})
}

func (m *memoryJournal) Finish(id int64, at time.Time, failure error) error {
	if failure != nil {
		return m.Resolve(id, at, journal.Failed+": "+failure.Error())
	}
	return m.Resolve(id, at, journal.Done)
}

func (m *memoryJournal) Resolve(id int64, at time.Time, outcome string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id < 1 || id > int64(len(m.entries)) || !m.entries[id-1].Unfinished() {
		return fmt.Errorf("intent %d: %w", id, journal.ErrFinished)
	}
	e := &m.entries[id-1]
	e.Outcome, e.Took = outcome, at.Sub(e.At)
	if i, open := slices.BinarySearch(m.open, id); open {
		m.open = slices.Delete(m.open, i, i+1)
	}
	return nil
}

func (m *memoryJournal) Event(ev journal.Event) error {
	_, err := m.add(journal.Entry{
		Kind: journal.KindEvent, At: ev.At, Job: ev.Job, Submitted: ev.Submitted, Verb: ev.Kind, Text: ev.Text, Args: ev.Fields,
	})
	return err
}

func (m *memoryJournal) Put(r journal.Record, happened ...journal.Event) error {
	for _, e := range happened {
		if err := m.Event(e); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[[2]int64{r.Job, r.Submitted}] = slices.Clone(r.Data)
	return nil
}

func (m *memoryJournal) Delete(job, submitted int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, [2]int64{job, submitted})
	return nil
}

func (m *memoryJournal) PutView(data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.view = slices.Clone(data)
	return nil
}

func (m *memoryJournal) View() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view, nil
}

func (m *memoryJournal) PutQueue(data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = slices.Clone(data)
	return nil
}

func (m *memoryJournal) Queue() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.queue, nil
}

func (m *memoryJournal) Entries(since int64) iter.Seq2[journal.Entry, error] {
	m.mu.Lock()
	entries := slices.Clone(m.entries)
	m.mu.Unlock()
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range entries {
			if e.ID > since && !yield(e, nil) {
				return
			}
		}
	}
}

// process is one process of the sidecar.
type process struct {
	dead chan struct{}
	once sync.Once
}

func newLife() *process { return &process{dead: make(chan struct{})} }

// die simulates kill -9: from now on, nothing that the process does has any effect.
func (l *process) die() { l.once.Do(func() { close(l.dead) }) }

func (l *process) over() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

var errKilled = errors.New("killed")

// faultyJournal is the journal as one process of the sidecar uses it. A write takes some time, and the process may die before or after it.
type faultyJournal struct {
	actions.Journal
	world   *world
	process *process
}

// write calls `act`, which writes to the journal, after a random time. The process may die before or after that.
func (p faultyJournal) write(name string, act func() error) error {
	w := p.world
	if p.process.over() {
		return errKilled
	}
	nth := w.count("write " + name)
	select {
	case <-p.process.dead:
		return errKilled
	case <-time.After(w.dice.span(time.Microsecond, time.Millisecond, name, nth)):
	}
	if w.fatal("death before write "+name, nth) {
		p.process.die()
		return errKilled
	}
	if err := act(); err != nil {
		return err
	}
	if w.fatal("death after write "+name, nth) {
		p.process.die()
		return errKilled
	}
	return nil
}

// keep adds a hash of data to the trace, because the data itself is too long.
func (p faultyJournal) keep(what string, data []byte) {
	if p.world.tracing && !p.process.over() {
		p.world.note("journal: %s %x", what, sha256.Sum256(data))
	}
}

func (p faultyJournal) Begin(in journal.Intent) (id int64, err error) {
	name := fmt.Sprint("begin ", in.Verb, " ", in.Job)
	if r, ok := in.Args["reservation"].(string); ok {
		name += " " + r
	}
	err = p.write(name, func() (err error) { id, err = p.Journal.Begin(in); return err })
	if err == nil {
		p.world.note("journal: %s %v is intent %d", name, in.Args, id)
	}
	return id, err
}

func (p faultyJournal) Finish(id int64, at time.Time, failure error) error {
	return p.write(fmt.Sprint("finish ", id), func() error { return p.Journal.Finish(id, at, failure) })
}

func (p faultyJournal) Resolve(id int64, at time.Time, outcome string) error {
	return p.write(fmt.Sprint("resolve ", id), func() error { return p.Journal.Resolve(id, at, outcome) })
}

func (p faultyJournal) heard(e journal.Event) {
	if !p.process.over() {
		p.world.note("journal: event %s of job %d: %s %v", e.Kind, e.Job, e.Text, e.Fields)
	}
}

func (p faultyJournal) Event(e journal.Event) error {
	p.heard(e)
	return p.write(fmt.Sprint("event ", e.Kind, " ", e.Job), func() error { return p.Journal.Event(e) })
}

func (p faultyJournal) Put(r journal.Record, happened ...journal.Event) error {
	p.keep(fmt.Sprint("record ", r.Job), r.Data)
	for _, e := range happened {
		p.heard(e)
	}
	return p.write(fmt.Sprint("record ", r.Job), func() error { return p.Journal.Put(r, happened...) })
}

func (p faultyJournal) Delete(job, submitted int64) error {
	return p.write(fmt.Sprint("forget ", job), func() error { return p.Journal.Delete(job, submitted) })
}

func (p faultyJournal) PutView(data []byte) error {
	if !p.process.over() {
		p.world.judgeView(data)
	}
	p.keep("view", data)
	return p.write("view", func() error { return p.Journal.PutView(data) })
}

func (p faultyJournal) PutQueue(data []byte) error {
	p.keep("queue", data)
	return p.write("queue", func() error { return p.Journal.PutQueue(data) })
}
