package sidecar_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"accordion/adapter/actions"
	"accordion/adapter/journal"
)

// killingJournal is a journal that fails after a number of writes of records and events. When it
// fails, the sidecar is killed.
type killingJournal struct {
	actions.Journal
	left   int
	killed chan struct{} // closed when the journal fails
}

func (d *killingJournal) writes() error {
	if d.left--; d.left == -1 {
		close(d.killed)
	}
	if d.left < 0 {
		return errors.New("no space left on device")
	}
	return nil
}

func (d *killingJournal) Event(e journal.Event) error {
	if err := d.writes(); err != nil {
		return err
	}
	return d.Journal.Event(e)
}

func (d *killingJournal) Put(r journal.Record, happened ...journal.Event) error {
	if err := d.writes(); err != nil {
		return err
	}
	return d.Journal.Put(r, happened...)
}

// A record and its events are written together. So no event is missing or written twice, whenever
// the sidecar is killed.
func TestEventsAreWrittenOnceWhereverTheSidecarIsKilled(t *testing.T) {
	for at := 0; ; at++ {
		killed := true
		t.Run(fmt.Sprintf("after %d writes", at), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				d := &killingJournal{left: at}
				w.wrapJournal = func(j actions.Journal) actions.Journal { d.Journal, d.killed = j, w.killing.dead; return d }
				w.serve()
				w.wrapJournal = nil
				job := w.evolving("2x20s,5x20s,3x20s")
				select {
				case <-d.killed:
					time.Sleep(2 * time.Second)
					w.restart()
				case <-time.After(100 * time.Second):
					killed = false
				}
				w.quiet(200)
				if got := w.steps(job); got != "2 5 3" {
					t.Errorf("it ran on %s nodes, want 2 5 3\n%s", got, w.history())
				}
				told := map[string]int{}
				for e, err := range w.journal.Entries(0) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Kind == journal.KindEvent {
						told[e.Verb]++
					}
				}
				for _, kind := range []string{"accepted", "started", "grew", "shrank"} {
					if told[kind] != 1 {
						t.Errorf("%s is written %d times\n%s", kind, told[kind], w.journalled())
					}
				}
				w.clean()
			})
		})
		if !killed {
			if at < 8 {
				t.Errorf("only %d writes were seen in a start, a growth and a shrink", at)
			}
			return
		}
	}
}
