package view

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// Queue is what `accordion queue` and `accordion explain` show: every job of the pool and its place
// in the plan. The loop writes the queue to the journal whenever the queue has changed. Status.At is
// the time of the newest reading for which the loop checked that.
type Queue struct {
	At        core.Time   `json:"at"` // Unix second of the cycle in which the queue last changed
	Cluster   string      `json:"cluster"`
	Nodes     int         `json:"nodes"`                // number of nodes in the pool
	Away      int         `json:"away"`                 // number of nodes of the pool that are down, drained or unknown
	AwayNodes []AwayNodes `json:"away_nodes,omitempty"` // the nodes that are away, grouped by reason
	Lead      core.Time   `json:"lead"`                 // number of seconds; a job is due if its planned start is at most that far away
	Approach  core.Time   `json:"approach,omitempty"`   // number of seconds by which managed jobs must end before a reservation of others begins; absent if there is no such reservation
	Closures  []Closure   `json:"closures"`             // reservations that others made over nodes of the pool
	Sizing    []Sizing    `json:"sizing,omitempty"`     // one element for each machine in the pool; absent if no rule limits the sizes of moldable jobs
	Usage     *Usage      `json:"usage,omitempty"`      // absent if nothing was counted yet
	Jobs      []Entry     `json:"jobs"`                 // first jobs that hold nodes, ordered by start, then jobs in the plan's queue, ordered by rank, then the others
}

// Same reports whether the nodes, closures, sizing, usage and jobs are equal.
func (q *Queue) Same(o *Queue) bool {
	return q.Nodes == o.Nodes && q.Away == o.Away && slices.Equal(q.AwayNodes, o.AwayNodes) &&
		slices.EqualFunc(q.Closures, o.Closures, Closure.Same) && slices.Equal(q.Sizing, o.Sizing) && q.Usage.Same(o.Usage) &&
		slices.EqualFunc(q.Jobs, o.Jobs, func(a, b Entry) bool { return a.Same(&b) })
}

// AwayNodes are nodes of the pool that are away for the same reason.
type AwayNodes struct {
	Nodes string `json:"nodes"` // the nodes, as a host list
	Why   string `json:"why"`   // the batch system's reason, such as "IDLE+DRAIN: fan"
}

// AwayOf groups nodes by reason, in the order in which the reasons first appear.
func AwayOf(nodes []adapter.Node) (all []AwayNodes) {
	var reasons []string
	of := map[string][]string{}
	for _, n := range nodes {
		if len(of[n.Why]) == 0 {
			reasons = append(reasons, n.Why)
		}
		of[n.Why] = append(of[n.Why], n.Name)
	}
	for _, why := range reasons {
		all = append(all, AwayNodes{hostlist.Compact(of[why]), why})
	}
	return all
}

// Closure is a reservation of others over nodes of the pool, from Start to End (Unix seconds).
type Closure struct {
	Name  string    `json:"name"`
	Nodes int       `json:"nodes"`
	Start core.Time `json:"start"`
	End   core.Time `json:"end"` // Unix second; core.Forever if the reservation has no end
	// Repeats is the batch system's name for how the reservation repeats, such as DAILY. Later lists
	// the times at which the reservation is in force again. Both are absent if the reservation does
	// not repeat.
	Repeats string         `json:"repeats,omitempty"`
	Later   []adapter.Span `json:"later,omitempty"`
}

// Same reports whether all fields are equal.
func (c Closure) Same(o Closure) bool {
	return c.Name == o.Name && c.Nodes == o.Nodes && c.Start == o.Start && c.End == o.End && c.Repeats == o.Repeats && slices.Equal(c.Later, o.Later)
}

// Spans returns all times at which the reservation is in force.
func (c Closure) Spans() []adapter.Span {
	return adapter.Reservation{Start: c.Start, End: c.End, Later: c.Later}.Spans()
}

// Entry is one job of the pool, ordinary or managed.
type Entry struct {
	ID        core.JobID `json:"id"`
	Submitted core.Time  `json:"submitted"` // Unix seconds
	User      string     `json:"user"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`              // ordinary, evolving, moldable, delegated
	Phase     string     `json:"phase"`             // as in Job for a managed job; waiting, held, blocked, running or ending for an ordinary job
	Request   string     `json:"request,omitempty"` // the request of a managed job
	Rank      int        `json:"rank,omitempty"`    // the job's place among the waiting jobs, from 1; 0 if the job is not in the plan's queue
	Nodes     string     `json:"nodes,omitempty"`   // host list of the nodes that the job holds
	Size      int        `json:"size"`              // number of nodes that the job holds, or on which it would start
	Start     core.Time  `json:"start,omitempty"`   // actual or planned start, Unix seconds; 0 if there is none
	// End is the Unix second at which the job ends: the promised or planned end of a managed job,
	// or the end of another job's time limit. 0 means not known.
	End core.Time `json:"end,omitempty"`
	// Free is the Unix second from which the plan counts the job's last node as free. For an
	// ordinary job, Free is later than End, because the batch system may take some time to start and
	// end the job. 0 means never.
	Free core.Time `json:"free,omitempty"`
	Step int       `json:"step,omitempty"` // step of a running managed job, from 1
	Plan core.EP   `json:"plan,omitempty"` // scheduled profile of a managed job, from Start
	Why  string    `json:"why,omitempty"`  // why the job waits: the sidecar's reason for a managed job, the batch system's reason for an ordinary job
	// Machine is the index of the entry in Queue.Sizing that applies to a waiting moldable job, and
	// Sized is the result of the sizing rule. Both are absent if no rule limits the job's size.
	Machine int           `json:"machine,omitempty"`
	Sized   *AllowedSizes `json:"sized,omitempty"`
	// Head is the head of the queue, if the sizing rule gives this job the same fraction of its
	// reference size as the head. It is 0 if the rule computes the job's own fraction.
	Head core.JobID `json:"head,omitempty"`
	// Turn is Reserved or Unreserved for a waiting job, under policies that reserve nodes for few
	// jobs only. It is "" under other policies, and for jobs that the batch system plans. Due is the
	// Unix second from which the job may receive a reservation. Jobs with an earlier Due come first.
	// If Due is 0, the job may receive a reservation at any time.
	Turn    string    `json:"turn,omitempty"`
	Due     core.Time `json:"due,omitempty"`
	Choices string    `json:"choices,omitempty"` // sizes among which the batch system chooses for an ordinary job: 4x2h|8x70m
	// Grows and Limit are as in Job, and are set for managed jobs only. Priority and Parts are as Priority and Rank in Job, and are set
	// for all waiting jobs.
	Grows string `json:"grows,omitempty"`
	Limit *Limit `json:"limit,omitempty"`
	// Deadline and Latest are as in Job, for waiting managed jobs.
	Deadline core.Time `json:"deadline,omitempty"`
	Latest   core.Time `json:"latest,omitempty"`
	// Unreserved means that no nodes are reserved ahead for the later steps of a managed job, because of [limits] unused.
	Unreserved bool               `json:"unreserved,omitempty"`
	Priority   int64              `json:"priority,omitempty"`
	Parts      []adapter.RankPart `json:"parts,omitempty"`
}

// NoPlace begins the Why of a managed job without a planned start.
const NoPlace = "no place in the plan"

// TooLate begins the Why of a job that cannot start by its deadline.
const TooLate = NoPlace + " by its deadline"

// Booting begins the Why of a managed job whose nodes are powered down or booting.
const Booting = "nodes that boot"

// The values of Entry.Turn.
const (
	Reserved   = "reserved"   // the job has a planned start later than now
	Unreserved = "unreserved" // the job has no reservation, and starts when enough nodes are free; if it has a planned start, it can start now
)

// Key returns the key of the job.
func (e *Entry) Key() adapter.Key { return adapter.Key{ID: e.ID, Submitted: e.Submitted} }

// Holds reports whether the job holds nodes, or is being started.
func (e *Entry) Holds() bool { return e.Rank == 0 && e.Start > 0 }

// At returns how many nodes the job holds at the Unix second t, according to the plan of the second now.
func (e *Entry) At(t, now core.Time) int {
	switch {
	case e.Start == 0 || t < e.Start:
		return 0
	case e.Holds() && t <= now:
		return e.Size
	case len(e.Plan) > 0:
		return e.Plan.At(t - e.Start)
	case e.Free == 0 || t < e.Free:
		return e.Size
	}
	return 0
}

// Same reports whether all fields are equal. It does not use reflection, which would take longer than making the whole plan.
func (e *Entry) Same(o *Entry) bool {
	return e.ID == o.ID && e.Submitted == o.Submitted && e.User == o.User && e.Name == o.Name && e.Kind == o.Kind && e.Phase == o.Phase &&
		e.Request == o.Request && e.Rank == o.Rank && e.Nodes == o.Nodes && e.Size == o.Size &&
		e.Start == o.Start && e.End == o.End && e.Free == o.Free && e.Step == o.Step && e.Why == o.Why &&
		e.Machine == o.Machine && e.Sized.Same(o.Sized) && e.Head == o.Head && e.Turn == o.Turn && e.Due == o.Due && e.Choices == o.Choices &&
		e.Grows == o.Grows && e.Limit.Same(o.Limit) && e.Deadline == o.Deadline && e.Latest == o.Latest &&
		e.Unreserved == o.Unreserved && e.Priority == o.Priority && slices.Equal(e.Plan, o.Plan) && slices.Equal(e.Parts, o.Parts)
}

// NodesWord returns a number of nodes as a text: "1 node" or "3 nodes".
func NodesWord(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// Somebody replaces the names of users if other users' jobs are private.
const Somebody = "somebody"

// Anonymize removes from the entry what identifies the job's user.
func (e *Entry) Anonymize() {
	e.User, e.Name, e.Why, e.Parts, e.Priority, e.Limit = Somebody, "", "", nil, 0, nil
}

// Anonymize removes from the closure what identifies its owner.
func (c *Closure) Anonymize() { c.Name = "of somebody" }
