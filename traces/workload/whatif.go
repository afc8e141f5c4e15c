package workload

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
)

// WhatIf turns a share of a workload's rigid jobs into evolving jobs (their size changes while they run) and moldable jobs (they can run on
// other sizes).
//
// Which jobs are drawn depends only on the seed and the job's number. It does not depend on the other jobs, and a larger share includes the
// jobs of a smaller one. A drawn job that cannot evolve (one node, or too short for steps of a second) stays as it is.
//
// An evolving job finishes its profile in its run time. Nearly every user requests more time than the run time: this additional time is added
// to the last step. The baseline runs the job as a rigid job of its peak (Job.Size) for the same time (Job.Request). With SamePeak this rigid
// job is the log's own job.
type WhatIf struct {
	Evolving float64 // share of jobs that become evolving, 0 to 1
	Shape    Shape   // shape of the evolving jobs' profiles
	Same     Same    // what evolving jobs have in common with the log's jobs
	Moldable float64 // share of jobs that become moldable; no such job becomes evolving
	Curve    Curve   // speed-up of the moldable jobs
	Offer    Offer   // sizes that the moldable jobs list

	Malleable MalleableJobs // the malleable jobs, which are drawn first; Evolving and Moldable are shares of all jobs, too

	Seed uint64
}

// Shape is how the size of an evolving job changes.
type Shape uint8

// The shapes. Heights are shares of the peak, rounded up to nodes. Steps are equally long, except for PreMainPost and Random.
const (
	RampUp      Shape = iota // 1/4, 2/4, 3/4, 4/4
	RampDown                 // 4/4, 3/4, 2/4, 1/4
	Mountain                 // 1/3, 2/3, 3/3, 2/3, 1/3
	PreMainPost              // 1/4 for 15 % of the time, the peak for 70 %, 1/4 for 15 %
	Random                   // 2 to 6 steps of random lengths and heights, one of them the peak
	shapes
)

var shapeNames = [shapes]string{RampUp: "ramp-up", RampDown: "ramp-down", Mountain: "mountain", PreMainPost: "pre-main-post", Random: "random"}

// ShapeNames returns the names of all shapes.
func ShapeNames() []string { return shapeNames[:] }

// ParseShape parses a name of ShapeNames.
func ParseShape(text string) (Shape, error) {
	at, err := named("shape", text, shapeNames[:])
	return Shape(at), err
}

// named returns the index of a name.
func named(what, text string, names []string) (int, error) {
	at := slices.Index(names, text)
	if at < 0 {
		return 0, fmt.Errorf("%s %s is not one of %s", what, core.Shown(text), strings.Join(names, ", "))
	}
	return at, nil
}

// Same is what an evolving job has in common with the log's job.
type Same uint8

// What is the same.
const (
	SamePeak Same = iota // the log's size is the peak: the job needs less than in the log
	SameArea             // the node-seconds are as in the log: the peak is larger, but at most the machine
)

// ParseSame parses "peak" or "area".
func ParseSame(text string) (Same, error) {
	switch text {
	case "peak":
		return SamePeak, nil
	case "area":
		return SameArea, nil
	}
	return 0, fmt.Errorf("%s is neither peak nor area", core.Shown(text))
}

// Supposed counts the jobs that were drawn.
type Supposed struct {
	Evolving  int // number of jobs that became evolving
	Moldable  int // number of jobs that became moldable
	Malleable int // number of jobs that became malleable
	AsBefore  int // number of jobs that stay rigid because they are too small or too short to evolve
}

// Apply changes a workload's rigid jobs. Other jobs stay as they are.
func (x WhatIf) Apply(w *Workload) Supposed {
	var done Supposed
	for i := range w.Jobs {
		j := &w.Jobs[i]
		if j.Kind() != Rigid {
			continue
		}
		if x.Malleable.draws(x.Seed, j.Number) {
			x.Malleable.apply(j, w.Machine.Nodes, x.Seed)
			done.Malleable++
			continue
		}
		d := jobStream(x.Seed, j.Number)
		switch drawn := d.Share() * (1 - x.Malleable.Share); {
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

// evolve gives a job a profile. It returns false if the job is too small or too short for one.
func (x WhatIf) evolve(j *Job, machine int, d *stream) bool {
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
	j.Choices = []core.EP{withTotal(ep, j.Request)}
	return true
}

// sameArea returns the run time and the peak with which the phases have the area of a rigid job. The peak follows from the mean height, but
// is at most the machine. Then the run time is the shortest one whose area is at least the job's.
func sameArea(j *Job, p phases, machine int) (run core.Time, peak int) {
	mean := p.mean()
	peak = min(int((Factor(j.Size)*one+mean/2)/mean), machine)
	work := int64(j.Size) * j.Run
	// No height is below a tenth of the peak, and the peak is at least the size.
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
