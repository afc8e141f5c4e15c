package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
	"accordion/shim/wire/launcher"
)

// Record is the journal's record of an application.
type Record struct {
	ID      int64
	Data    []byte // JSON
	Damaged error  // why Data is damaged; nil if it is intact
}

// Phase is the progress of an application. There are more phases than states that launchers receive.
type Phase string

// The phases, in the order in which an application goes through them. An application whose start fails goes back to Waiting.
const (
	Fresh      Phase = "fresh"      // the launcher has sent "hello", but has not subscribed
	Subscribed Phase = "subscribed" // the launcher has subscribed, but has sent no request
	Waiting    Phase = "waiting"    // the application has a request, and waits for hosts
	Preparing  Phase = "preparing"  // a try to start the application has begun: the clusters reserve nodes
	Starting   Phase = "starting"   // the start is decided: the parts are being started
	Running    Phase = "running"    // the parts run
	Ending     Phase = "ending"     // the application is being ended, or has ended; ghosts (reservations after the end) may be left
)

// Holds reports whether the parts of an application hold hosts.
func (p Phase) Holds() bool { return p == Preparing || p == Starting || p == Running || p == Ending }

// Started reports whether an application has started, from the launcher's point of view.
func (p Phase) Started() bool { return p == Starting || p == Running }

// Application has the fields of an application that are stored in the journal (Record).
type Application struct {
	ID       int64           `json:"id"`
	User     string          `json:"user"`
	Name     string          `json:"name,omitempty"`
	Phase    Phase           `json:"phase"`
	Rank     core.Time       `json:"rank,omitempty"` // second at which the launcher subscribed; 0 if it has not
	Filter   launcher.Filter `json:"filter"`
	Most     core.Time       `json:"most,omitempty"`
	Parts    []*Part         `json:"parts,omitempty"` // ordered by cluster; includes clusters that the request does not use
	Tag      int64           `json:"tag"`             // tag of the request in force; -1 if there is none
	Walltime core.Time       `json:"walltime,omitempty"`
	View     int64           `json:"view"`  // number of the last view sent
	Acked    int64           `json:"acked"` // number of the last view acknowledged

	Try    int         `json:"try,omitempty"`   // number of the newest try to start the application
	Tries  []core.Time `json:"tries,omitempty"` // seconds of the last failed tries, at most perMinute of them
	Slow   bool        `json:"slow,omitempty"`  // too many tries failed, so that only one try a minute is made
	Failed string      `json:"failed,omitempty"`

	At    core.Time `json:"at,omitempty"` // second at which the start was decided
	By    core.Time `json:"by,omitempty"` // second of the latest end
	Went  core.Time `json:"went,omitempty"`
	Since core.Time `json:"since,omitempty"` // second at which the present phase began

	Reason string    `json:"reason,omitempty"` // in phase Ending: one of the constants launcher.Why…; "" if the application ended by itself or was withdrawn
	Why    string    `json:"why,omitempty"`    // in phase Ending: a line for the output of the application's jobs
	EndAt  core.Time `json:"end_at,omitempty"` // in phase Ending: second at which the application's jobs end
}

// Part is the part of an application on one cluster, whether or not it has a job there yet.
type Part struct {
	Cluster int        `json:"-"`
	Name    string     `json:"cluster"`
	Job     core.JobID `json:"job,omitempty"`   // the part's batch job; 0 if there is none, or if the cluster makes the job
	Since   core.Time  `json:"since,omitempty"` // second at which that job was submitted, according to the cluster
	Hosts   int        `json:"hosts,omitempty"` // number of hosts in the request in force; 0 if the request does not use this cluster
	Nodes   []string   `json:"nodes,omitempty"` // nodes of the newest try
	Drop    int        `json:"drop,omitempty"`  // number of the try that was given up; 0 when the cluster shows that nothing is left of that try
	Kept    int        `json:"kept,omitempty"`  // number of hosts that the part may still hold because of that try
	Lost    core.Time  `json:"lost,omitempty"`  // second at which the job was found missing, so that the launcher should submit another; 0 if the job exists
	Done    bool       `json:"done,omitempty"`  // the part or the launcher has reported the part's end
	Code    int        `json:"code,omitempty"`
	Ghost   core.Time  `json:"ghost,omitempty"` // second until which the part's nodes stay reserved after its end; 0 if there is no ghost
	Over    bool       `json:"over,omitempty"`  // the part's job has ended

	Prepared bool         `json:"-"` // the part is prepared in the newest try
	Runs     bool         `json:"-"` // the part runs in the newest try
	LastSeen core.Time    `json:"-"` // second of the last reading that showed the part's job
	Okay     *pendingOkay `json:"-"` // the pending answer to the part's report of its end; nil if there is none
}

// pendingOkay is the answer to a part's report of its end. The answer (launcher.Okay) is sent when the reservation of the part's ghost
// exists, but at the latest at the second By.
type pendingOkay struct {
	Session uint64
	Seq     int64
	By      core.Time
}

// perMinute is the number of tries to start an application that may fail in a minute. After that many failures, only one try a minute is
// made.
const perMinute = 5

// Record returns the application's record.
func (d *Application) Record() Record {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("application %d has no JSON: %v", d.ID, err)) // not reached: numbers and texts can always be encoded
	}
	return Record{ID: d.ID, Data: data}
}

// unknownViews is an upper bound for the number of views that were sent since the record was last written. After a restart, the numbering
// of views skips that many numbers, so that no number is used twice.
const unknownViews = 1 << 20

// readRecord returns the application in a record. The function `cluster` returns the index of the cluster with a name, or −1 if there is
// none. Parts on clusters that no longer exist are removed. gone is true if the request used such a cluster.
func readRecord(r Record, cluster func(name string) int) (a *Application, gone bool, err error) {
	a = &Application{Tag: -1}
	if r.Damaged != nil {
		return nil, false, fmt.Errorf("the record of application %d: %w", r.ID, r.Damaged)
	}
	if err := json.Unmarshal(r.Data, a); err != nil {
		return nil, false, fmt.Errorf("the record of application %d: %w", r.ID, err)
	}
	if err := a.check(r.ID); err != nil {
		return nil, false, fmt.Errorf("the record of application %d: %w", r.ID, err)
	}
	a.Parts = slices.DeleteFunc(a.Parts, func(p *Part) bool {
		p.Cluster = cluster(p.Name)
		gone = gone || p.Cluster < 0 && p.Hosts > 0
		return p.Cluster < 0
	})
	slices.SortFunc(a.Parts, func(p, q *Part) int { return p.Cluster - q.Cluster })
	a.View += unknownViews
	return a, gone, nil
}

// Shift adds `by` to the application's times, after the clock was set by that many seconds. It does not change the rank, which is
// compared with the times at which jobs were submitted to batch systems.
func (a *Application) Shift(by core.Time) {
	move := func(t *core.Time) {
		if *t > 0 {
			*t = max(*t+by, 1)
		}
	}
	for _, t := range []*core.Time{&a.At, &a.By, &a.Went, &a.Since, &a.EndAt} {
		move(t)
	}
	for i := range a.Tries {
		move(&a.Tries[i])
	}
	for _, p := range a.Parts {
		move(&p.Lost)
		move(&p.Ghost)
	}
}

// clusterNames names the clusters of the request, with their hosts.
func (a *Application) clusterNames() string {
	var names []string
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.Hosts))
		}
	}
	return strings.Join(names, ", ")
}

// request returns the request in force, with `more` seconds added to its walltime.
func (a *Application) request(more core.Time) moldable.Request {
	q := moldable.Request{Walltime: min(a.Walltime+more, core.MaxTotal)}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			q.Parts = append(q.Parts, moldable.Part{Cluster: p.Cluster, Hosts: p.Hosts})
		}
	}
	return q
}

// setRequest puts a request in force. It reports whether the request differs from the previous one.
func (a *Application) setRequest(tag int64, q moldable.Request) (changed bool) {
	changed = a.Walltime != q.Walltime
	for _, p := range a.Parts {
		n := 0
		if i := slices.IndexFunc(q.Parts, func(q moldable.Part) bool { return q.Cluster == p.Cluster }); i >= 0 {
			n = q.Parts[i].Hosts
		}
		changed = changed || p.Hosts != n
		p.Hosts = n
	}
	a.Tag, a.Walltime = tag, q.Walltime
	return changed
}

// each reports whether `holds` returns true for all parts of the request.
func (a *Application) each(holds func(*Part) bool) bool {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !holds(p) {
			return false
		}
	}
	return true
}

// onePart reports whether the request has exactly one part.
func (a *Application) onePart() bool {
	n := 0
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			n++
		}
	}
	return n == 1
}

// Nodes returns the nodes of the request's parts.
func (a *Application) Nodes() []launcher.Names {
	all := []launcher.Names{}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			all = append(all, launcher.Names{C: p.Cluster, Hosts: append([]string{}, p.Nodes...)})
		}
	}
	return all
}

// startMessage returns the message to the launcher that the application starts, with its nodes.
func (a *Application) startMessage() *launcher.Start {
	return &launcher.Start{Tag: a.Tag, At: a.At, By: a.By, Hosts: a.Nodes()}
}

// goMessage returns the message that lets the launcher and the parts continue.
func (a *Application) goMessage() *launcher.Go {
	g := &launcher.Go{At: a.Went, Hosts: a.Nodes()}
	for _, h := range g.Hosts {
		g.Names = append(g.Names, a.Part(h.C).Name)
	}
	return g
}

// giveUp records that a try is given up. Its reservations may still exist.
func (a *Application) giveUp(try int) {
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			p.Drop, p.Kept = try, p.Hosts
		}
		p.Prepared, p.Runs = false, false
	}
}

// countFailure records that a try failed at the second `now`.
func (a *Application) countFailure(now core.Time) {
	a.Tries = append(a.Tries, now)
	if n := len(a.Tries); n > perMinute {
		a.Tries = a.Tries[n-perMinute:]
	}
	a.Slow = a.Slow || len(a.Tries) == perMinute && a.Tries[0] > now-60
}

// retryAt returns the earliest second at which the next try may begin. This second may be in the past.
func (a *Application) retryAt() core.Time {
	if n := len(a.Tries); n > 0 && a.Slow {
		return a.Tries[n-1] + 60
	}
	return 0
}

// exitCode returns the exit status of the first part whose status is not 0. It returns 0 if there is no such part.
func (a *Application) exitCode() int {
	for _, p := range a.Parts {
		if p.Code != 0 {
			return p.Code
		}
	}
	return 0
}

// Failing reports whether a part has reported that it failed by itself. A part that is cancelled also makes a report, from its script's
// EXIT trap. That report has the status 0, or the number of a signal plus 128.
func (p *Part) Failing() bool { return p.Done && p.Code > 0 && p.Code <= 128 }

// Gone returns the message that asks the launcher to submit another job, because the part's job no longer exists.
func (p *Part) Gone() *launcher.Lost {
	return &launcher.Lost{C: p.Cluster, Job: int64(p.Job), Why: "its job is gone before the application started"}
}

// heldHosts returns how many hosts a part holds or may hold now, and the second until which it holds them. If `until` is in the past, the
// end is not known.
func (a *Application) heldHosts(p *Part, now core.Time) (hosts int, until core.Time) {
	switch {
	case p.Drop > 0:
		return p.Kept, 0
	case !a.Phase.Holds() || p.Hosts == 0:
		return 0, 0
	case p.Over && p.Ghost <= now:
		return 0, 0
	case p.Over || p.Done: // the part has ended, or is about to end
		return p.Hosts, p.Ghost
	}
	return p.Hosts, a.By
}

// progress returns a word for the progress of a part.
func (a *Application) progress(p *Part) string {
	switch {
	case p.Over:
		return "over"
	case p.Lost > 0:
		return "lost"
	case p.Drop > 0:
		return "given up"
	case p.Done:
		return "done"
	case p.Hosts == 0 || !a.Phase.Holds():
		return "waiting"
	case a.Phase == Running:
		return "running"
	case p.Runs:
		return "up"
	case a.Phase == Starting:
		return "coming up"
	case p.Prepared:
		return "prepared"
	}
	return "being prepared"
}

// setJob sets the job of the application's part on a cluster.
func (a *Application) setJob(cluster int, name string, job core.JobID) {
	p := a.Part(cluster)
	if p == nil {
		p = &Part{Cluster: cluster, Name: name}
		a.Parts = append(a.Parts, p)
	}
	p.Job, p.Since, p.Lost, p.Drop, p.Kept, p.Over, p.LastSeen = job, 0, 0, 0, 0, false, 0
}

// Part returns the part on a cluster, or nil.
func (a *Application) Part(cluster int) *Part {
	for _, p := range a.Parts {
		if p.Cluster == cluster {
			return p
		}
	}
	return nil
}

// Compare orders applications by rank. Applications without a rank come last.
func (a *Application) Compare(b *Application) int {
	rank := func(a *Application) core.Time {
		if a.Rank == 0 {
			return core.Forever
		}
		return a.Rank
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
}

// stateWord returns the application's state as launchers receive it. placed is true if a pass has found a place for the request.
func (a *Application) stateWord(placed bool, now core.Time) string {
	switch {
	case a.Phase == Fresh, a.Phase == Subscribed:
		return delegated.Submitted.String()
	case a.Phase == Waiting && placed, a.Phase == Preparing:
		return delegated.Waiting.String()
	case a.Phase == Waiting:
		return delegated.RequestSent.String()
	case a.Phase.Started():
		return delegated.Started.String()
	case a.Reason == "" && now >= a.EndAt:
		return delegated.Ghost.String()
	}
	return delegated.FinishSent.String()
}
