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

// Phase is the progress of an application. It is finer than the states that launchers receive.
type Phase string

// The phases, in the order in which an application takes them. An application whose start fails goes back to Waiting.
const (
	Fresh      Phase = "fresh"      // its launcher has sent "hello", but has not subscribed
	Subscribed Phase = "subscribed" // has no request
	Waiting    Phase = "waiting"    // has a request
	Preparing  Phase = "preparing"  // a try to start has begun: its clusters reserve nodes
	Starting   Phase = "starting"   // the start is committed: its parts come up
	Running    Phase = "running"    // its parts run
	Ending     Phase = "ending"     // is being ended, or has ended; ghosts (reservations after the end) may be left
)

// Holds reports whether the parts of an application hold hosts.
func (p Phase) Holds() bool { return p == Preparing || p == Starting || p == Running || p == Ending }

// Started reports whether an application has started, as its launcher knows.
func (p Phase) Started() bool { return p == Starting || p == Running }

// Application is what the journal keeps of an application (Record).
type Application struct {
	ID       int64           `json:"id"`
	User     string          `json:"user"`
	Name     string          `json:"name,omitempty"`
	Phase    Phase           `json:"phase"`
	Rank     core.Time       `json:"rank,omitempty"` // the second of its subscription
	Filter   launcher.Filter `json:"filter"`
	Most     core.Time       `json:"most,omitempty"`
	Parts    []*Part         `json:"parts,omitempty"` // ordered by cluster; includes clusters that the request does not use
	Tag      int64           `json:"tag"`             // of the request in force; -1 if there is none
	Walltime core.Time       `json:"walltime,omitempty"`
	View     int64           `json:"view"`  // number of the last view sent
	Acked    int64           `json:"acked"` // number of the last view acknowledged

	Try    int         `json:"try,omitempty"`   // number of the newest try to start it
	Tries  []core.Time `json:"tries,omitempty"` // the seconds of the last failed tries, at most perMinute
	Slow   bool        `json:"slow,omitempty"`  // too many tries failed: only one try a minute is made
	Failed string      `json:"failed,omitempty"`

	At    core.Time `json:"at,omitempty"` // the second of the decision to start
	By    core.Time `json:"by,omitempty"` // the latest end
	Went  core.Time `json:"went,omitempty"`
	Since core.Time `json:"since,omitempty"` // when its phase began

	Reason string    `json:"reason,omitempty"` // Ending: launcher.Why…; "" if it ended by itself, or was withdrawn
	Why    string    `json:"why,omitempty"`    // in phase Ending: a line for the user of its jobs
	EndAt  core.Time `json:"end_at,omitempty"` // in phase Ending: when its jobs end
}

// Part is an application's job on one cluster, or a cluster on which it may get one.
type Part struct {
	Cluster int        `json:"-"`
	Name    string     `json:"cluster"`
	Job     core.JobID `json:"job,omitempty"`   // its batch job; 0 if there is none, or the cluster makes it
	Since   core.Time  `json:"since,omitempty"` // when that job was submitted, as its cluster shows it
	Hosts   int        `json:"hosts,omitempty"` // hosts in the request in force; 0 if the request does not use this cluster
	Nodes   []string   `json:"nodes,omitempty"` // of the newest try
	Drop    int        `json:"drop,omitempty"`  // the try that was given up, until the cluster shows that the try is undone
	Kept    int        `json:"kept,omitempty"`  // hosts that the part may still hold from that try
	Lost    core.Time  `json:"lost,omitempty"`  // since when the job is gone, so that the launcher should submit another; 0 if the job exists
	Done    bool       `json:"done,omitempty"`  // the part, or its launcher, has reported its end
	Code    int        `json:"code,omitempty"`
	Ghost   core.Time  `json:"ghost,omitempty"` // until when its nodes are kept; 0 if there is no ghost
	Over    bool       `json:"over,omitempty"`  // its job has ended

	Prepared bool         `json:"-"` // in this try
	Runs     bool         `json:"-"` // in this try
	LastSeen core.Time    `json:"-"` // the last reading that showed its job
	Okay     *pendingOkay `json:"-"` // the answer to its report of its end, which waits for its ghost
}

// pendingOkay is an Okay message that is sent when the reservation of a ghost exists, at the latest at second By.
type pendingOkay struct {
	Session uint64
	Seq     int64
	By      core.Time
}

// perMinute is how many tries to start an application may fail in a minute. After that many failures, one try a minute is made.
const perMinute = 5

// Record returns the application's record.
func (d *Application) Record() Record {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("application %d has no JSON: %v", d.ID, err)) // numbers and texts always have JSON
	}
	return Record{ID: d.ID, Data: data}
}

// unknownViews is an upper bound for the number of views that were sent but are not in the journal. After a restart, numbering skips as
// many views, so that no number is used again.
const unknownViews = 1 << 20

// readRecord returns the application in a record. cluster returns the index of a cluster's name, or −1 if there is no such cluster. Parts on
// such clusters are removed; gone reports whether the request used one.
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

// Shift adds `by` to the application's times, after the clock was set by that many seconds. The rank stays: it is compared with the times
// at which batch systems received jobs.
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

// setRequest puts a request in force. It reports whether the request asks for something else than the one before.
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

// startMessage returns the message that informs the launcher that the application starts, and on which nodes.
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

// countFailure records a failed try.
func (a *Application) countFailure(now core.Time) {
	a.Tries = append(a.Tries, now)
	if n := len(a.Tries); n > perMinute {
		a.Tries = a.Tries[n-perMinute:]
	}
	a.Slow = a.Slow || len(a.Tries) == perMinute && a.Tries[0] > now-60
}

// retryAt returns the earliest second of the next try, which may be in the past.
func (a *Application) retryAt() core.Time {
	if n := len(a.Tries); n > 0 && a.Slow {
		return a.Tries[n-1] + 60
	}
	return 0
}

// exitCode returns the first exit status of a part that is not 0, or 0.
func (a *Application) exitCode() int {
	for _, p := range a.Parts {
		if p.Code != 0 {
			return p.Code
		}
	}
	return 0
}

// Failing reports whether a part has reported a failure of its own. A part that is cancelled also runs its EXIT trap, which reports 0,
// although the part failed, or a signal.
func (p *Part) Failing() bool { return p.Done && p.Code > 0 && p.Code <= 128 }

// Gone returns the message that asks the launcher to submit another job, because the part's job is gone.
func (p *Part) Gone() *launcher.Lost {
	return &launcher.Lost{C: p.Cluster, Job: int64(p.Job), Why: "its job is gone before the application started"}
}

// heldHosts returns how many hosts a part holds or may hold now, and until when. If until is in the past, the end is unknown.
func (a *Application) heldHosts(p *Part, now core.Time) (hosts int, until core.Time) {
	switch {
	case p.Drop > 0:
		return p.Kept, 0
	case !a.Phase.Holds() || p.Hosts == 0:
		return 0, 0
	case p.Over && p.Ghost <= now:
		return 0, 0
	case p.Over || p.Done: // it has ended, or is about to end
		return p.Hosts, p.Ghost
	}
	return p.Hosts, a.By
}

// progress names how far a part has come.
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

// Compare orders applications by rank. Those without a rank come last.
func (a *Application) Compare(b *Application) int {
	rank := func(a *Application) core.Time {
		if a.Rank == 0 {
			return core.Forever
		}
		return a.Rank
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
}

// stateWord returns the name of the state that launchers receive. placed is set if a pass has placed the request.
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
