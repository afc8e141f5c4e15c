package sidecar

import (
	"cmp"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
)

// sight is the world of one cycle: the newest reading, corrected by what we did since it began.
type sight struct {
	now      core.Time
	nodes    []string
	index    map[string]int
	claims   []place.Claim       // what others than managed jobs occupy, node by node, from now on; no two overlap
	guards   []guard             // of the ordinary job that has the node, if one has
	taken    []holder            // who has each node now
	queue    []waiter            // in rank order
	planned  core.Plan           // of the queue
	strays   []*adapter.Job      // expanders that belong to nothing under way
	running  []*managed.Job      // in the order in which they began
	advances int                 // early applications looked at
	news     *news               // since the cycle before; nil while nobody asked
	awaited  map[core.JobID]bool // managed jobs for whose nodes a growth or a start that is due waits
}

// guard is the seconds in which the ordinary job on a node may end at any moment.
type guard struct{ from, to core.Time }

// holder is who has a node at this instant.
type holder struct {
	kind managed.Obstacle
	job  core.JobID
}

// waiter is one job of the queue: ordinary, or managed when its record is set.
type waiter struct {
	job    core.Job
	record *managed.Job
	seen   *adapter.Job // as last read
	named  []int        // which of the record's choices the job's are; nil: all
}

// pass is how long, in seconds, an ordinary job that could start now may wait until the batch system looks at it
// (Slurm's back-filling: every 30 s, for which our reservations must not come closer meanwhile).
const pass core.Time = 45

// settling is how long, in seconds, nodes of a job that just ended are taken to need until they are free.
const settling core.Time = 2

// absence is how long a node that cannot be used is taken to be back soon: after a start of slurmctld no node is known
// for some seconds, and no promise must move for that. Nothing is put on it meanwhile.
const absence = 30 * time.Second

// look is the world at a second: that in which keepTime looked last, for a clock that is set just after it must not end
// what runs.
func (s *Sidecar) look(now core.Time) *sight {
	v := &sight{now: now, index: make(map[string]int, len(s.snapshot.Nodes)), awaited: map[core.JobID]bool{}}
	v.nodes = make([]string, len(s.snapshot.Nodes))
	v.taken = make([]holder, len(s.snapshot.Nodes))
	v.guards = make([]guard, len(s.snapshot.Nodes))
	for i, n := range s.snapshot.Nodes {
		v.nodes[i], v.index[n.Name] = n.Name, i
	}
	busy := make(spans, len(v.nodes))
	s.lookAtJobs(v, busy)
	s.lookAtNodes(v, busy)
	for _, r := range s.snapshot.Reservations {
		if r.Ours() {
			continue
		}
		for _, name := range r.Nodes {
			if i, ok := v.index[name]; ok {
				busy.add(i, max(r.Start, v.now), r.End)
			}
		}
	}
	v.claims = busy.claims()
	s.lookAtQueue(v)
	return v
}

// lookAtJobs notes what every job holds. Managed jobs are as their records say, which are at least as new.
func (s *Sidecar) lookAtJobs(v *sight, busy spans) {
	for i := range s.snapshot.Jobs {
		j := &s.snapshot.Jobs[i]
		r := s.records[j.Key]
		switch {
		case r != nil && (r.Phase == managed.Running || r.Phase == managed.Starting || r.Phase == managed.Ending):
			continue
		case j.Expands != 0 && s.growing(j.Expands):
			continue // its nodes are the parent's in a moment
		case j.Expands != 0 && j.State == adapter.Running:
			v.strays = append(v.strays, j)
		}
		until, limit := v.now+settling, core.Forever
		who := holder{managed.BatchSystem, j.ID}
		if j.State == adapter.Running && j.Expands == 0 { // a stray is ended at once
			who.kind = managed.OrdinaryOverrun
			if until = core.Forever; j.Limit < core.Forever {
				limit = max(j.Started+j.Limit, v.now)
				until = max(limit+s.settings.Guard, v.now+settling)
			}
		}
		for _, name := range j.Nodes {
			if n, ok := v.index[name]; ok && j.State != adapter.Done {
				busy.add(n, v.now, until)
				v.taken[n], v.guards[n] = who, guard{limit, until}
			}
		}
	}
	for _, r := range s.sorted() {
		if r.Phase == managed.Waiting {
			continue
		}
		v.running = append(v.running, r)
		for _, name := range either(r.Nodes, r.Holds()) {
			if n, ok := v.index[name]; ok {
				v.taken[n] = holder{managed.LateShrinker, r.ID}
			}
		}
	}
	slices.SortStableFunc(v.running, func(a, b *managed.Job) int { return cmp.Compare(a.Planned, b.Planned) })
}

// lookAtNodes notes the nodes that are away, and those that nobody holds and that are not free either.
func (s *Sidecar) lookAtNodes(v *sight, busy spans) {
	for i, n := range s.snapshot.Nodes {
		if v.taken[i].kind == managed.LateShrinker {
			continue
		}
		switch {
		case !n.Usable:
			until := v.now + 1
			if s.outOfService(n) {
				until = core.Forever
			}
			busy.add(i, v.now, until)
			v.taken[i] = holder{managed.BatchSystem, 0}
		case !n.Idle && v.taken[i].kind == managed.Nobody && s.newer(s.shrunk):
			busy.add(i, v.now, v.now+settling)
			v.taken[i] = holder{managed.BatchSystem, 0}
		}
	}
}

// outOfService says whether the plan does without a node: it has been away for longer than a moment.
func (s *Sidecar) outOfService(n adapter.Node) bool {
	return !n.Usable && !s.clock.Now().Before(s.away[n.Name].Add(absence))
}

// lookAtQueue puts ordinary and managed jobs into one queue, in the order in which the batch system ranks them.
func (s *Sidecar) lookAtQueue(v *sight) {
	for i := range s.snapshot.Jobs {
		j := &s.snapshot.Jobs[i]
		if j.State != adapter.Pending || j.Blocked || j.Expands != 0 {
			continue
		}
		if r := s.records[j.Key]; r != nil {
			if r.Phase == managed.Waiting && r.Seen != nil && !r.SetAside(s.clock.Now()) {
				v.queue = append(v.queue, s.waits(v, r))
			}
			continue
		}
		if !j.Held {
			v.queue = append(v.queue, s.waitsOrdinary(j))
		}
	}
}

// waits is a managed job of the queue. A start takes some seconds to become true: planning it for then keeps the steps after
// it on time.
func (s *Sidecar) waits(v *sight, r *managed.Job) waiter {
	begin := max(r.Seen.Begin, v.now+s.settings.StartLead)
	choices, named := r.Allowed()
	return waiter{core.Job{ID: r.ID, Submit: r.Submitted, Begin: begin, Choices: choices, Margin: s.settings.Margin(r.Choices)}, r, r.Seen, named}
}

// chosen is which of all choices the plan's is.
func (w waiter) chosen(planned int) int {
	if w.named == nil {
		return planned
	}
	return w.named[planned]
}

// waitsOrdinary is an ordinary job of the queue.
func (s *Sidecar) waitsOrdinary(j *adapter.Job) waiter {
	limit, guard := max(j.Limit, 1), s.settings.Guard+pass
	if limit >= core.Forever/4 {
		limit = core.Forever/4 - guard
	}
	return waiter{core.Job{
		ID: j.ID, Submit: j.Submitted, Begin: j.Begin, Choices: []core.EP{{{Duration: limit + guard, Nodes: max(j.Want, 1)}}}, Guard: guard,
	}, nil, j, nil}
}

// growing says whether an expander of the job may belong to an operation under way, or to one that ended after the
// reading began.
func (s *Sidecar) growing(parent core.JobID) bool {
	for _, r := range s.records {
		if r.ID == parent && !s.fresh(r) {
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

// free says whether nobody has any of the nodes now; otherwise who has the first of them that is taken.
func (v *sight) free(names []string) (bool, holder) {
	for _, name := range names {
		if n, ok := v.index[name]; !ok || v.taken[n].kind != managed.Nobody {
			if !ok {
				return false, holder{managed.BatchSystem, 0}
			}
			return false, v.taken[n]
		}
	}
	return true, holder{}
}

// take notes that a job is being given the nodes: nothing else decided in this cycle may have them.
func (v *sight) take(names []string, job core.JobID) {
	for _, name := range names {
		if n, ok := v.index[name]; ok {
			v.taken[n] = holder{managed.LateShrinker, job}
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

// seconds is a planned second as an instant.
func seconds(t core.Time) time.Time { return time.Unix(t, 0) }
