package view

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// Queue is what `accordion queue` and `accordion explain` show: every job of the pool and its place in the plan. The loop
// writes it to the journal when it changed; how fresh it is, View.At says.
type Queue struct {
	At        core.Time   `json:"at"` // Unix second of the cycle in which it changed last
	Cluster   string      `json:"cluster"`
	Nodes     int         `json:"nodes"`                // of the pool
	Away      int         `json:"away"`                 // of these: down, drained or unknown
	AwayNodes []AwayNodes `json:"away_nodes,omitempty"` // which those are, and why; absent where there are none
	Lead      core.Time   `json:"lead"`                 // seconds: a start planned within them is due
	Approach  core.Time   `json:"approach,omitempty"`   // seconds before a reservation of others by which a managed job is planned to have ended; absent where there is none
	Closures  []Closure   `json:"closures"`             // reservations that others made over nodes of the pool
	Sizing    []Sizing    `json:"sizing,omitempty"`     // of each machine of which the pool is made; absent where moldable jobs may have all that they list
	Usage     *Usage      `json:"usage,omitempty"`      // what users made of what was promised to their jobs; absent where nothing was counted yet
	Jobs      []Entry     `json:"jobs"`                 // those that hold nodes by their start, those in the plan by rank, then the others
}

// AwayNodes are nodes of the pool that are away for one reason.
type AwayNodes struct {
	Nodes string `json:"nodes"` // host list
	Why   string `json:"why"`   // the batch system's word, such as IDLE+DRAIN: fan
}

// AwayOf returns the nodes by reason, in the order in which the reasons come first.
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

// Closure keeps nodes of the pool from Start to End, Unix seconds, for whoever may use the reservation.
type Closure struct {
	Name  string    `json:"name"`
	Nodes int       `json:"nodes"`
	Start core.Time `json:"start"`
	End   core.Time `json:"end"` // core.Forever: no end
	// Repeats is the batch system's word for how it repeats, such as DAILY, and Later when it is in force again; absent where it does not.
	Repeats string         `json:"repeats,omitempty"`
	Later   []adapter.Span `json:"later,omitempty"`
}

// Same compares every field.
func (c Closure) Same(o Closure) bool {
	return c.Name == o.Name && c.Nodes == o.Nodes && c.Start == o.Start && c.End == o.End && c.Repeats == o.Repeats && slices.Equal(c.Later, o.Later)
}

// Spans returns all times at which it is in force.
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
	Phase     string     `json:"phase"`             // as JobView's; of ordinary jobs waiting, held, blocked, running, ending
	Request   string     `json:"request,omitempty"` // of a managed job
	Rank      int        `json:"rank,omitempty"`    // its place among those that wait, from 1; 0: the plan does not know it
	Nodes     string     `json:"nodes,omitempty"`   // host list of what it holds
	Size      int        `json:"size"`              // how many those are; while it waits, how many it would start on
	Start     core.Time  `json:"start,omitempty"`   // Unix seconds: began, or would begin as planned; 0: no place in the plan
	// End is the Unix second at which it is over: its limit's or, of a managed job, the promised or planned one. 0: not known.
	End core.Time `json:"end,omitempty"`
	// Free is the Unix second from which the plan counts on its last node: End, and what the batch system may take to
	// begin and to end an ordinary job. 0: never.
	Free core.Time `json:"free,omitempty"`
	Step int       `json:"step,omitempty"` // of a running managed job, from 1
	Plan core.EP   `json:"plan,omitempty"` // scheduled profile of a managed job, from Start
	Why  string    `json:"why,omitempty"`  // why it waits: the sidecar's word for a managed job, the batch system's for an ordinary one
	// Machine is which of Sizing holds for a waiting moldable job, and Sized what it may have by that; absent where it may have all
	// that it listed.
	Machine int    `json:"machine,omitempty"`
	Sized   *Sized `json:"sized,omitempty"`
	// Head is the job whose part of its reference this one gets, the head of the queue; 0: it has a part of its own.
	Head core.JobID `json:"head,omitempty"`
	// Turn is whether a job that waits has a place, where the policy gives one to a few only: Reserved or Unreserved; "" where everybody has one,
	// and of jobs that the batch system plans. Due is the Unix second from which on it may have one, behind those that are due before it;
	// 0: nobody has to wait for that.
	Turn    string    `json:"turn,omitempty"`
	Due     core.Time `json:"due,omitempty"`
	Choices string    `json:"choices,omitempty"` // of an ordinary job that is moldable to the batch system: 4x2h|8x70m
	// Grows and Limit are of a managed job, as JobView's; Priority and Parts of every one that waits.
	Grows string `json:"grows,omitempty"`
	Limit *Limit `json:"limit,omitempty"`
	// Deadline and Latest are of a managed job that waits, as JobView's.
	Deadline core.Time `json:"deadline,omitempty"`
	Latest   core.Time `json:"latest,omitempty"`
	// Unreserved marks a managed job for whose later steps no nodes are reserved ahead, by [limits]
	// unused.
	Unreserved bool               `json:"unreserved,omitempty"`
	Priority   int64              `json:"priority,omitempty"`
	Parts      []adapter.RankPart `json:"parts,omitempty"`
}

// NoPlace is how the reason of a managed job begins that has no place in the plan.
const NoPlace = "no place in the plan"

// TooLate begins the reason for which a job with a deadline has no place in the plan.
const TooLate = NoPlace + " by its deadline"

// What Turn says.
const (
	Reserved   = "reserved"   // it has a place in the plan, later than now
	Unreserved = "unreserved" // it starts when there is room for it, now if it has a place
)

// Key names the job for good.
func (e *Entry) Key() adapter.Key { return adapter.Key{ID: e.ID, Submitted: e.Submitted} }

// Holds says whether the job has nodes now, or is being started on them.
func (e *Entry) Holds() bool { return e.Rank == 0 && e.Start > 0 }

// At is how many nodes the job holds at the Unix second t, as planned at the second now.
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

// Same compares every field. (Reflection would cost more than the whole plan.)
func (e *Entry) Same(o *Entry) bool {
	return e.ID == o.ID && e.Submitted == o.Submitted && e.User == o.User && e.Name == o.Name && e.Kind == o.Kind &&
		e.Phase == o.Phase && e.Request == o.Request && e.Unreserved == o.Unreserved && e.Deadline == o.Deadline && e.Latest == o.Latest && e.Rank == o.Rank && e.Nodes == o.Nodes && e.Size == o.Size &&
		e.Start == o.Start && e.End == o.End && e.Free == o.Free && e.Step == o.Step && e.Why == o.Why && e.Grows == o.Grows &&
		e.Priority == o.Priority && e.Machine == o.Machine && e.Head == o.Head && e.Sized.Same(o.Sized) && e.Choices == o.Choices && e.Turn == o.Turn && e.Due == o.Due && (e.Limit == o.Limit || e.Limit != nil && o.Limit != nil && *e.Limit == *o.Limit) &&
		slices.Equal(e.Plan, o.Plan) && slices.Equal(e.Parts, o.Parts)
}

// NodesWord is "1 node", "3 nodes".
func NodesWord(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// Somebody takes the place of the name of each user where jobs are private.
const Somebody = "somebody"

// Anonymize removes from the entry what identifies the job's user.
func (e *Entry) Anonymize() {
	e.User, e.Name, e.Why, e.Parts, e.Priority, e.Limit = Somebody, "", "", nil, 0, nil
}

// Anonymize removes from the closure what identifies its owner.
func (c *Closure) Anonymize() { c.Name = "of somebody" }
