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

// Input is all that a plan goes by. Nothing is remembered from one plan to the next but what stands in the jobs.
type Input struct {
	Now      core.Time // Unix seconds: the second planned for
	Instant  time.Time // the same, as the clock shows it
	Snapshot *adapter.Snapshot
	Jobs     []*managed.Job // in their order
	Parts    []*managed.Job // of applications, in the order of their ranks: the same, with Part
	// OutOfService says whether the plan does without a node: it has been away for longer than a moment.
	OutOfService func(adapter.Node) bool
	Fresh        func(*managed.Job) bool // the reading began after the last thing that was done to the job
	Settled      bool                    // the reading began after a job last gave nodes back
	// OverLimit reports whether a user's jobs have no nodes reserved ahead for later steps
	// ([limits] unused); nil: the jobs of each user have.
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

// Note is what the planner has to say to operators.
type Note struct {
	Job    core.JobID
	Warns  bool
	Text   string
	Fields []any // names and values
}

// World is the world of one cycle: the newest reading, corrected by what we did since it began.
type World struct {
	Input
	Managed  map[adapter.Key]*managed.Job
	Said     []Note
	Nodes    []string
	Index    map[string]int
	claims   []place.Claim            // what others than managed jobs occupy, node by node, from now on; no two overlap
	early    []place.Claim            // the same to jobs that wait: reservations of others begin approach seconds sooner; nil: no other
	guards   []guard                  // of the ordinary job that has the node, if one has
	lost     []bool                   // nodes that are out of service
	closing  [][]*adapter.Reservation // of others over each node
	closed   []bool                   // nodes that no job has, in a reservation of others now
	taken    []Holder                 // who has each node now
	Queue    []Waiter                 // in rank order
	Planned  core.Plan                // of the queue
	Turns    map[core.JobID]Turn      // of the jobs that wait for a reservation; nil under a policy by which each job has a place
	Sizing   []view.Sizing            // what rules looked at for moldable jobs
	Sizes    map[core.JobID]Size      // of those that wait
	Strays   []*adapter.Job           // expanders that belong to nothing under way
	Running  []*managed.Job           // in the order in which they began
	JobPlans []JobPlan                // of Running and of the managed jobs in Queue; Apply writes them into the records
	drafts   []*managed.Job           // copies of Running, which the planner may change
	advances int                      // early applications looked at
	late     map[core.JobID]bool      // managed jobs that would start after their latest second
	lets     map[core.JobID]bool      // rigid jobs that are to be the batch system's own now
	LeftOut  int                      // reservations that the plan needs, and that Wanted left out: there are too many
	Awaited  map[core.JobID]uint32    // managed jobs for whose nodes a growth or a start that is due waits, and the user of that
}

// guard is the seconds in which the ordinary job on a node may end at any moment.
type guard struct{ from, to core.Time }

// Holder is who has a node at this instant.
type Holder struct {
	Kind managed.Obstacle
	Job  core.JobID
}

// Waiter is one job of the queue: ordinary, or managed when Managed is set.
type Waiter struct {
	Job     core.Job
	Managed *managed.Job
	Seen    *adapter.Job // as last read
	plan    *JobPlan     // of a managed job
}

// settling is how long, in seconds, nodes of a job that just ended are taken to need until they are free.
const settling core.Time = 2

// look is the world at a second.
func look(in Input) *World {
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
	v.lookAtJobs(busy)
	v.lookAtNodes(busy)
	early := v.lookAtReservations(busy)
	v.claims = busy.claims()
	if early != nil {
		v.early = early.claims()
	}
	v.lookAtQueue()
	return v
}

// lookAtJobs notes what every job holds. Managed jobs are as their records say, which are at least as new.
func (v *World) lookAtJobs(busy spans) {
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		r := v.Managed[j.Key]
		switch {
		case r != nil && (r.Phase == managed.Running || r.Phase == managed.Starting || r.Phase == managed.Ending):
			continue
		case j.Expands != 0 && v.Growing(j.Expands):
			continue // its nodes are the parent's in a moment
		case j.Expands != 0 && j.State == adapter.Running:
			v.Strays = append(v.Strays, j)
		}
		until, limit := v.Now+settling, core.Forever
		who := Holder{managed.BatchSystem, j.ID}
		if j.State == adapter.Running && j.Expands == 0 { // a stray is ended at once
			who.Kind = managed.OrdinaryOverrun
			if until = core.Forever; j.Limit < core.Forever {
				limit = max(j.Started+j.Limit, v.Now)
				until = max(limit+v.Settings.Guard, v.Now+settling)
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
		for _, name := range either(r.Nodes, r.Holds()) {
			if n, ok := v.Index[name]; ok {
				v.taken[n] = Holder{managed.LateShrinker, r.ID}
			}
		}
	}
	slices.SortStableFunc(v.Running, func(a, b *managed.Job) int { return cmp.Compare(a.Planned, b.Planned) })
	v.drafts = draftsOf(v.Running)
}

// lookAtNodes notes the nodes that are away, and those that nobody holds and that are not free either.
func (v *World) lookAtNodes(busy spans) {
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
			busy.add(i, v.Now, v.Now+settling)
			v.taken[i] = Holder{managed.BatchSystem, 0}
		}
	}
}

// lookAtQueue puts ordinary and managed jobs into one queue, in the order in which the batch system ranks them.
func (v *World) lookAtQueue() {
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		if j.State != adapter.Pending || j.Blocked || j.Expands != 0 {
			continue
		}
		if r := v.Managed[j.Key]; r != nil {
			if r.Rigid() {
				v.waitsRigid(r)
			} else if r.Part == nil && r.Phase == managed.Waiting && r.Seen != nil && !r.SetAside(v.Instant) && r.StoppedBy() == "" {
				v.Queue = append(v.Queue, v.waits(r))
			}
			continue
		}
		if !j.Held && !adapter.IsPart(j) { // of an application's, its launcher says when
			v.Queue = append(v.Queue, v.waitsOrdinary(j, v.Settings.Round))
		}
	}
	for _, r := range v.Parts {
		if r.Phase == managed.Waiting {
			v.stand(r)
		}
	}
}

// stand puts a part of an application into the queue, before the first job that was not submitted before the second of its rank, as a pass
// does (sched.Ranked).
func (v *World) stand(r *managed.Job) {
	at := slices.IndexFunc(v.Queue, func(w Waiter) bool { return !w.ofApplication() && w.Job.Submit >= r.Part.Rank })
	if at < 0 {
		at = len(v.Queue)
	}
	w := v.waits(r)
	w.Job.Submit, w.Job.Begin, w.Job.Margin = r.Part.Rank, max(w.Job.Begin, r.Part.Begin), r.Part.Margin
	v.Queue = slices.Insert(v.Queue, at, w)
}

// ofApplication says whether it is a part of one.
func (w Waiter) ofApplication() bool { return w.Managed != nil && w.Managed.Part != nil }

// waits is a managed job of the queue. A start takes some seconds to become true: planning it for then keeps the steps after
// it on time.
func (v *World) waits(r *managed.Job) Waiter {
	begin := max(r.Seen.Begin, v.Now+v.Settings.StartLead)
	choices, allowed := r.Allowed()
	j := core.Job{ID: r.ID, Submit: r.Submitted, Begin: begin, Latest: r.Seen.Latest, Choices: choices, Margin: v.Settings.Margin(r.Choices)}
	return Waiter{v.dueAs(j, r.Choices, 0), r, r.Seen, &JobPlan{Job: r, allowed: allowed}}
}

// waitsOrdinary is an ordinary job of the queue. Where its place is now the batch system begins it within so many seconds: our reservations must
// not come closer meanwhile.
func (v *World) waitsOrdinary(j *adapter.Job, within core.Time) Waiter {
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

// Growing says whether an expander of the job may belong to an operation under way, or to one that ended after the
// reading began.
func (v *World) Growing(parent core.JobID) bool {
	for _, r := range v.Managed {
		if r.ID == parent && !v.Fresh(r) {
			return true
		}
	}
	return false
}

// either is the nodes in a or in b.
func either(a, b []string) []string {
	all := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// Free says whether nobody has any of the nodes now; otherwise who has the first of them that is taken.
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

// Take notes that a job is being given the nodes: nothing else decided in this cycle may have them.
func (v *World) Take(names []string, job core.JobID) {
	for _, name := range names {
		if n, ok := v.Index[name]; ok {
			v.taken[n] = Holder{managed.LateShrinker, job}
		}
	}
}

// spans collects when each node is occupied, as the union of what is added.
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

// String is the holder in the words of status.
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
