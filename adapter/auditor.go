package adapter

import (
	"context"
	"time"

	"accordion/core"
)

// An Auditor is a BatchSystem of which `accordion audit` reads what exists now and what accounting
// booked. Both calls change nothing.
type Auditor interface {
	// Standing reads what exists now.
	Standing(ctx context.Context) (*Standing, error)
	// Booked reads what accounting has of all jobs that held nodes at or after a Unix second.
	Booked(ctx context.Context, since core.Time) (*Books, error)
}

// Standing is what exists in a batch system at one instant.
type Standing struct {
	At           time.Time
	Jobs         []Job         // all that have not ended; one made for another job has Expands
	Companions   []core.JobID  // companions among them, which are never merged into their job
	Exclusive    []string      // partitions whose jobs are alone on their nodes
	Nodes        []Node        // the pool, and no other node
	Reservations []Reservation // all, Accordion's own and others
	Kept         []Kept        // whatever else Accordion keeps for single jobs
}

// A Kept is something that Accordion keeps for one job and has to remove after its end.
type Kept struct {
	What string    // "hosts file", "place", "cpuset"
	Name string    // which one: a path, a host
	Job  Key       // Submitted is 0 where that is not known
	Age  core.Time // seconds since it was last written; 0 where that is not known
	Fix  string    // the command that removes it
}

// Books are what accounting has.
type Books struct {
	Jobs   []Booked
	Grain  core.Time // seconds by which one of its times may differ from the truth
	Unread int       // rows that could not be read
	Why    string    // why not, for the first of them; "": all were read

	// What accounting has added up for each user in full hours (sreport). Empty where it adds
	// nothing up, or no full hour was asked for.
	Hours              map[string]float64 // node-seconds by user
	HoursFrom, HoursTo core.Time
}

// A Booked is one run of a job as accounting has it.
type Booked struct {
	Key        // Submitted is that of its first row
	Name, User string
	Partition  string
	Expands    core.JobID // the job for which it was allocated; 0: none
	Stays      bool       // it is a companion: it is never merged
	Starts     bool       // it is a companion that was made for the job's start
	Alone      bool       // no other job may be on its nodes
	Suspended  bool       // it was suspended for a while, in which others may have been there
	State      string     // of its last row
	Open       bool       // accounting knows no end of it
	Merged     bool       // an expander whose nodes became its job's
	Dangling   bool       // a merged expander has a row without nodes and without an end
	Holds      []Hold     // by time; one that lasts ends with the reading
	Sum        float64    // node-seconds that the accounting's own sums have for it
	Rows       int        // in accounting: one more than changes of size
	Lost       int        // sizes that accounting has no second of, because the size changed twice in one
	Twice      []string   // steps that accounting has twice
}

// A Hold is a set of nodes that a job held from one Unix second until just before another.
type Hold struct {
	Nodes    []string
	From, To core.Time
}

// NodeSeconds returns how long nodes were held, summed over the nodes.
func (b Booked) NodeSeconds() (sum core.Time) {
	for _, h := range b.Holds {
		sum += core.Time(len(h.Nodes)) * (h.To - h.From)
	}
	return sum
}
