package workload

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
)

// WhatIf supposes that a share of a workload's rigid jobs had said more about themselves: how their need changes while they
// run (evolving), or how fast they would be on other sizes (moldable).
//
// Who is drawn depends on the seed and the job's number alone: the same jobs whatever else is selected, and a larger share
// contains a smaller one. A drawn job that cannot evolve (one node, or too short for steps of a second) stays as it is.
//
// An evolving job works through its profile in its run time; what it asked for beyond that, as nearly every user does, it
// adds to the last step. The baseline runs it as a rigid job of its peak (Job.Size) for the same time (Job.Request): with
// SamePeak, that is the log's own job.
type WhatIf struct {
	Evolving float64 // the share of jobs that get a profile, 0 to 1
	Shape    Shape   // of their profiles
	Same     Same    // what their profiles keep of the log's jobs
	Moldable float64 // the share of jobs, others than those, that become moldable
	Curve    Curve   // how fast these are on other sizes
	Offer    Offer   // which sizes they list
	Seed     uint64
}

// Shape is how an evolving job's need goes up and down.
type Shape uint8

// The shapes. Heights are shares of the peak, rounded up to nodes; steps are equally long but for PreMainPost and Random.
const (
	RampUp      Shape = iota // 1/4, 2/4, 3/4, 4/4
	RampDown                 // 4/4, 3/4, 2/4, 1/4
	Mountain                 // 1/3, 2/3, 3/3, 2/3, 1/3
	PreMainPost              // 1/4 for 15 % of the time, the peak for 70 %, 1/4 for 15 %
	Random                   // 2 to 6 steps of random lengths and heights, one of them the peak
	shapes
)

var shapeNames = [shapes]string{RampUp: "ramp-up", RampDown: "ramp-down", Mountain: "mountain", PreMainPost: "pre-main-post", Random: "random"}

// ShapeNames are the names of all shapes.
func ShapeNames() []string { return shapeNames[:] }

// ParseShape reads a name of ShapeNames.
func ParseShape(text string) (Shape, error) {
	at, err := named("shape", text, shapeNames[:])
	return Shape(at), err
}

// named is the place of a name among others.
func named(what, text string, names []string) (int, error) {
	at := slices.Index(names, text)
	if at < 0 {
		return 0, fmt.Errorf("%s %s is not one of %s", what, core.Shown(text), strings.Join(names, ", "))
	}
	return at, nil
}

// Same is what a profile keeps of the job that it is made from.
type Same uint8

// What is kept.
const (
	SamePeak Same = iota // the log's size is the peak: the job needs less than it held
	SameArea             // the work is that of the log: the peak is higher, at most the machine
)

// ParseSame reads "peak" or "area".
func ParseSame(text string) (Same, error) {
	switch text {
	case "peak":
		return SamePeak, nil
	case "area":
		return SameArea, nil
	}
	return 0, fmt.Errorf("%s is neither peak nor area", core.Shown(text))
}

// Supposed says what became of the jobs that were drawn.
type Supposed struct {
	Evolving int // have a profile
	Moldable int // have several sizes
	AsBefore int // were drawn, and stay rigid: too small or too short to evolve
}

// Apply makes the change to a workload's rigid jobs; others stay as they are.
func (x WhatIf) Apply(w *Workload) Supposed {
	var done Supposed
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.Kind() != Rigid {
			continue
		}
		d := dice(x.Seed, j.Number)
		switch drawn := d.Share(); {
		case drawn >= x.Evolving+x.Moldable:
		case drawn >= x.Evolving:
			if x.mold(j, w.Machine.Nodes, &d) {
				done.Moldable++
			} else {
				done.AsBefore++
			}
		default:
			if x.evolve(j, w.Machine.Nodes, &d) {
				done.Evolving++
			} else {
				done.AsBefore++
			}
		}
	}
	return done
}

// evolve gives a job a profile; false: it is too small or too short for one.
func (x WhatIf) evolve(j *Job, machine int, d *draw) bool {
	phases := x.Shape.phases(d)
	run, peak := j.Run, j.Size
	if x.Same == SameArea {
		run, peak = sameArea(j, phases, machine)
	}
	ep := phases.over(run, peak)
	if len(ep) < 2 || ep.Peak() < peak {
		return false
	}
	j.Request += run - j.Run
	j.Run, j.Size = run, peak
	j.Choices = []core.EP{lasting(ep, j.Request)}
	return true
}

// sameArea is for how long, and with which peak, phases make the work that a rigid job does. The peak is the one that the
// mean height asks for, at most the machine; then the run time makes up for rounding: the work is at least the job's, and a second
// less would not do.
func sameArea(j *Job, p phases, machine int) (run core.Time, peak int) {
	mean := p.mean()
	peak = min(int((Factor(j.Size)*one+mean/2)/mean), machine)
	work := int64(j.Size) * j.Run
	// No height is below a tenth of a peak that is no less than the size.
	low, high := core.Time(0), 10*j.Run
	for low+1 < high {
		if middle := (low + high) / 2; p.area(middle, peak) < work {
			low = middle
		} else {
			high = middle
		}
	}
	return high, peak
}
