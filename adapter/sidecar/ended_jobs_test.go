package sidecar

import (
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// limitedJournal is a journal that fails after a number of writes, so that its sidecar ends.
type limitedJournal struct {
	actions.Journal
	writes    int
	events    []string
	forgotten bool
}

var errFull = errors.New("no space left on device")

func (b *limitedJournal) write(act func()) error {
	if b.writes == 0 {
		return errFull
	}
	b.writes--
	act()
	return nil
}

func (b *limitedJournal) Event(e journal.Event) error {
	return b.write(func() { b.events = append(b.events, e.Kind+" "+e.Text) })
}
func (b *limitedJournal) Delete(_, _ int64) error { return b.write(func() { b.forgotten = true }) }

func TestARecordIsDeletedOnlyAfterTheJournalHasTheEndOfItsJob(t *testing.T) {
	for writes := range 3 {
		first := managed.New(&adapter.Job{Key: adapter.Key{ID: 1}}, "", []core.EP{{{Duration: 36, Nodes: 2}}})
		second := managed.New(&adapter.Job{Key: adapter.Key{ID: 2}}, "", []core.EP{{{Duration: 29, Nodes: 2}, {Duration: 36, Nodes: 12}, {Duration: 37, Nodes: 5}}})
		second.EndReason, second.Phase, second.Began = "it was late", managed.Ending, 1
		b := &limitedJournal{writes: writes}
		s := &jobs{eventLog: &eventLog{logger: hclog.NewNullLogger(), clock: adapter.Wall{}, journal: b}, usage: view.NewUsageLedger(0, nil), readings: &readings{snapshot: &adapter.Snapshot{}}, records: map[adapter.Key]*managed.Job{first.Key: first, second.Key: second}}
		if err := s.forget(second, "ended", nil); (err == nil) != (writes == 2) {
			t.Errorf("after %d writes: %v", writes, err)
		}
		if said := slices.Contains(b.events, "ended after step 1 of 3: it was late"); b.forgotten && !said || writes == 2 && !b.forgotten {
			t.Errorf("a sidecar that ends after %d writes has written %q and has deleted the record: %v", writes, b.events, b.forgotten)
		}
	}
}
