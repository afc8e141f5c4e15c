// Package sizing decides how many nodes a moldable job may get.
//
//	sizes := sizing.New(job, sizing.HalfReference)
//	factor := sizing.Share{}.Factor(&world, sizes)
//	lo, hi, ok := sizes.Range(factor, world.Machine) // it may have sizes.Steps[lo], up to sizes.Steps[hi]
//
// It keeps no memory and knows no clock. Its caller gives it what runs and what waits (sched.SystemLoad counts them), with room for
// the sums over them (World.Settle). When a job starts, and on which of these sizes, is decided by core/sched and core/sizing/easy.
//
// Files: sizes.go is one job; share.go and load.go are the rules that look at all of them; sums.go adds up for load what runs and
// waits; statistics.go and forecast.go are what it knows of jobs that are still to come, and arrivals.go is a file of that.
package sizing

import (
	"math"

	"accordion/core"
)

// Sizing is a rule for the sizes of moldable jobs.
type Sizing interface {
	// Factor is how many times its reference a job may get now. 0 is its floor, +Inf is all that it listed.
	Factor(w *World, s *Sizes) float64
	// Filling says at which sizes jobs are back-filled.
	Filling() Filling
}

// Filling says at which sizes a job may be back-filled.
type Filling uint8

// The ways to back-fill.
const (
	AtTarget Filling = iota // at its target
	UpTo                    // at any size from its floor to its target, the largest that fits
	AsHead                  // at the target that the factor of the head of the queue gives it
)

// World is what a sizing looks at.
type World struct {
	Now     core.Time
	Machine int // nodes
	Demand
	Running []Holding
	Waiting []*Sizes  // as they were submitted
	Learned *Forecast // of what is still to come; nil: nothing is known of it

	sums *sums // memory of a world that stays as it is (Settle); nil: there is none
}

// Holding is so many nodes that a running job has until its requested end.
type Holding struct {
	Nodes int
	End   core.Time
}

// Demand is what running and waiting jobs hold and want, in sums.
type Demand struct {
	Held       int64 // nodes of those that run
	Wanted     int64 // references of those that wait
	Jobs       int64 // that run and wait
	References int64 // of these; what a running job holds where its reference is not known
}

// Waits adds a waiting job, or takes one out: by is 1 or −1.
func (d *Demand) Waits(s *Sizes, by int64) {
	d.Wanted += by * int64(s.Nodes)
	d.Jobs += by
	d.References += by * int64(s.Nodes)
}

// Holds adds a running job of so many nodes, or takes one out: by is 1 or −1.
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

// named are the sizings by their names, as users write them, with a line of help.
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

// Names are the names of the sizings.
func Names() []string {
	all := make([]string, len(named))
	for i := range named {
		all[i] = named[i].name
	}
	return all
}

// Named is the sizing of a name, and what it is in a line; nil when there is none.
func Named(name string) (Sizing, string) {
	for _, n := range named {
		if n.name == name {
			return n.sizing, n.help
		}
	}
	return nil, ""
}
