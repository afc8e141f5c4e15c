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

// Explanation is what `accordion explain --json` prints: where one job stands, and why. Points in time are Unix seconds.
type Explanation struct {
	Sidecar Sidecar   `json:"sidecar"`
	Read    core.Time `json:"read"` // the second that all of it is as of
	Cluster string    `json:"cluster"`
	ID      int64     `json:"id"`
	Pool    Pool      `json:"pool"`

	// Job is the job as the sidecar sees it; null when it is over.
	Job *view.Entry `json:"job"`
	// ShortageNow is where the plan would fail if the job started now, and Lack, if it started a second before its planned start;
	// null when it does not wait, can start now, or has no place in the plan. A job that waits for room without a reservation has ShortageNow, of the
	// first size that it listed.
	ShortageNow *Shortage `json:"lack_now"`
	Shortage    *Shortage `json:"lack"`
	// Releases is who gives nodes back before the plan would not fail any more, the last first: what it waits for.
	Releases []Release `json:"releases"`
	// Sizes is why a moldable job that waits is planned on so many nodes; null where nothing but its end decides, or where it has no
	// place in the plan.
	Sizes *SizeExplanation `json:"sizes"`
	// DueBefore is how many jobs wait that were due for a reservation before it, where the policy gives one to a few only.
	DueBefore int `json:"due_before,omitempty"`
	// Holders is every job that has nodes now, the one that keeps them longest last.
	Holders []view.Entry `json:"holders"`
	// Before is every job that stands before it in the queue, in rank order.
	Before []view.Entry `json:"before"`
	// Closures is the reservations of others that begin before the job would be over.
	Closures []view.Closure `json:"closures"`
	// Changes is what happened to it since it was submitted.
	Changes []Change `json:"changes"`
	// Failed counts the sidecar's actions for the job that failed; LastFailure is the last one's, in words.
	Failed      int       `json:"failed"`
	LastFailure string    `json:"last_failure,omitempty"`
	approach    core.Time // seconds before a reservation of others by which the job is planned to have ended

	// Application is the one of which the job is a part; absent where it is of none.
	Application *Application `json:"application,omitempty"`
}

// Change is one event in the job's life.
type Change struct {
	At     core.Time      `json:"at"`
	Kind   string         `json:"kind"`
	Text   string         `json:"text"`
	Fields map[string]any `json:"fields,omitempty"`
}

// Explain gathers what is known of a job: from the queue, and from the journal's events. A number that was used for
// several jobs means the newest.
func Explain(j journal.Reader, id int64) (Explanation, error) {
	r, err := ReadQueue(j)
	if err != nil {
		return Explanation{}, err
	}
	return ExplainIn(r, j, id)
}

// ExplainIn is Explain by a queue that was read already. Without a journal nothing is known of what happened to the job.
func ExplainIn(r QueueReport, j journal.Reader, id int64) (Explanation, error) {
	x := Explanation{Sidecar: r.Sidecar, Read: r.Read, Cluster: r.Cluster, ID: id, Releases: []Release{}, Holders: []view.Entry{},
		Before: []view.Entry{}, Closures: []view.Closure{}, Changes: []Change{}}
	for i := range r.Jobs {
		if e := &r.Jobs[i]; int64(e.ID) == id && (x.Job == nil || e.Submitted > x.Job.Submitted) {
			x.Job = e
		}
	}
	if j != nil {
		if err := x.remember(j); err != nil {
			return x, err
		}
	}
	if x.Job == nil && len(x.Changes) == 0 {
		return x, &UnknownJob{ID: id, Cluster: r.Cluster, Read: r.Read, Sidecar: r.Sidecar}
	}
	x.survey(r)
	return x, nil
}

// UnknownJob is the error for a job that neither the last reading of the batch system nor the journal knows: another cluster's may.
type UnknownJob struct {
	ID      int64
	Cluster string
	Read    core.Time // second of the last reading; 0: there was none
	Sidecar Sidecar
	Pool    string // where the jobs of this cluster are, as in "partition main"; "" is its pool
}

// Error returns what is known, without a guess. While no sidecar runs, a new job is unknown for that reason.
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

// remember reads the job's life from the journal: of the newest job with the number.
func (x *Explanation) remember(j journal.Reader) error {
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
		if e.Submitted > submitted { // the number was used again
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

// survey reads from the queue who has the nodes, who comes before, and what the job waits for.
func (x *Explanation) survey(r QueueReport) {
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
		x.Before = []view.Entry{} // it has no place in the queue
	}
	for _, c := range r.Closures {
		if x.Job.Free == 0 || c.Start < x.Job.Free {
			x.Closures = append(x.Closures, c)
		}
	}
	a.others = slices.Concat(x.Holders, x.Before)
	if x.Job.Rank > 0 && x.Job.Turn != "" {
		a.others = x.turn(r)
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

// turn counts who is due before the job. It gives everybody who has a place: also those behind it in the queue, for who fits starts.
func (x *Explanation) turn(r QueueReport) (placed []view.Entry) {
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
