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

// Record is an application as the journal keeps it.
type Record struct {
	ID      int64
	Data    []byte // JSON
	Damaged error  // when it was read: Data is not what was written
}

// Phase is where an application is on its way: finer than the states that launchers are told.
type Phase string

// The phases, in the order in which an application takes them; one whose start comes to nothing waits again.
const (
	Fresh      Phase = "fresh"      // it said hello; it has not subscribed
	Subscribed Phase = "subscribed" // without a request
	Waiting    Phase = "waiting"    // with one
	Preparing  Phase = "preparing"  // a try: its clusters reserve
	Starting   Phase = "starting"   // committed: its parts come up
	Running    Phase = "running"    // they were let through
	Ending     Phase = "ending"     // it is being ended, or over; ghosts may be left
)

// Holds says whether an application's parts hold hosts.
func (p Phase) Holds() bool { return p == Preparing || p == Starting || p == Running || p == Ending }

// Started says whether its launcher was told of its start.
func (p Phase) Started() bool { return p == Starting || p == Running }

// Application is what must not be forgotten of an application: what a Record holds.
type Application struct {
	ID       int64           `json:"id"`
	User     string          `json:"user"`
	Name     string          `json:"name,omitempty"`
	Phase    Phase           `json:"phase"`
	Rank     core.Time       `json:"rank,omitempty"` // the second of its subscription
	Filter   launcher.Filter `json:"filter"`
	Most     core.Time       `json:"most,omitempty"`
	Parts    []*Part         `json:"parts,omitempty"` // by cluster, those that the request does not use among them
	Tag      int64           `json:"tag"`             // of the request in force; -1: none
	Walltime core.Time       `json:"walltime,omitempty"`
	View     int64           `json:"view"`  // the last that was shown
	Acked    int64           `json:"acked"` // the last that was acknowledged

	Try    int         `json:"try,omitempty"`   // the newest
	Tries  []core.Time `json:"tries,omitempty"` // the seconds of the last failed ones, at most perMinute
	Slow   bool        `json:"slow,omitempty"`  // they were too many: one a minute
	Failed string      `json:"failed,omitempty"`

	At    core.Time `json:"at,omitempty"` // the second of the decision to start
	By    core.Time `json:"by,omitempty"` // its latest end
	Went  core.Time `json:"went,omitempty"`
	Since core.Time `json:"since,omitempty"` // of its phase

	Reason string    `json:"reason,omitempty"` // ending: launcher.Why…; "": it is over by itself, or was withdrawn
	Why    string    `json:"why,omitempty"`    // ending: a line for its jobs' user
	EndAt  core.Time `json:"end_at,omitempty"` // ending: when its jobs are ended
}

// Part is an application's part on one cluster, or what may become one.
type Part struct {
	Cluster int        `json:"-"`
	Name    string     `json:"cluster"`
	Job     core.JobID `json:"job,omitempty"`   // its batch job; 0: none, or the cluster makes it
	Since   core.Time  `json:"since,omitempty"` // the second of that job's submission, when its cluster showed it
	Hosts   int        `json:"hosts,omitempty"` // that the request in force asks for; 0: it does not use this cluster
	Nodes   []string   `json:"nodes,omitempty"` // of the try
	Drop    int        `json:"drop,omitempty"`  // this try is given up, and not seen undone yet
	Kept    int        `json:"kept,omitempty"`  // hosts that it may still hold
	Lost    core.Time  `json:"lost,omitempty"`  // since when its job is gone; the launcher is to submit another
	Done    bool       `json:"done,omitempty"`  // it said so, or its launcher did
	Code    int        `json:"code,omitempty"`
	Ghost   core.Time  `json:"ghost,omitempty"` // until when its nodes are kept; 0: no ghost
	Over    bool       `json:"over,omitempty"`  // its job is gone

	Prepared bool         `json:"-"` // in this try, as the states say
	Runs     bool         `json:"-"` // the same
	LastSeen core.Time    `json:"-"` // the reading that showed it last
	Okay     *pendingOkay `json:"-"` // an answer that its session gets when its nodes are kept (its ghost)
}

// Debt is an okay that waits for a ghost.
type pendingOkay struct {
	Session uint64
	Seq     int64
	By      core.Time
}

// perMinute is how many tries to start an application fail in a minute before there is one a minute.
const perMinute = 5

// Record is it for the journal.
func (d *Application) Record() Record {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("application %d has no JSON: %v", d.ID, err)) // numbers and texts always have
	}
	return Record{ID: d.ID, Data: data}
}

// unsaid is how many views may have been shown that the journal does not know of: their numbers are not used again.
const unknownViews = 1 << 20

// Read makes a record an application again. cluster is the index of a name; −1: there is none. What the application had on clusters that are no
// longer there is gone, which matters where its request used them.
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

// Shift moves what goes by the time that passes, after the clock was set by so many seconds: all but the rank, which is compared with the
// seconds in which batch systems had their jobs submitted.
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

// Used names the clusters of an application's request.
func (a *Application) clusterNames() string {
	var names []string
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.Hosts))
		}
	}
	return strings.Join(names, ", ")
}

// Requested is the request in force with so many seconds more.
func (a *Application) request(more core.Time) moldable.Request {
	q := moldable.Request{Walltime: min(a.Walltime+more, core.MaxTotal)}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			q.Parts = append(q.Parts, moldable.Part{Cluster: p.Cluster, Hosts: p.Hosts})
		}
	}
	return q
}

// Wants makes a request the one in force. It says whether that asks for anything else than before.
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

// Each says whether something holds for all parts of an application's request.
func (a *Application) each(holds func(*Part) bool) bool {
	for _, p := range a.Parts {
		if p.Hosts > 0 && !holds(p) {
			return false
		}
	}
	return true
}

// Alone says whether an application starts with one part.
func (a *Application) onePart() bool {
	n := 0
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			n++
		}
	}
	return n == 1
}

// Nodes are those of an application's parts.
func (a *Application) Nodes() []launcher.Names {
	all := []launcher.Names{}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			all = append(all, launcher.Names{C: p.Cluster, Hosts: append([]string{}, p.Nodes...)})
		}
	}
	return all
}

// StartsOn tells the launcher that its application starts, and where.
func (a *Application) startMessage() *launcher.Start {
	return &launcher.Start{Tag: a.Tag, At: a.At, By: a.By, Hosts: a.Nodes()}
}

// Goes lets the launcher and the parts through.
func (a *Application) goMessage() *launcher.Go {
	g := &launcher.Go{At: a.Went, Hosts: a.Nodes()}
	for _, h := range g.Hosts {
		g.Names = append(g.Names, a.Part(h.C).Name)
	}
	return g
}

// Drop gives up what a try may have reserved.
func (a *Application) giveUp(try int) {
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			p.Drop, p.Kept = try, p.Hosts
		}
		p.Prepared, p.Runs = false, false
	}
}

// Fail notes a failed try: after perMinute of them in a minute there is one a minute.
func (a *Application) countFailure(now core.Time) {
	a.Tries = append(a.Tries, now)
	if n := len(a.Tries); n > perMinute {
		a.Tries = a.Tries[n-perMinute:]
	}
	a.Slow = a.Slow || len(a.Tries) == perMinute && a.Tries[0] > now-60
}

// RetryAt is the second before which an application is not tried again; past: it may be.
func (a *Application) retryAt() core.Time {
	if n := len(a.Tries); n > 0 && a.Slow {
		return a.Tries[n-1] + 60
	}
	return 0
}

// ExitCode is the exit status of an application: that of the first part which is not 0.
func (a *Application) exitCode() int {
	for _, p := range a.Parts {
		if p.Code != 0 {
			return p.Code
		}
	}
	return 0
}

// Failing says whether a part has told that it ends with a failure of its own. One that is cancelled while it does something runs its EXIT
// trap, too: that tells of 0, which is not so, or of a signal.
func (p *Part) Failing() bool { return p.Done && p.Code > 0 && p.Code <= 128 }

// Gone asks a launcher for another job in place of one that is gone.
func (p *Part) Gone() *launcher.Lost {
	return &launcher.Lost{C: p.Cluster, Job: int64(p.Job), Why: "its job is gone before the application started"}
}

// Takes is how many hosts a part holds now, or may hold, until when; a second that is past: nobody knows.
func (a *Application) heldHosts(p *Part, now core.Time) (hosts int, until core.Time) {
	switch {
	case p.Drop > 0:
		return p.Kept, 0
	case !a.Phase.Holds() || p.Hosts == 0:
		return 0, 0
	case p.Over && p.Ghost <= now:
		return 0, 0
	case p.Over || p.Done: // or about to be
		return p.Hosts, p.Ghost
	}
	return p.Hosts, a.By
}

// Stand is how far a part has come, in a word.
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

// Names makes a job an application's part on a cluster, in place of the former.
func (a *Application) setJob(cluster int, name string, job core.JobID) {
	p := a.Part(cluster)
	if p == nil {
		p = &Part{Cluster: cluster, Name: name}
		a.Parts = append(a.Parts, p)
	}
	p.Job, p.Since, p.Lost, p.Drop, p.Kept, p.Over, p.LastSeen = job, 0, 0, 0, 0, false, 0
}

// Part is an application's on a cluster; nil where it has none.
func (a *Application) Part(cluster int) *Part {
	for _, p := range a.Parts {
		if p.Cluster == cluster {
			return p
		}
	}
	return nil
}

// Compare is negative where an application comes before another by rank; one without a rank comes last.
func (a *Application) Compare(b *Application) int {
	rank := func(a *Application) core.Time {
		if a.Rank == 0 {
			return core.Forever
		}
		return a.Rank
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
}

// State is what launchers are told; placed says that its request was placed.
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
