package sidecar_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

func TestAShrinkThatIsAnnouncedDuringASlowReadingIsInTime(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, c *counted) {
		job := w.submit(embedded.JobSpec{Nodes: 3, Managed: true, Silent: true, Comment: "ep=3x20s,1x20s", Script: listening(40 * time.Second)})
		w.at(22)
		c.is(false, 3500*time.Millisecond) // from now until after the announcement of the shrink, which is at second 24
		w.at(25)
		c.is(false, 0)
		w.quiet(200)
		w.shows(job, "3@7-29 1@29-47")
	})
}

func TestTheScriptOfAnApplicationThatHasAskedIsNotRead(t *testing.T) {
	looked := 0
	o := slurmish
	o.Faults = func(c embedded.Call) (fault embedded.Fault) {
		if c.Verb == "Speaks" {
			looked++
		}
		return fault
	}
	inWorld(t, o, func(w *world) {
		asks := w.evolving("2x20s,5x20s", 0, 19*time.Second)
		w.quiet(200)
		if w.steps(asks) != "2 5" || looked != 0 {
			t.Errorf("it ran on %s nodes and was looked through %d times", w.steps(asks), looked)
		}
		w.evolving("2x20s,5x20s")
		w.quiet(400)
		if looked != 1 {
			t.Errorf("one that has not asked yet was looked through %d times, want once", looked)
		}
	})
}

func TestTheJournalSaysWhenTheBatchSystemIsSlow(t *testing.T) {
	inRestingWorld(t, slurmish, func(w *world, c *counted) {
		w.at(20)
		c.is(false, 3*time.Second)
		w.at(80)
		c.is(false, 0)
		w.at(120)
		said := w.journalled()
		for _, once := range []string{"slow the batch system takes 3.0 s to be read", "prompt the batch system is read promptly again"} {
			if strings.Count(said, once) != 1 {
				t.Errorf("the journal does not say once %q:\n%s", once, said)
			}
		}
	})
}

func TestAnEarlyApplicationThatTheBatchSystemDelaysReadsThatAsTheReason(t *testing.T) {
	var trapped atomic.Bool // whether the sidecar's calls fail with adapter.ErrTrap
	o := slurmish
	o.Faults = func(c embedded.Call) (fault embedded.Fault) {
		if c.Verb == "Shrink" && trapped.Load() {
			fault.Refuse = adapter.ErrTrap
		}
		return fault
	}
	for name, until := range map[string]int{"until its planned second": 64, "until after it": 75} {
		t.Run(name, func(t *testing.T) {
			trapped.Store(true)
			inWorld(t, o, func(w *world) {
				w.eager()
				w.evolving("3x60s,1x20s", 10*time.Second, 5*time.Second)
				w.at(until - 1)
				trapped.Store(false)
				w.quiet(200)
				if said := w.journalled(); strings.Contains(said, "would have delayed others") || !strings.Contains(said, "might have gone on") {
					t.Errorf("there is no other job, and the journal has\n%s", said)
				}
			})
		})
	}
}
