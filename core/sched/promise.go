package sched

import (
	"accordion/core"
	"accordion/core/profile"
)

// Fits reports whether the allocations together never exceed the machine.
func Fits(m core.Machine, all []core.Allocation) bool {
	p := profile.New(m.Nodes)
	for _, a := range all {
		p.Add(a.Start, a.EP)
	}
	return p.Max(-core.Forever, core.Forever) <= p.Nodes()
}
