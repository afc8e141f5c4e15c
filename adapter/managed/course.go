package managed

import (
	"accordion/core"
)

// A Course is a job's place in the plan: its start, and its nodes by name.
type Course struct {
	Start  core.Time
	Choice int
	EP     core.EP
	Layers []Layer
	Err    error // why no nodes could be named; nil if nodes were named
}

// A Layer is a part of a course: nodes that the job receives at the same step and releases at the
// same time.
type Layer struct {
	From, To core.Time
	Step     int // index of the step in the job's profile
	Nodes    []string
}

// Added returns the nodes that the step adds, in all its layers.
func (c *Course) Added(step int) []string {
	var all []string
	for _, l := range c.Layers {
		if l.Step == step {
			all = append(all, l.Nodes...)
		}
	}
	return all
}

// Begins returns the second in which the step begins, and core.Forever if the step adds no nodes.
func (c *Course) Begins(step int) core.Time {
	for _, l := range c.Layers {
		if l.Step == step {
			return l.From
		}
	}
	return core.Forever
}
