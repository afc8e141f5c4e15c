package sidecar

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// steppedClock is a clock that tests set.
type steppedClock struct{ at *time.Time }

func (h steppedClock) Now() time.Time                       { return *h.at }
func (h steppedClock) After(time.Duration) <-chan time.Time { return nil }

// A run may leave reserved nodes unused because the batch system or the job's owner requeued the
// job (sbatch --requeue, scontrol requeue).
func TestWhatARequeuedRunLeavesUnusedIsCountedUnlessTheNextOneGrows(t *testing.T) {
	// Each word is a reading, a minute after the previous one: wait, run, grown, ending, preempted,
	// gone. The word "new" is a wait with a new second of submission, as after a requeue in Slurm.
	for _, c := range []struct {
		name     string
		readings []string
		unused   int // number of runs whose unused nodes count
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
		s := &jobs{eventLog: &eventLog{logger: hclog.NewNullLogger(), clock: steppedClock{&at}, journal: nullJournal{}, lastNotice: map[adapter.Key]string{}}, usage: view.NewUsageLedger(0, nil), readings: readings, records: map[adapter.Key]*managed.Job{}}
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
				err = s.dropMissing(here, snapshot)
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

// eventJournal is a journal that keeps the events of jobs.
type eventJournal struct {
	nullJournal
	said *[]string
}

func (s eventJournal) Event(e journal.Event) error { s.keep(e); return nil }
func (s eventJournal) Put(_ journal.Record, all ...journal.Event) error {
	for _, e := range all {
		s.keep(e)
	}
	return nil
}

func (s eventJournal) keep(e journal.Event) {
	if e.Kind != "planned" {
		*s.said = append(*s.said, fmt.Sprintf("%d %s: %s", e.Submitted%1000, e.Kind, e.Text))
	}
}

// A job that the batch system requeues has not ended.
func TestTheJournalTellsARequeuedJobFromOneThatEnded(t *testing.T) {
	const accepted, started = "0 accepted: ep=1x600s,3x600s", "0 started: on 1 nodes"
	const requeued = "0 requeued: after step 1 of 2: put back into the queue, and waits again from its first step"
	const ended = "0 ended: after step 1 of 2"
	again := func(second int) string {
		return fmt.Sprintf("%d accepted: ep=1x600s,3x600s; put back into the queue, in which it was at %s first", second, adapter.Instant(100_000).Format(time.DateTime))
	}
	for _, c := range []struct {
		name     string
		readings []string // one reading each 10 s
		want     []string
	}{
		{"it ends", []string{"run", "gone"}, []string{accepted, started, ended}},
		{"it ends slowly", []string{"run", "ending", "gone"}, []string{accepted, started, ended}},
		{"its node does not answer", []string{"run", "ending", "ending", "ending"}, []string{accepted, started, ended}},
		{"it was over at once", []string{"run", "done"}, []string{accepted, started, ended}},
		{"requeued", []string{"run", "new"}, []string{accepted, started, again(20), requeued}},
		{"requeued slowly", []string{"run", "ending", "new"}, []string{accepted, started, again(30), requeued}},
		{"requeued, and runs", []string{"run", "ending", "new", "run"}, []string{accepted, started, again(30), requeued, "30 started: on 1 nodes"}},
		{"requeued under the same submission", []string{"run", "wait"}, []string{accepted, started, "0 requeued: waits again, from its first step"}},
		{"another user's job has its number", []string{"run", "other"}, []string{accepted, started, "20 accepted: ep=1x600s,3x600s", ended}},
		{"it waited, and was submitted again", []string{"wait", "new"}, []string{accepted, "20 accepted: ep=1x600s,3x600s", "0 ended: before it began"}},
	} {
		at := time.Unix(100_000, 0)
		var said []string
		s := &jobs{eventLog: &eventLog{logger: hclog.NewNullLogger(), clock: steppedClock{&at}, journal: eventJournal{said: &said}, lastNotice: map[adapter.Key]string{}},
			usage: view.NewUsageLedger(0, nil), readings: &readings{}, records: map[adapter.Key]*managed.Job{}}
		job := adapter.Job{Key: adapter.Key{ID: 7, Submitted: at.Unix()}, User: "ann", UID: 7, Limit: 3600, Mark: "accordion:ep=1x600s,3x600s", State: adapter.Pending, Held: true, Want: 1}
		for _, word := range append([]string{"wait"}, c.readings...) {
			snapshot := &adapter.Snapshot{At: at}
			switch word {
			case "other":
				job.UID = 8
				fallthrough
			case "new":
				job.Submitted = at.Unix()
				fallthrough
			case "wait":
				job.State, job.Nodes = adapter.Pending, nil
			case "run":
				job.State, job.Nodes, job.Started = adapter.Running, []string{"n1"}, at.Unix()
				s.records[job.Key].Decided = true
			case "ending":
				job.State = adapter.Ending
			case "done":
				job.State = adapter.Done
			}
			if word != "gone" {
				snapshot.Jobs = []adapter.Job{job}
			}
			s.readings.snapshot = snapshot
			s.readings.taken++
			here, err := s.absorb(snapshot)
			if err == nil {
				err = s.dropMissing(here, snapshot)
			}
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(10 * time.Second)
		}
		if !slices.Equal(said, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(said, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
