package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
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
	// LackNow is where the plan would fail if the job started now, and Lack, if it started a second before its planned start;
	// null when it does not wait, can start now, or has no place in the plan. A job that waits for room without a reservation has LackNow, of the
	// first size that it listed.
	LackNow *Lack `json:"lack_now"`
	Lack    *Lack `json:"lack"`
	// Releases is who gives nodes back before the plan would not fail any more, the last first: what it waits for.
	Releases []Release `json:"releases"`
	// Sizes is why a moldable job that waits is planned on so many nodes; null where nothing but its end decides, or where it has no
	// place in the plan.
	Sizes *Sizes `json:"sizes"`
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
	Failed      int    `json:"failed"`
	LastFailure string `json:"last_failure,omitempty"`
	// Application is the one of which the job is a part; absent where it is of none.
	Application *Application `json:"application,omitempty"`
}

// Pool is the machine now.
type Pool struct {
	Nodes int `json:"nodes"`
	Held  int `json:"held"`  // by jobs
	Away  int `json:"away"`  // down, drained or unknown
	Taken int `json:"taken"` // by reservations of others, now
	Free  int `json:"free"`
}

// Lack is an instant at which a job that starts earlier than planned would have too few nodes.
type Lack struct {
	At    core.Time `json:"at"`
	Step  int       `json:"step"` // of the job that would be there then, from 1
	Needs int       `json:"needs"`
	Free  int       `json:"free"` // what those before it leave
}

// Release is nodes that come free.
type Release struct {
	At      core.Time  `json:"at"`
	Nodes   int        `json:"nodes"`
	Keeps   int        `json:"keeps,omitempty"` // the job has so many left
	Job     core.JobID `json:"job,omitempty"`   // 0: a reservation ends
	User    string     `json:"user,omitempty"`
	Closure string     `json:"closure,omitempty"`
	Holds   bool       `json:"holds"`   // the job has them now; otherwise it will, for it stands before
	Managed bool       `json:"managed"` // by Accordion: a plan, where an ordinary job has a limit
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
func Explain(j *journal.Journal, id int64) (Explanation, error) {
	r, err := ReadQueue(j)
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Sidecar: r.Sidecar, Read: r.Read, Cluster: r.Cluster, ID: id, Releases: []Release{}, Holders: []view.Entry{},
		Before: []view.Entry{}, Closures: []view.Closure{}}
	for i := range r.Jobs {
		if e := &r.Jobs[i]; int64(e.ID) == id && (x.Job == nil || e.Submitted > x.Job.Submitted) {
			x.Job = e
		}
	}
	if err := x.remember(j); err != nil {
		return x, err
	}
	if x.Job == nil && len(x.Changes) == 0 {
		return x, unknown(r, j, id)
	}
	x.survey(r)
	return x, nil
}

// UnknownJob is the error for a job that Accordion has never heard of: another cluster's may.
type UnknownJob struct{ why string }

func (u *UnknownJob) Error() string { return u.why }

func unknown(r QueueReport, j *journal.Journal, id int64) error {
	where := "the pool"
	if r.Cluster != "" {
		where = "the pool of cluster " + r.Cluster
	}
	if r.Read == 0 {
		return &UnknownJob{fmt.Sprintf("job %d: the sidecar has not read the batch system yet, and the journal %s does not know the job; is the sidecar running? accordion status says so", id, j.Path())}
	}
	return &UnknownJob{fmt.Sprintf("job %d neither waits for %s nor has nodes of it, as of %s, and the journal knows nothing of it: was it submitted only just now, is the number right, and is the job in the managed partition?",
		id, where, time.Unix(r.Read, 0).Format(time.DateTime))}
}

// remember reads the job's life from the journal: of the newest job with the number.
func (x *Explanation) remember(j *journal.Journal) error {
	x.Changes = []Change{}
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
	v := vantage{report: r, now: max(r.Read, r.At)}
	x.Pool = v.pool()
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
	slices.SortStableFunc(x.Holders, func(a, b view.Entry) int { return cmp.Compare(never(a.Free), never(b.Free)) })
	if x.Job.Rank == 0 {
		x.Before = []view.Entry{} // it has no place in the queue
	}
	for _, c := range r.Closures {
		if x.Job.Free == 0 || c.Start < x.Job.Free {
			x.Closures = append(x.Closures, c)
		}
	}
	v.others = slices.Concat(x.Holders, x.Before)
	if x.Job.Rank > 0 && x.Job.Turn != "" {
		v.others = x.turn(r)
		if x.Job.Start == 0 {
			x.LackNow = v.lack(asked(x.Job), v.now)
		}
	}
	if x.Job.Rank > 0 && x.Job.Start > 0 {
		x.Sizes = v.sizes(x.Job)
	}
	if x.Job.Rank > 0 && x.Job.Start > 0 && !r.due(x.Job) {
		x.LackNow, x.Lack = v.lack(x.Job, v.now), v.lack(x.Job, x.Job.Start-1)
		until := x.Job.Start
		if x.Lack != nil {
			until = max(until, x.Lack.At+1)
		}
		x.Releases = v.releases(until)
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

// asked is a job without a place, as if it had one in the first size that it listed.
func asked(e *view.Entry) *view.Entry {
	one := *e
	one.Plan = core.EP{{Duration: 1, Nodes: e.Size}}
	if choices, err := adapter.ParseRequest(listOf(e)); err == nil {
		one.Plan = choices[0]
	}
	return &one
}

// never is later than all for a job that has no end.
func never(t core.Time) core.Time {
	if t == 0 {
		return core.Forever
	}
	return t
}

// vantage is the plan as a job in it sees it.
type vantage struct {
	report QueueReport
	now    core.Time
	others []view.Entry // that hold nodes, or stand before it
}

func (v vantage) pool() Pool {
	p := Pool{Nodes: v.report.Nodes, Away: v.report.Away, Taken: v.closed(v.now)}
	held := map[string]bool{} // ordinary jobs may share nodes
	for i := range v.report.Jobs {
		e := &v.report.Jobs[i]
		if !e.Holds() {
			continue
		}
		names, err := hostlist.Expand(e.Nodes)
		if err != nil || len(names) == 0 {
			p.Held += e.Size
		}
		for _, name := range names {
			held[name] = true
		}
	}
	p.Held += len(held)
	p.Free = max(0, p.Nodes-p.Held-p.Away-p.Taken)
	return p
}

// closed is how many nodes reservations of others keep at an instant.
func (v vantage) closed(t core.Time) int {
	n := 0
	for _, c := range v.report.Closures {
		if c.Start <= t && t < c.End {
			n += c.Nodes
		}
	}
	return n
}

// free is how many nodes those before the job leave at an instant.
func (v vantage) free(t core.Time) int {
	n := v.report.Nodes - v.report.Away - v.closed(t)
	for i := range v.others {
		n -= v.others[i].At(t, v.now)
	}
	return n
}

// profile is what the job would hold from its start on.
func profile(e *view.Entry) core.EP {
	if len(e.Plan) > 0 {
		return e.Plan
	}
	return core.EP{{Duration: max(1, never(e.Free)-e.Start), Nodes: e.Size}}
}

// lack is the first instant at which the job, begun earlier than planned, has too few nodes; nil when none is found, for
// the plan knows more than the queue shows (a node that a job is just leaving).
func (v vantage) lack(e *view.Entry, begin core.Time) *Lack {
	from := begin
	for i, s := range profile(e) {
		for _, t := range v.instants(from, from+s.Duration) {
			if free := v.free(t); free < s.Nodes {
				return &Lack{At: t, Step: i + 1, Needs: s.Nodes, Free: max(free, 0)}
			}
		}
		from += s.Duration
	}
	return nil
}

// instants is from, and every instant before to at which somebody takes nodes.
func (v vantage) instants(from, to core.Time) []core.Time {
	all := []core.Time{from}
	add := func(t core.Time) {
		if t > from && t < to {
			all = append(all, t)
		}
	}
	for _, c := range v.report.Closures {
		add(c.Start)
	}
	for i := range v.others {
		second := v.others[i].Start
		add(second)
		for _, s := range v.others[i].Plan {
			second += s.Duration
			add(second)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// releases is who gives nodes back from now until then, the last first.
func (v vantage) releases(until core.Time) []Release {
	all := []Release{}
	add := func(at core.Time, nodes int, r Release) {
		if at > v.now && at <= until && nodes > 0 {
			r.At, r.Nodes = at, nodes
			all = append(all, r)
		}
	}
	for i := range v.others {
		o := &v.others[i]
		r := Release{Job: o.ID, User: o.User, Holds: o.Holds(), Managed: o.Request != ""}
		if o.Start == 0 {
			continue
		}
		if len(o.Plan) == 0 {
			if o.Free > 0 {
				add(o.Free, o.Size, r)
			}
			continue
		}
		second := o.Start
		for k, s := range o.Plan {
			second += s.Duration
			next := 0
			if k+1 < len(o.Plan) {
				next = o.Plan[k+1].Nodes
			}
			r.Keeps = next
			add(second, s.Nodes-next, r)
		}
	}
	for _, c := range v.report.Closures {
		if c.End < core.Forever && c.Start <= until {
			add(c.End, c.Nodes, Release{Closure: c.Name})
		}
	}
	slices.SortStableFunc(all, func(a, b Release) int { return cmp.Compare(b.At, a.At) })
	return all
}
