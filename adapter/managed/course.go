package managed

import (
	"accordion/core"
)

// Course is a job's place in the plan, on nodes by name.
type Course struct {
	Start  core.Time
	Choice int
	EP     core.EP
	Layers []Layer
	Err    error // it has no nodes
}

// Layer is a rectangle of a job's course: the nodes that come with step and leave together.
type Layer struct {
	From, To core.Time
	Step     int // index in the job's profile
	Nodes    []string
}

// Added is the nodes that come with the step, in all its layers.
func (c *Course) Added(step int) []string {
	var all []string
	for _, l := range c.Layers {
		if l.Step == step {
			all = append(all, l.Nodes...)
		}
	}
	return all
}

// Begins is the second at which the step begins in the course.
func (c *Course) Begins(step int) core.Time {
	for _, l := range c.Layers {
		if l.Step == step {
			return l.From
		}
	}
	return core.Forever
}
