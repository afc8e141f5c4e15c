// The text that `accordion explain` prints is in sentences.go, and in reasons.go for why a job
// waits.

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

// Explanation is what `accordion explain --json` prints: the state of one job, and why it waits.
// Times are Unix seconds.
type Explanation struct {
	Sidecar Sidecar   `json:"sidecar"`
	Read    core.Time `json:"read"` // Unix second of the reading from which the explanation was made
	Cluster string    `json:"cluster"`
	ID      int64     `json:"id"`
	Pool    Pool      `json:"pool"`

	// Job is the job as the sidecar sees it; null if it has ended.
	Job *view.Entry `json:"job"`
	// ShortageNow is the shortage of nodes that the plan would have if the job started now. Shortage
	// is the shortage that it would have if the job started a second before its planned start. Both
	// are null if the job does not wait, can start now, or has no planned start. But a job that waits
	// for free nodes without a reservation has a ShortageNow, for the first size in its request.
	ShortageNow *Shortage `json:"lack_now"`
	Shortage    *Shortage `json:"lack"`
	// Releases are the nodes for which the job waits. These are the nodes that become free before the
	// shortage ends. The nodes that become free last come first.
	Releases []Release `json:"releases"`
	// Sizes explains the planned number of nodes of a waiting moldable job. It is null if no sizing
	// rule limits the job's size, or the job has no planned start.
	Sizes *SizeExplanation `json:"sizes"`
	// DueBefore is the number of waiting jobs that will receive a reservation before this job, under a
	// policy that reserves nodes for few jobs only.
	DueBefore int `json:"due_before,omitempty"`
	// Holders are all jobs that hold nodes now, sorted by when their nodes become free.
	Holders []view.Entry `json:"holders"`
	// Before are the jobs that come before this job in the queue, in order of rank.
	Before []view.Entry `json:"before"`
	// Closures are the reservations of others that begin before the job would end.
	Closures []view.Closure `json:"closures"`
	// Changes are the job's events since it was submitted.
	Changes []Change `json:"changes"`
	// Failed is the number of the sidecar's actions for the job that failed. LastFailure describes the last
	// one.
	Failed      int       `json:"failed"`
	LastFailure string    `json:"last_failure,omitempty"`
	approach    core.Time // number of seconds by which the job must end before the next reservation of others begins

	// Application is the application of which the job is a part; absent for other jobs.
	Application *ApplicationExplanation `json:"application,omitempty"`
}

// Change is one event of a job.
type Change struct {
	At     core.Time      `json:"at"`
	Kind   string         `json:"kind"`
	Text   string         `json:"text"`
	Fields map[string]any `json:"fields,omitempty"`
}

// Explain collects what is known about the job with the number id from the queue and the events in the
// journal. If several jobs had this number, Explain explains the newest one.
func Explain(j journal.Reader, id int64) (Explanation, error) {
	r, err := ReadQueue(j)
	if err != nil {
		return Explanation{}, err
	}
	return ExplainIn(r, j, id)
}

// ExplainIn does what Explain does, but uses a queue that was already read. If j is nil, the
// explanation has no events.
func ExplainIn(r QueueReport, j journal.Reader, id int64) (Explanation, error) {
	x := Explanation{Sidecar: r.Sidecar, Read: r.Read, Cluster: r.Cluster, ID: id, Releases: []Release{}, Holders: []view.Entry{},
		Before: []view.Entry{}, Closures: []view.Closure{}, Changes: []Change{}}
	for i := range r.Jobs {
		if e := &r.Jobs[i]; int64(e.ID) == id && (x.Job == nil || e.Submitted > x.Job.Submitted) {
			x.Job = e
		}
	}
	if j != nil {
		if err := x.readEvents(j); err != nil {
			return x, err
		}
	}
	if x.Job == nil && len(x.Changes) == 0 {
		return x, &UnknownJob{ID: id, Cluster: r.Cluster, Read: r.Read, Sidecar: r.Sidecar}
	}
	x.analyze(r)
	return x, nil
}

// UnknownJob is the error for a job that is neither in the last reading of the batch system nor in
// the journal. The job may belong to another cluster.
type UnknownJob struct {
	ID      int64
	Cluster string
	Read    core.Time // Unix second of the last reading; 0 if there was none
	Sidecar Sidecar
	Pool    string // name of this cluster's pool, such as "partition main"; "" if it is not named
}

// Error returns the message for the user. While no sidecar runs, the message says that this may be why
// the job is unknown.
func (u *UnknownJob) Error() string {
	where := cmp.Or(u.Pool, "the pool")
	if u.Cluster != "" {
		where += " of cluster " + u.Cluster
	}
	switch read := time.Unix(u.Read, 0).Format(time.DateTime); {
	case u.Read == 0 && !u.Sidecar.Running:
		return fmt.Sprintf("job %d is not known: the sidecar is not running, and has never read the batch system; jobs with a profile wait until it does", u.ID)
	case u.Read == 0:
		return fmt.Sprintf("job %d is not known yet: the sidecar has not read the batch system; try again in a moment", u.ID)
	case !u.Sidecar.Running:
		return fmt.Sprintf("job %d is not known: the sidecar is away since %s; a job that was submitted to %s since then waits until it is back", u.ID, read, where)
	default:
		return fmt.Sprintf("job %d is not in %s, as of %s, and the journal knows nothing of it; a job submitted after that is known in some seconds", u.ID, where, read)
	}
}

// readEvents reads the events of the job from the journal. If several jobs had its number, it reads
// the events of the newest one.
func (x *Explanation) readEvents(j journal.Reader) error {
	var submitted core.Time
	if x.Job != nil {
		submitted = x.Job.Submitted
	}
	for e, err := range j.JobEntries(x.ID, 0) {
		if err != nil {
			return err
		}
		if x.Job != nil && e.Submitted != submitted {
			continue
		}
		if e.Submitted > submitted { // an older job had the same number
			submitted, x.Changes, x.Failed, x.LastFailure = e.Submitted, x.Changes[:0], 0, ""
		}
		switch {
		case e.Submitted < submitted:
		case e.Kind == journal.KindEvent:
			x.Changes = append(x.Changes, Change{e.At.Unix(), e.Verb, e.Text, e.Args})
		case strings.HasPrefix(e.Outcome, journal.Failed):
			x.Failed++
			x.LastFailure = fmt.Sprintf("%s at %s: %s", e.Verb, e.At.Local().Format(time.TimeOnly), strings.TrimPrefix(e.Outcome, journal.Failed+": "))
		}
	}
	return nil
}

// analyze uses the queue to fill in which jobs hold nodes, which jobs come before this job, and what
// this job waits for.
func (x *Explanation) analyze(r QueueReport) {
	a := analyze(&r.Queue, max(r.Read, r.At), x.Job)
	x.Pool, x.approach = a.pool(), a.approach
	if x.Job == nil {
		return
	}
	for _, e := range r.Jobs {
		switch {
		case e.Key() == x.Job.Key():
		case e.Holds():
			x.Holders = append(x.Holders, e)
		case e.Rank > 0 && (x.Job.Rank == 0 || e.Rank < x.Job.Rank):
			x.Before = append(x.Before, e)
		}
	}
	slices.SortStableFunc(x.Holders, func(a, b view.Entry) int { return cmp.Compare(endOrForever(a.Free), endOrForever(b.Free)) })
	if x.Job.Rank == 0 {
		x.Before = []view.Entry{} // the job is not in the plan's queue
	}
	for _, c := range r.Closures {
		if x.Job.Free == 0 || c.Start < x.Job.Free {
			x.Closures = append(x.Closures, c)
		}
	}
	a.others = slices.Concat(x.Holders, x.Before)
	if x.Job.Rank > 0 && x.Job.Turn != "" {
		a.others = x.countDueBefore(r)
		if x.Job.Start == 0 {
			x.ShortageNow = a.shortage(withFirstChoice(x.Job), a.now)
		}
	}
	if x.Job.Rank > 0 && x.Job.Start > 0 {
		x.Sizes = a.sizes(x.Job)
	}
	if x.Job.Rank > 0 && x.Job.Start > 0 && !r.due(x.Job) {
		x.ShortageNow, x.Shortage = a.shortage(x.Job, a.now), a.shortage(x.Job, x.Job.Start-1)
		until := x.Job.Start
		if x.Shortage != nil {
			until = max(until, x.Shortage.At+1)
		}
		x.Releases = a.releases(until)
	}
}

// countDueBefore sets DueBefore. It returns all other jobs that have a planned start. These include
// jobs that come later in the queue, because under policies that reserve for few jobs any job that
// fits may start.
func (x *Explanation) countDueBefore(r QueueReport) (placed []view.Entry) {
	for _, e := range r.Jobs {
		if e.Key() == x.Job.Key() {
			continue
		}
		if e.Start > 0 {
			placed = append(placed, e)
		}
		before := e.Due < x.Job.Due || e.Due == x.Job.Due && e.Rank < x.Job.Rank
		if e.Rank > 0 && e.Turn != "" && before {
			x.DueBefore++
		}
	}
	return placed
}
