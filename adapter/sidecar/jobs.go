package sidecar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
)

// jobs has the managed jobs that have not ended: their records, and what was last read of them.
type jobs struct {
	eventLog *eventLog
	readings *readings
	meter    actions.Meter
	settings managed.Settings

	launchers bool // launchers are served, so that parts of their applications are not managed jobs

	usage  *view.UsageLedger // the use of jobs that have ended
	unused core.Time         // node-seconds counted since the last cycle
	unpaid unpaid            // debts of jobs that have ended and may have been requeued

	records map[adapter.Key]*managed.Job
	leaving map[adapter.Key]leaving // jobs of which it is not known yet whether they have ended or were requeued
	awaited map[core.JobID]uint32   // jobs for whose nodes another job waited in the last cycle, and the user of the waiting job
	shrunk  managed.Epoch           // when a job last released nodes
}

// sorted returns the jobs by their seconds of submission, so that each cycle has the same order.
func (s *jobs) sorted() []*managed.Job {
	all := make([]*managed.Job, 0, len(s.records))
	for _, r := range s.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *managed.Job) int {
		if a.Submitted != b.Submitted {
			return int(a.Submitted - b.Submitted)
		}
		return int(a.ID - b.ID)
	})
	return all
}

// inOrder sorts jobs by their seconds of submission. Jobs of one second have the order of the
// queue, in which tasks of an array are sorted by number.
func inOrder(all []*managed.Job, queue []plan.Waiter) []*managed.Job {
	place := make(map[*managed.Job]int, len(queue))
	for i, w := range queue {
		place[w.Managed] = i + 1
	}
	slices.SortStableFunc(all, func(a, b *managed.Job) int {
		return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(place[a], place[b]))
	})
	return all
}

// find returns the job with that number. It returns nil if there is no such job, or if the job
// waits. It returns a job whose start was decided, because the job may run before a reading shows
// that.
func (s *jobs) find(id core.JobID) *managed.Job {
	for _, r := range s.records {
		if r.ID == id && r.Phase != managed.Waiting {
			return r
		}
	}
	return nil
}

// fresh reports whether the newest reading began after the last call for the job had ended.
func (s *jobs) fresh(r *managed.Job) bool { return r.Underway == "" && s.readings.shows(r.LastEpoch) }

// settled reports whether the result of a release that timed out is known. It is known when the
// batch system can no longer carry out the release, and a reading that began after that instant
// shows the job. Only such a reading distinguishes a job that is still held from a job that is
// about to start.
func (s *jobs) settled(r *managed.Job) bool {
	switch {
	case r.Phase != managed.Starting || r.LateCallUntil.IsZero():
		return true
	case s.eventLog.clock.Now().Before(r.LateCallUntil):
		return false
	}
	r.LateCallUntil = time.Time{}
	s.touch(r)
	s.readings.refresh()
	return false
}

// touch records that the job changes now, so that readings that have already begun may not show the
// change.
func (s *jobs) touch(r *managed.Job) { r.LastEpoch = s.readings.begun }

// `later` returns the instant at which a pause of d ends.
func (s *jobs) later(d time.Duration) time.Time { return s.eventLog.clock.Now().Add(d) }

// restore reads the records of the journal.
func (s *jobs) restore() error {
	records, err := s.eventLog.journal.Records()
	if err != nil {
		return err
	}
	for _, stored := range records {
		r, err := read(stored)
		if err != nil {
			if err := s.setAside(stored, err); err != nil {
				return err
			}
			continue
		}
		s.records[r.Key] = r
	}
	return nil
}

// recall restores the usage of users' jobs from the last queue in the journal.
func (s *jobs) recall() error {
	data, err := s.eventLog.journal.Queue()
	if err != nil {
		return err
	}
	var shown struct {
		Usage *view.Usage `json:"usage"`
	}
	if data != nil {
		if err := json.Unmarshal(data, &shown); err != nil {
			s.eventLog.Warn("usage of users cannot be read from the journal: it is counted from zero", "error", err)
			shown.Usage = nil
		}
	}
	s.usage = view.NewUsageLedger(s.settings.Unused.HalfLife, shown.Usage)
	return nil
}

// countUse counts the use of a run of a job that has ended. It records in the job how many of the
// node-seconds that were reserved ahead the run left unused, and returns that number. Nothing
// counts against the user if the batch system ended the run. A requeue may be caused by the batch
// system or by the user: Slurm does not show who requeued a job, and lets owners requeue jobs
// submitted with --requeue. So the unused node-seconds of a requeued run count only when the job
// ends for good, or when its next run leaves something unused, too. They never count if the next
// run reaches its last growth.
func (s *jobs) countUse(r *managed.Job, state string) core.Time {
	now := s.eventLog.clock.Now().Unix()
	used, unused := r.Used(now)
	s.usage.Add(r.User, r.Account, used, 0, now)
	switch {
	case r.Began == 0 || taken[state] || s.lost(r.Nodes):
		return 0
	case !managed.Grows(r.EP(), r.Step):
		r.UncountedUnused = 0
	default:
		s.charge(debt{r.User, r.Account, r.UncountedUnused})
		r.UncountedUnused = unused
	}
	return unused
}

// unpaid has the debts of jobs that have ended, by job number, until it is known that the jobs were
// not requeued. Slurm requeues a job under its number, with a new second of submission.
type unpaid map[core.JobID]debt

// A debt has the unused node-seconds of a user's job that do not count yet.
type debt struct {
	user, account string
	unused        core.Time // node-seconds
}

// settle counts the debts of jobs that the reading does not show any more. A job that waits again
// keeps its debt.
func (s *jobs) settle(snapshot *adapter.Snapshot) {
	if len(s.unpaid) == 0 {
		return
	}
	shown := map[core.JobID]bool{}
	for i := range snapshot.Jobs {
		shown[snapshot.Jobs[i].ID] = true
	}
	for _, r := range s.records {
		if d, ok := s.unpaid[r.ID]; ok && d.user == r.User {
			r.UncountedUnused, r.Unsaved = r.UncountedUnused+d.unused, true
			delete(s.unpaid, r.ID)
		}
	}
	for id, d := range s.unpaid {
		if !shown[id] {
			s.charge(d)
			delete(s.unpaid, id)
		}
	}
}

// charge counts a debt against its user.
func (s *jobs) charge(d debt) {
	s.usage.Add(d.user, d.account, 0, d.unused, s.eventLog.clock.Now().Unix())
	s.unused += d.unused
}

// `lost` reports whether one of the nodes is down in the newest reading.
func (s *jobs) lost(nodes []string) bool {
	return slices.ContainsFunc(s.readings.snapshot.Nodes, func(n adapter.Node) bool { return n.Lost && slices.Contains(nodes, n.Name) })
}

// taken has the final states of jobs that the batch system itself ended.
var taken = map[string]bool{"NODE_FAIL": true, "BOOT_FAIL": true, "PREEMPTED": true, "LAUNCH_FAILED": true, "REVOKED": true}

// read returns the job that a record of the journal describes.
func read(stored journal.Record) (*managed.Job, error) {
	if stored.Damaged != nil {
		return nil, stored.Damaged
	}
	r, err := managed.Restore(stored.Data)
	if err != nil {
		return nil, err
	}
	if key := (adapter.Key{ID: core.JobID(stored.Job), Submitted: stored.Submitted}); r.Key != key {
		return nil, fmt.Errorf("it is of job %d, submitted at %d", r.ID, r.Submitted)
	}
	return r, nil
}

// mostKept bounds how many bytes of a damaged record its event keeps.
const mostKept = 64 << 10

// setAside deletes a damaged record. An event keeps it for inspection. The job is adopted again as
// the batch system shows it.
func (s *jobs) setAside(stored journal.Record, why error) error {
	key := adapter.Key{ID: core.JobID(stored.Job), Submitted: stored.Submitted}
	text := fmt.Sprintf("what the journal remembers of job %d is damaged: %v. It is set aside, and the job is taken up again as the batch system shows it; "+
		"its promise begins anew. Look at the disk below the journal; accordion journal --job %d --json has the record", stored.Job, why, stored.Job)
	s.eventLog.Warn(text, "job", stored.Job)
	err := s.eventLog.journal.Event(journal.Event{At: s.eventLog.clock.Now(), Job: int64(key.ID), Submitted: key.Submitted, Kind: "damaged", Text: text,
		Fields: map[string]any{"record": strings.ToValidUTF8(string(stored.Data[:min(len(stored.Data), mostKept)]), "\ufffd")}})
	if err != nil {
		return err
	}
	return s.eventLog.journal.Delete(stored.Job, stored.Submitted)
}

// save writes a job's record and events into the journal in one transaction. No other function
// writes a single record.
func (s *jobs) save(r *managed.Job, happened ...decide.Event) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	r.Unsaved = false
	events := make([]journal.Event, len(happened))
	for i, e := range happened {
		events[i] = s.eventLog.logEvent(r, e)
	}
	return s.eventLog.journal.Put(journal.Record{Job: int64(r.ID), Submitted: r.Submitted, Data: data}, events...)
}

// saveDirty writes the records that changed since they were last written.
func (s *jobs) saveDirty() error {
	for _, r := range s.sorted() {
		if r.Unsaved {
			if err := s.save(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// shift moves the planned times of jobs by the time by which the clock was set.
func (s *jobs) shift(by time.Duration) error {
	for _, r := range s.sorted() {
		r.ShiftTimes(int64(by / time.Second))
		r.RetryAt = time.Time{}
		if err := s.save(r); err != nil {
			return err
		}
	}
	return nil
}

// phases returns how many jobs are in each phase, as `accordion status` shows phases.
func (s *jobs) phases() map[string]int {
	phases := map[string]int{}
	for _, r := range s.records {
		phases[r.PhaseText()]++
	}
	return phases
}
