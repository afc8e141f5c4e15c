package adapter

import (
	"context"
	"time"

	"accordion/core"
)

// Auditor is a BatchSystem from which `accordion audit` reads what exists now and what accounting recorded. Its methods change nothing.
type Auditor interface {
	// CurrentState reads what exists now.
	CurrentState(ctx context.Context) (*CurrentState, error)
	// Accounting reads what accounting recorded about all jobs that held nodes at or after the Unix second `since`.
	Accounting(ctx context.Context, since core.Time) (*Accounting, error)
}

// CurrentState is what exists in a batch system at one instant.
type CurrentState struct {
	At           time.Time
	Jobs         []Job         // all jobs that have not ended; Expands is set in a job that was made for another job
	Companions   []core.JobID  // the jobs in Jobs that are companions, which are never merged into the job that they were made for
	Exclusive    []string      // partitions in which jobs do not share nodes
	Nodes        []Node        // the pool, and no other node
	Reservations []Reservation // all reservations, whether Accordion or others made them
	Kept         []Leftover    // other things that Accordion keeps for single jobs
}

// Leftover is something that Accordion keeps for one job and must remove after the job's end.
type Leftover struct {
	What string    // "hosts file", "place", "cpuset"
	Name string    // a path or a host
	Job  Key       // `Submitted` is 0 if the time of submission is not known
	Age  core.Time // seconds since the leftover was last written; 0 if not known
	Fix  string    // the command that removes the leftover
}

// Accounting is what a batch system's accounting recorded.
type Accounting struct {
	Jobs   []AccountedRun
	Grain  core.Time // the times may be wrong by this many seconds
	Unread int       // rows that could not be read
	Why    string    // why the first unread row could not be read; "" if all were read

	// Hours has the sums that accounting itself computes for each user and each full hour (sreport),
	// added up from HoursFrom to HoursTo. Hours is empty if accounting computes no such sums, or if
	// there was no full hour since the second passed to Auditor.Accounting.
	Hours              map[string]float64 // node-seconds by user
	HoursFrom, HoursTo core.Time
}

// AccountedRun is one run of a job as accounting recorded it.
type AccountedRun struct {
	Key        // `Submitted` is from the first row of the run
	Name, User string
	Partition  string
	Expands    core.JobID // the job for which this expander or companion was made; 0 for other jobs
	Stays      bool       // a companion, which is never merged
	Starts     bool       // a companion that was made for the job's start
	Alone      bool       // no other job may use its nodes at the same time
	Suspended  bool       // the job was suspended for some time, and other jobs may have used its nodes meanwhile
	State      string     // the state in the run's last row
	Open       bool       // accounting has no end time for the run
	Merged     bool       // an expander whose nodes were merged into its job
	Dangling   bool       // the run is of a merged expander, and has a row without nodes and without an end
	Holds      []Hold     // ordered by time; while the job runs, the last Hold ends at the time of the reading
	Sum        float64    // node-seconds that accounting itself computed for the run
	Rows       int        // rows in accounting: one more than the number of resizes
	Lost       int        // sizes missing in accounting, because the size changed twice in one second
	Twice      []string   // steps recorded twice
}

// Hold is a set of nodes that a job held from one Unix second until just before another.
type Hold struct {
	Nodes    []string
	From, To core.Time
}

// NodeSeconds returns the sum, over all nodes, of the seconds for which the job held the node.
func (b AccountedRun) NodeSeconds() (sum core.Time) {
	for _, h := range b.Holds {
		sum += core.Time(len(h.Nodes)) * (h.To - h.From)
	}
	return sum
}
