// Package sizing decides how many nodes a moldable job may get.
//
//	sizes := sizing.New(job, sizing.HalfReference)
//	factor := sizing.Share{}.Factor(&world, sizes)
//	lo, hi, ok := sizes.Range(factor, world.Machine) // the job may have sizes.Steps[lo] to sizes.Steps[hi]
//
// The package has no state and no clock. Its caller passes the running and waiting jobs in a World, which sched.SystemLoad makes.
// A World also has memory for sums over these jobs (World.Settle). core/sched and core/sizing/easy decide when a job starts, and
// on which of its permitted sizes.
//
// sizes.go has the sizes of one job. share.go and load.go are the rules that look at all jobs. sums.go adds up
// running and waiting jobs for Load. statistics.go and forecast.go describe jobs that are still to come, and
// arrivals.go reads and writes files of these statistics.
package sizing

import (
	"math"

	"accordion/core"
)

// Sizing is a rule for the sizes of moldable jobs.
type Sizing interface {
	// Factor returns how many times its reference a job may get now. 0 means its floor, +Inf means any size that it listed.
	Factor(w *World, s *Sizes) float64
	// Filling returns the sizes at which jobs are back-filled.
	Filling() Filling
}

// Filling is the set of sizes at which a job may be back-filled.
type Filling uint8

// The ways to back-fill.
const (
	AtTarget Filling = iota // at its target
	UpTo                    // any size from the floor to the target, the largest that fits
	AsHead                  // the target that results from the factor of the head of the queue
)

// World is the information on which a sizing rule decides.
type World struct {
	Now     core.Time
	Machine int // nodes
	Demand
	Running []Holding
	Waiting []*Sizes  // sizes of the waiting jobs, in order of submission
	Learned *Forecast // forecast of jobs to come; nil if there is none

	sums *sums // reused by the calls after Settle; nil before the first Settle
}

// Holding is the nodes that a running job holds until its requested end.
type Holding struct {
	Nodes int
	End   core.Time
}

// Demand has sums over the running and waiting jobs: the nodes that they hold, and their references.
type Demand struct {
	Held       int64 // sum of the nodes of running jobs
	Wanted     int64 // sum of the references of waiting jobs
	Jobs       int64 // number of running and waiting jobs
	References int64 // sum of the references of all these jobs; if a reference is unknown, the nodes that the job holds count
}

// Waits adds (by = 1) or removes (by = -1) a waiting job.
func (d *Demand) Waits(s *Sizes, by int64) {
	d.Wanted += by * int64(s.Nodes)
	d.Jobs += by
	d.References += by * int64(s.Nodes)
}

// Holds adds (by = 1) or removes (by = -1) a running job that holds the given nodes.
func (d *Demand) Holds(nodes, reference int, by int64) {
	d.Held += by * int64(nodes)
	d.Jobs += by
	d.References += by * int64(reference)
}

// Reference gives every job the size of its reference.
type Reference struct{}

// Least gives every job its floor.
type Least struct{}

// Earliest lets every job have the largest size that it listed.
type Earliest struct{}

var _, _, _, _, _ Sizing = Reference{}, Least{}, Earliest{}, Share{}, Load{}

// Factor implements Sizing.
func (Reference) Factor(*World, *Sizes) float64 { return 1 }

// Filling implements Sizing.
func (Reference) Filling() Filling { return AtTarget }

// Factor implements Sizing.
func (Least) Factor(*World, *Sizes) float64 { return 0 }

// Filling implements Sizing.
func (Least) Filling() Filling { return AtTarget }

// Factor implements Sizing.
func (Earliest) Factor(*World, *Sizes) float64 { return math.Inf(1) }

// Filling implements Sizing.
func (Earliest) Filling() Filling { return AtTarget }

// named lists the sizing rules with their names, as users write them, and a line of help.
var named = []struct {
	name, help string
	sizing     Sizing
}{
	{"reference", "the size with the smallest nodes x time^2", Reference{}},
	{"least", "the floor: half of the reference", Least{}},
	{"earliest", "the size that ends first, however large", Earliest{}},
	{"load", "by the load of the machine over the job's run time (SCOJO-P)", Scojo()},
	{"share", "the job's part of the machine, by the root of its reference", Share{}},
}

// Names returns the names of the sizing rules.
func Names() []string {
	all := make([]string, len(named))
	for i := range named {
		all[i] = named[i].name
	}
	return all
}

// Named returns the sizing rule with a name and its help line, or nil if there is none.
func Named(name string) (Sizing, string) {
	for _, n := range named {
		if n.name == name {
			return n.sizing, n.help
		}
	}
	return nil, ""
}
