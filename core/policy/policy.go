// Package policy has the names of all policies: for replays, for a live cluster, and for the scheduler that OAR
// calls. A new policy is one more line in its table. core/sched implements them.
//
//	easy, err := policy.Named("easy", sched.FirstCome)
//	live, err := policy.Live("repeated", algorithm)
package policy

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Policy is a sched.Policy with its name.
type Policy struct {
	Name string // as Named reads it
	sched.Policy
	AsRequested bool // treats every job as rigid: Size nodes for Request seconds
}

// String returns the policy's name.
func (p Policy) String() string { return p.Name }

// entry is a line of the table.
type entry struct {
	name string
	help string // one line
	// asRequested: the policy treats every job as requested, so it cannot plan a live cluster, whose jobs evolve.
	asRequested bool
	algorithm   bool // takes an algorithm of package ep: NAME:ALG
	live        bool // plans a live cluster: it keeps promises, guards and margins
	make        func(a ep.Algorithm, order sched.Order) sched.Policy
}

// Default is the policy of a live cluster that configures none.
const Default = "repeated"

var table = []entry{
	{name: "fcfs", help: "first come, first served", asRequested: true,
		make: func(_ ep.Algorithm, o sched.Order) sched.Policy { return sched.EASY{Order: o, Strict: true} }},
	{name: "easy", help: "EASY back-filling", asRequested: true,
		make: func(_ ep.Algorithm, o sched.Order) sched.Policy { return sched.EASY{Order: o} }},
	{name: "conservative", help: "conservative back-filling", asRequested: true,
		make: func(_ ep.Algorithm, o sched.Order) sched.Policy { return rigid(o) }},
	{name: "repeated", help: "repeated back-filling, like the sidecar; a moldable job gets the size that ends first, which makes all jobs wait on a busy machine", live: true,
		make: func(a ep.Algorithm, o sched.Order) sched.Policy {
			return sched.Repeated{Limit: a.Limit, Compact: a.Compact, LeastWaste: a.LeastWaste, Order: o}
		}},
	{name: "evolving", help: "conservative back-filling that uses profiles, by an algorithm such as 2X+c", algorithm: true,
		make: func(a ep.Algorithm, o sched.Order) sched.Policy {
			return sched.Conservative{Algorithm: a, Order: o}
		}},
	{name: "moldable", help: "conservative back-filling; a moldable job gets the size that ends first, which makes all jobs wait on a busy machine",
		make: func(_ ep.Algorithm, o sched.Order) sched.Policy { return rigid(o) }},
}

func rigid(o sched.Order) sched.Policy {
	return sched.Conservative{Algorithm: ep.Algorithm{Rigid: true}, Order: o}
}

// shown returns the name for messages and help.
func (e entry) shown() string {
	if e.algorithm {
		return e.name + ":ALG"
	}
	return e.name
}

// Names returns the names of the policies, for messages and help.
func Names() []string {
	all := make([]string, len(table))
	for i, e := range table {
		all[i] = e.shown()
	}
	return slices.Concat(all, patientNames(), sizedNames())
}

// Words returns names for shell completion. These are the names that Names returns, without optional parts and
// with each algorithm or sizing rule filled in.
func Words() []string {
	var all []string
	for _, name := range Names() {
		name, _, _ = strings.Cut(name, "[")
		kinds := []string{""}
		base, takes := strings.CutSuffix(name, "ALG")
		if takes {
			kinds = ep.Names()
		} else if base, takes = strings.CutSuffix(name, "SIZING"); takes {
			kinds = sizing.Names()
		}
		for _, kind := range kinds {
			all = append(all, base+kind)
		}
	}
	return all
}

// Help returns a line of help for each policy.
func Help() string {
	var text strings.Builder
	for _, e := range table {
		text.WriteString(line(e.shown(), e.help))
	}
	return text.String() + patientHelp() + sizedHelp()
}

// Rigid returns the names of the policies that treat every job as rigid.
func Rigid() (names []string) {
	for _, e := range table {
		if e.asRequested {
			names = append(names, e.name)
		}
	}
	return names
}

// line formats a line of help.
func line(name, help string) string { return fmt.Sprintf("  %-16s %s\n", name, help) }

// Named returns the policy with a name and queue order. Its error lists the known names and suggests the nearest name.
func Named(name string, order sched.Order) (Policy, error) {
	kind, algorithm, has := strings.Cut(name, ":")
	for _, e := range table {
		if e.name != kind || e.algorithm != has {
			continue
		}
		var a ep.Algorithm
		if has {
			var err error
			if a, err = ep.ParseAlgorithm(algorithm); err != nil {
				return Policy{}, fmt.Errorf("policy %s: %w", core.Shown(name), err)
			}
		}
		return Policy{name, e.make(a, order), e.asRequested}, nil
	}
	if made, err := patientNamed(name, order); made != nil || err != nil {
		return Policy{Name: name, Policy: made}, err
	}
	if made, err := sizedNamed(name, order); made != nil || err != nil {
		return Policy{Name: name, Policy: made}, err
	}
	hint := ""
	if n := nearest(name, append(Names(), written()...)); n != "" {
		hint = "; did you mean " + n + "?"
	}
	return Policy{}, fmt.Errorf("policy %s is not one of %s%s", core.Shown(name), strings.Join(Names(), ", "), hint)
}

// RigidOnly reports whether a policy treats every job as requested.
func RigidOnly(p sched.Policy) bool {
	switch p := p.(type) {
	case Policy:
		return p.AsRequested || RigidOnly(p.Policy)
	case sched.EASY:
		return true
	}
	return false
}
