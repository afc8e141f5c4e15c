package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/place"
)

// Input is everything that a plan uses. Only the jobs' records carry anything from one plan to the
// next.
type Input struct {
	Now      core.Time // Unix seconds, the second for which the plan is made
	Instant  time.Time // Now, with fractions of a second
	Snapshot *adapter.Snapshot
	Jobs     []*managed.Job // the managed jobs, ordered by number
	Parts    []*managed.Job // parts of applications in the order of their ranks; each has its field Part set
	// OutOfService reports whether a node has been away for more than a moment, so that the plan
	// must not use it.
	OutOfService func(adapter.Node) bool
	Fresh        func(*managed.Job) bool // reports whether the reading began after the last operation on the job ended
	Settled      bool                    // the reading began after a job last released nodes
	// OverLimit reports whether a user exceeds [limits] unused, so that no nodes are reserved ahead
	// for later steps of the user's jobs. A nil function means that no user does.
	OverLimit func(user string) bool
	Settings  managed.Settings
}

// Unreserved reports whether no nodes are reserved ahead for a job's later steps. Reservations of a
// running job stay.
func (v *World) Unreserved(r *managed.Job) bool {
	if r.Phase != managed.Waiting {
		return r.Unreserved
	}
	return r.Part == nil && v.OverLimit != nil && v.OverLimit(r.User)
}

// A Note is a line for the sidecar's log.
type Note struct {
	Job    core.JobID
	Warns  bool
	Text   string
	Fields []any // alternating names and values
}

// A World is the state of the cluster in one cycle and the plan for it. The state is the newest
// reading, corrected by what the sidecar did after that reading began.
type World struct {
	Input
	Managed         map[adapter.Key]*managed.Job
	Notes           []Note // notes for the log
	Nodes           []string
	Index           map[string]int
	claims          []place.Claim            // what is occupied from now on by everything but managed jobs, per node; no two claims overlap
	early           []place.Claim            // claims as waiting jobs see them, for which foreign reservations begin Approach seconds earlier; nil means the same as claims
	guards          []guard                  // for each node, the guard of the ordinary job that holds it
	lost            []bool                   // whether each node is out of service
	closures        [][]*adapter.Reservation // the foreign reservations over each node
	closed          []bool                   // whether no job holds the node and a foreign reservation covers it now, for each node
	taken           []Holder                 // who holds each node now
	Queue           []Waiter                 // in rank order
	Planned         core.Plan                // the plan for Queue
	Turns           map[core.JobID]Turn      // turns of waiting jobs; nil under a policy that reserves for every job
	Sizing          []view.Sizing            // the system load by which moldable jobs got their sizes
	Sizes           map[core.JobID]Size      // sizes of waiting moldable jobs
	OrphanExpanders []*adapter.Job           // orphaned expanders: no operation under way needs them
	Running         []*managed.Job           // running managed jobs in the order in which they started
	JobPlans        []JobPlan                // plans of Running and of the managed jobs in Queue, which Apply writes into the records
	drafts          []*managed.Job           // copies of Running, which the planner may change
	advances        int                      // how many early applications were tried
	late            map[core.JobID]bool      // managed jobs that would start too late for their deadline
	admitted        map[core.JobID]bool      // rigid jobs that may enter the batch system's queue now
	LeftOut         int                      // how many reservations Wanted left out because there are too many
	Awaited         map[core.JobID]uint32    // managed jobs for whose nodes a due growth or start waits, with the user ID of the waiting job
}

// A guard is the span in which the ordinary job on a node may end at any moment: from its limit on.
type guard struct{ from, to core.Time }

// A Holder is the job or reservation that holds a node now.
type Holder struct {
	Kind managed.Obstacle
	Job  core.JobID
}

// A Waiter is a job of the queue: ordinary, or managed when Managed is set.
type Waiter struct {
	Job     core.Job
	Managed *managed.Job
	Seen    *adapter.Job // the job as last read
	plan    *JobPlan     // the plan of a managed job
}

// freeing is how long, in seconds, nodes of a job that just ended are assumed to need until they
// are free.
const freeing core.Time = 2

// newWorld returns the World of the cluster's state, without a plan.
func newWorld(in Input) *World {
	v := &World{Input: in, Managed: make(map[adapter.Key]*managed.Job, len(in.Jobs)), Index: make(map[string]int, len(in.Snapshot.Nodes)), Awaited: map[core.JobID]uint32{}, Sizes: map[core.JobID]Size{}}
	for _, r := range slices.Concat(in.Jobs, in.Parts) {
		v.Managed[r.Key] = r
	}
	v.Nodes = make([]string, len(v.Snapshot.Nodes))
	v.taken = make([]Holder, len(v.Snapshot.Nodes))
	v.guards = make([]guard, len(v.Snapshot.Nodes))
	v.lost, v.closed = make([]bool, len(v.Snapshot.Nodes)), make([]bool, len(v.Snapshot.Nodes))
	for i, n := range v.Snapshot.Nodes {
		v.Nodes[i], v.Index[n.Name] = n.Name, i
	}
	busy := make(spans, len(v.Nodes))
	v.addJobs(busy)
	v.addNodes(busy)
	early := v.addReservations(busy)
	v.claims = busy.claims()
	if early != nil {
		v.early = early.claims()
	}
	v.addQueue()
	return v
}

// addJobs records which nodes every job holds. For managed jobs it uses their records, which are at
// least as new as the reading.
func (v *World) addJobs(busy spans) {
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		r := v.Managed[j.Key]
		switch {
		case r != nil && (r.Phase == managed.Running || r.Phase == managed.Starting || r.Phase == managed.Ending):
			continue
		case j.Expands != 0 && v.Growing(j.Expands):
			continue // the expander's nodes will soon be the parent's
		case j.Expands != 0 && j.State == adapter.Running:
			v.OrphanExpanders = append(v.OrphanExpanders, j)
		}
		until, limit := v.Now+freeing, core.Forever
		who := Holder{managed.BatchSystem, j.ID}
		if j.State == adapter.Running && j.Expands == 0 { // an orphaned expander is ended immediately
			who.Kind = managed.OrdinaryOverrun
			if until = core.Forever; j.Limit < core.Forever {
				limit = max(j.Started+j.Limit, v.Now)
				until = max(limit+v.Settings.Guard, v.Now+freeing)
			}
		}
		for _, name := range j.Nodes {
			if n, ok := v.Index[name]; ok && j.State != adapter.Done {
				busy.add(n, v.Now, until)
				v.taken[n], v.guards[n] = who, guard{limit, until}
			}
		}
	}
	for _, r := range slices.Concat(v.Jobs, v.Parts) {
		if r.Phase == managed.Waiting {
			continue
		}
		v.Running = append(v.Running, r)
		for _, name := range union(r.Nodes, r.NodesForPlan()) {
			if n, ok := v.Index[name]; ok {
				v.taken[n] = Holder{managed.LateShrinker, r.ID}
			}
		}
	}
	slices.SortStableFunc(v.Running, func(a, b *managed.Job) int { return cmp.Compare(a.Planned, b.Planned) })
	v.drafts = draftsOf(v.Running)
}

// addNodes records the nodes that are away, and the nodes that are not free although no job holds
// them.
func (v *World) addNodes(busy spans) {
	for i, n := range v.Snapshot.Nodes {
		if v.taken[i].Kind == managed.LateShrinker {
			continue
		}
		switch {
		case !n.Usable:
			until := v.Now + 1
			switch {
			case v.OutOfService(n):
				until, v.lost[i] = core.Forever, true
			case n.Lost: // no job may be started on it now
				until = v.Now + v.Settings.StartLead + 1
			}
			busy.add(i, v.Now, until)
			v.taken[i] = Holder{managed.BatchSystem, 0}
		case !n.Idle && v.taken[i].Kind == managed.Nobody && v.Settled:
			busy.add(i, v.Now, v.Now+freeing)
			v.taken[i] = Holder{managed.BatchSystem, 0}
		}
	}
}

// addQueue puts ordinary and managed jobs into one queue, in the batch system's order.
func (v *World) addQueue() {
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		if j.State != adapter.Pending || j.Blocked || j.Expands != 0 {
			continue
		}
		if r := v.Managed[j.Key]; r != nil {
			if r.Rigid() {
				v.addRigid(r)
			} else if r.Part == nil && r.Phase == managed.Waiting && r.Seen != nil && !r.SetAside(v.Instant) && r.OtherHolder() == "" {
				v.Queue = append(v.Queue, v.managedWaiter(r))
			}
			continue
		}
		if !j.Held && !adapter.IsPart(j) { // a launcher decides when a part starts
			v.Queue = append(v.Queue, v.ordinaryWaiter(j, v.Settings.Round))
		}
	}
	for _, r := range v.Parts {
		if r.Phase == managed.Waiting {
			v.addPart(r)
		}
	}
}

// addPart puts a part of an application into the queue. The part is inserted before the first job
// that was submitted in the second of the part's rank or later, as in sched.Ranked.
func (v *World) addPart(r *managed.Job) {
	at := slices.IndexFunc(v.Queue, func(w Waiter) bool { return !w.ofApplication() && w.Job.Submit >= r.Part.Rank })
	if at < 0 {
		at = len(v.Queue)
	}
	w := v.managedWaiter(r)
	w.Job.Submit, w.Job.Begin, w.Job.Margin = r.Part.Rank, max(w.Job.Begin, r.Part.Begin), r.Part.Margin
	v.Queue = slices.Insert(v.Queue, at, w)
}

// ofApplication reports whether the job is a part of an application.
func (w Waiter) ofApplication() bool { return w.Managed != nil && w.Managed.Part != nil }

// managedWaiter returns a managed job as a job of the queue. The job begins StartLead seconds from
// now at the earliest, because a start takes that long. So the steps after the first one begin on
// time.
func (v *World) managedWaiter(r *managed.Job) Waiter {
	begin := max(r.Seen.Begin, v.Now+v.Settings.StartLead)
	choices, allowed := r.Allowed()
	j := core.Job{ID: r.ID, Submit: r.Submitted, Begin: begin, Latest: r.Seen.Latest, Choices: choices, Margin: v.Settings.Margin(r.Choices)}
	return Waiter{v.dueAs(j, r.Choices, 0), r, r.Seen, &JobPlan{Job: r, allowed: allowed}}
}

// ordinaryWaiter returns an ordinary job as a job of the queue. If the job can start now, the batch
// system starts it within `within` seconds. The job's place in the plan is longer by these seconds,
// so that no reservation of the sidecar comes too close until the job has started.
func (v *World) ordinaryWaiter(j *adapter.Job, within core.Time) Waiter {
	limit, guard := max(j.Limit, 1), v.Settings.Guard+within
	if limit >= core.Forever/4 {
		limit = core.Forever/4 - guard
	}
	one := core.Job{
		ID: j.ID, Submit: j.Submitted, Begin: j.Begin, Choices: []core.EP{{{Duration: limit + guard, Nodes: max(j.Want, 1)}}}, Guard: guard,
		Foreign: v.Settings.Passes == nil,
	}
	if len(j.Choices) > 1 {
		one = v.dueAs(one, j.Choices, v.Snapshot.OwnSizing.Pause)
	}
	return Waiter{Job: one, Seen: j}
}

// Growing reports whether an expander of the job may belong to an operation that is under way, or
// that ended after the reading began.
func (v *World) Growing(parent core.JobID) bool {
	for _, r := range v.Managed {
		if r.ID == parent && !v.Fresh(r) {
			return true
		}
	}
	return false
}

// union returns the nodes in a or in b.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// Free reports whether all of the nodes are free now. If not, it returns the holder of the first
// node that is not free.
func (v *World) Free(names []string) (bool, Holder) {
	for _, name := range names {
		if n, ok := v.Index[name]; !ok || v.taken[n].Kind != managed.Nobody {
			if !ok {
				return false, Holder{managed.BatchSystem, 0}
			}
			return false, v.taken[n]
		}
	}
	return true, Holder{}
}

// Take marks the nodes as held by a job, so that no other decision of this cycle uses them.
func (v *World) Take(names []string, job core.JobID) {
	for _, name := range names {
		if n, ok := v.Index[name]; ok {
			v.taken[n] = Holder{managed.LateShrinker, job}
		}
	}
}

// spans collects when each node is occupied. The method `claims` returns the union of the added
// spans.
type spans [][]place.Claim

func (s spans) add(node int, from, to core.Time) {
	if to > from {
		s[node] = append(s[node], place.Claim{Node: node, From: from, To: to})
	}
}

func (s spans) claims() []place.Claim {
	var all []place.Claim
	for _, claims := range s {
		slices.SortFunc(claims, func(a, b place.Claim) int { return cmp.Compare(a.From, b.From) })
		for i, c := range claims {
			if last := len(all) - 1; i > 0 && c.From <= all[last].To {
				all[last].To = max(all[last].To, c.To)
				continue
			}
			all = append(all, c)
		}
	}
	return all
}

// String describes the holder in the words of `accordion status`.
func (h Holder) String() string {
	switch h.Kind {
	case managed.LateShrinker:
		return fmt.Sprintf("nodes that job %d has to give back", h.Job)
	case managed.OrdinaryOverrun:
		return fmt.Sprintf("nodes of ordinary job %d", h.Job)
	default:
		return "nodes that the batch system has not freed"
	}
}
