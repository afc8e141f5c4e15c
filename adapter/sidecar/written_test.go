package sidecar_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"accordion/adapter/actions"
	"accordion/adapter/journal"
)

// drying is a pen that dries up: of what is remembered and what happened it writes so many, and nothing after that.
type drying struct {
	actions.Journal
	left int
	dry  chan struct{} // closed then: the sidecar is dead
}

func (d *drying) writes() error {
	if d.left--; d.left == -1 {
		close(d.dry)
	}
	if d.left < 0 {
		return errors.New("the pen is dry")
	}
	return nil
}

func (d *drying) Event(e journal.Event) error {
	if err := d.writes(); err != nil {
		return err
	}
	return d.Journal.Event(e)
}

func (d *drying) Put(r journal.Record, happened ...journal.Event) error {
	if err := d.writes(); err != nil {
		return err
	}
	return d.Journal.Put(r, happened...)
}

// What is remembered and what happened are written together: a sidecar that dies anywhere between makes the next one neither silent nor
// say it twice.
func TestAStartAGrowthAndAShrinkAreToldOnceWhereverTheSidecarDies(t *testing.T) {
	for at := 0; ; at++ {
		died := true
		t.Run(fmt.Sprintf("after %d writes", at), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.halt()
				d := &drying{left: at}
				w.pen = func(j actions.Journal) actions.Journal { d.Journal, d.dry = j, w.mortal.dead; return d }
				w.serve()
				w.pen = nil
				job := w.evolving("2x20s,5x20s,3x20s")
				select {
				case <-d.dry:
					time.Sleep(2 * time.Second)
					w.restart()
				case <-time.After(100 * time.Second):
					died = false
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
						t.Errorf("%s is told %d times\n%s", kind, told[kind], w.journalled())
					}
				}
				w.clean()
			})
		})
		if !died {
			if at < 8 {
				t.Errorf("only %d writes were seen in a start, a growth and a shrink", at)
			}
			return
		}
	}
}
