package sidecar

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/act"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/usage"
	"accordion/core"
)

// willing is a journal that takes everything.
type willing struct{ act.Journal }

func (willing) Event(journal.Event) error                  { return nil }
func (willing) Put(journal.Record, ...journal.Event) error { return nil }
func (willing) Delete(_, _ int64) error                    { return nil }

// hands is a clock that is set by hand.
type hands struct{ at *time.Time }

func (h hands) Now() time.Time                       { return *h.at }
func (h hands) After(time.Duration) <-chan time.Time { return nil }

// A run may leave something unused because of a requeue by the batch system, or by its owner
// (sbatch --requeue, scontrol requeue).
func TestWhatARequeuedRunLeavesUnusedIsCountedUnlessTheNextOneGrows(t *testing.T) {
	// Each word is a reading, a minute after the one before: wait, run, grown, ending, preempted, gone. Of a wait again the job may have a new second
	// of submission (new), as in Slurm.
	for _, c := range []struct {
		name     string
		readings []string
		unused   int // runs that are counted as having left theirs unused
	}{
		{"it ends before it grows", []string{"run", "gone"}, 1},
		{"requeued, and it grows", []string{"run", "wait", "run", "grown", "gone"}, 0},
		{"requeued under a new submission, and it grows", []string{"run", "new", "run", "grown", "gone"}, 0},
		{"… and was seen to end before", []string{"run", "ending", "new", "run", "grown", "gone"}, 0},
		{"requeued, and cancelled while it waits", []string{"run", "new", "gone"}, 1},
		{"requeued, and it ends before it grows", []string{"run", "new", "run", "gone"}, 2},
		{"requeued again and again, and waits", []string{"run", "new", "run", "new", "run", "wait"}, 2},
		{"preempted, and cancelled while it waits", []string{"run", "preempted", "new", "gone"}, 0},
		{"it is still ending", []string{"run", "ending"}, 0},
	} {
		at := time.Unix(100_000, 0)
		readings := &readings{}
		s := &jobs{notes: &notes{logger: hclog.NewNullLogger(), clock: hands{&at}, journal: willing{}, told: map[adapter.Key]string{}}, usage: usage.New(0, nil), readings: readings, records: map[adapter.Key]*managed.Job{}}
		job := adapter.Job{Key: adapter.Key{ID: 7, Submitted: at.Unix()}, User: "ann", Limit: 3600, Mark: "accordion:ep=1x600s,3x600s", State: adapter.Pending, Held: true, Want: 1}
		for _, word := range append([]string{"wait"}, c.readings...) {
			snapshot := &adapter.Snapshot{At: at}
			switch word {
			case "new":
				job.Submitted = at.Unix()
				fallthrough
			case "wait":
				job.State, job.Held, job.Started, job.Nodes, job.Why = adapter.Pending, true, 0, nil, ""
			case "run":
				job.State, job.Held, job.Started, job.Nodes = adapter.Running, false, at.Unix(), []string{"n1"}
				s.records[job.Key].Decided = true
			case "grown":
				r := s.records[job.Key]
				r.Step, r.Target, r.Nodes, job.Nodes = 1, 1, []string{"n1", "n2", "n3"}, []string{"n1", "n2", "n3"}
			case "ending":
				job.State, job.Why = adapter.Ending, "COMPLETING"
			case "preempted":
				job.State, job.Why = adapter.Ending, "PREEMPTED"
			}
			if word != "gone" {
				snapshot.Jobs = []adapter.Job{job}
			}
			readings.snapshot = snapshot
			readings.taken++
			here, err := s.absorb(snapshot)
			if err == nil {
				err = s.bury(here, snapshot)
			}
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Minute)
		}
		var unused float64
		for _, u := range s.usage.Users {
			unused += u.Unused
		}
		if want := float64(c.unused * 2 * 60); unused != want || core.Time(want) != s.unused {
			t.Errorf("%s: %v node-seconds are unused, the metric has %d; want %v", c.name, unused, s.unused, want)
		}
	}
}
