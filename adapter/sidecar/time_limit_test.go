package sidecar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/core"
)

// The limit is 160 s at the start, and is then shortened. Nodes that the job cannot use after the
// new limit are planned for other jobs, and the job's output reports that.
func TestAShortenedLimitCutsTheProfileAndIsReported(t *testing.T) {
	for _, c := range []struct {
		name      string
		again     core.Time // the limit from second 30 on; 0 if the shortened limit stays
		sizes     string
		events    string
		otherFrom time.Duration // the earliest and the latest time at which a job that needs the whole machine may begin
		otherTo   time.Duration
	}{
		{"for good", 0, "2 5", "accepted starting started shortened grew warned ended", 52 * time.Second, 75 * time.Second},
		{"and lengthened again", 180, "2 5 9", "accepted starting started shortened grew restored grew ended", 100 * time.Second, 125 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.evolving("2x20s,5x40s,9x40s")
				w.at(10)
				if limit := w.record(job).Limit; limit != 160 {
					t.Errorf("it began with a limit of %d s", limit)
				}
				if err := w.SetLimit(job, 50); err != nil {
					t.Fatal(err)
				}
				w.at(12)
				other := w.evolving("16x10s")
				if c.again > 0 {
					w.at(30)
					if err := w.SetLimit(job, c.again); err != nil {
						t.Fatal(err)
					}
				}
				w.quiet(300)
				if got := w.steps(job); got != c.sizes {
					t.Errorf("it ran on %s nodes, want %s\n%s", got, c.sizes, w.journalled())
				}
				if got := w.events(job); got != c.events {
					t.Errorf("events are %q, want %q\n%s", got, c.events, w.journalled())
				}
				if began := w.record(other).Start.Sub(w.begin); began < c.otherFrom || began > c.otherTo {
					t.Errorf("the other began after %v, want %v to %v\n%s", began, c.otherFrom, c.otherTo, w.journalled())
				}
				output := strings.Join(w.record(job).Output, "\n")
				want := "accordion: the limit of this job was shortened to 50s: it ends at 00:00:52, in step 2 of 3"
				if !strings.Contains(output, want) || strings.Contains(output, "lengthened to 3m: it ends at 00:01:45, in step 3 of 3") != (c.again > 0) {
					t.Errorf("its user reads\n%s\nwant in it %q", output, want)
				}
				w.clean()
			})
		})
	}
}

func TestALimitThatIsShortenedBeforeTheStartIsSeenCutsTheProfile(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x40s,9x40s")
		w.at(1)
		time.Sleep(500 * time.Millisecond) // the job is released, and has not started yet
		if err := w.SetLimit(job, 50); err != nil {
			t.Fatal(err)
		}
		w.quiet(300)
		if got, want := w.events(job), "accepted starting started shortened grew ended"; got != want {
			t.Errorf("events are %q, want %q\n%s", got, want, w.journalled())
		}
		w.clean()
	})
}

// The batch system delays growths by more than the time limit allows. Then `accordion queue` shows
// as the job's end the second at which the batch system will end it. The job's output reports that
// in advance.
func TestDelaysBeyondTheLimitCutTheProfileAndAreReported(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x40s,9x40s")
		w.at(10)
		limit := w.record(job).Start.Unix() + w.record(job).Limit
		others := func(do func(string) error) {
			for n := 3; n <= 16; n++ {
				if err := do(fmt.Sprintf("n%d", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
		others(w.DrainNode)
		w.at(110)
		others(w.ReviveNode)
		w.at(125)
		if end := w.entry(job).End; end > limit {
			t.Errorf("it is shown to end in second %d, and the batch system ends it in %d", end-w.begin.Unix(), limit-w.begin.Unix())
		}
		w.quiet(400)
		if got, want := w.events(job), "accepted starting started promise broken promise broken grew capped grew ended"; got != want {
			t.Errorf("events are %q, want %q\n%s", got, want, w.journalled())
		}
		want := "accordion: the limit of this job is 2m40s, and steps of it began late: it ends at 00:02:42, in step 3 of 3"
		if output := strings.Join(w.record(job).Output, "\n"); !strings.Contains(output, want) {
			t.Errorf("its user reads\n%s\nwant in it %q", output, want)
		}
		w.clean()
	})
}
