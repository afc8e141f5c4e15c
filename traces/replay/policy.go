package replay

import (
	"fmt"
	"strings"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/queue"
)

// Policy is a queue.Policy with its name.
type Policy struct {
	Name string // as ParsePolicy reads it
	queue.Policy
	AsRequested bool // every job is rigid to it: Size nodes for Request seconds
}

// String is the policy's name.
func (p Policy) String() string { return p.Name }

// PolicyNames are the names of the policies, for messages and help.
func PolicyNames() []string {
	return []string{"fcfs", "easy", "conservative", "repeated", "evolving:ALG", "moldable"}
}

// ParsePolicy reads a policy's name:
//
//	fcfs          first come, first served
//	easy          EASY back-filling
//	conservative  conservative back-filling
//	moldable      the same, where a moldable job has the choice that completes first
//	evolving:ALG  the same, where an evolving job is placed by an algorithm of package evolve, such as 2X+c
//	repeated      repeated back-filling, as the sidecar does it; repeated:ALG with an algorithm that is not rigid
//
// The first three see every job as it was requested. The order is that of the queue. The error names the known ones, and the
// nearest to what was written.
func ParsePolicy(name string, order queue.Order) (Policy, error) {
	kind, algorithm, has := strings.Cut(name, ":")
	rigid := evolve.Algorithm{Rigid: true}
	switch {
	case name == "fcfs":
		return Policy{name, queue.FCFS{Order: order}, true}, nil
	case name == "easy":
		return Policy{name, queue.EASY{Order: order}, true}, nil
	case name == "conservative":
		return Policy{name, queue.Conservative{Algorithm: rigid, Order: order}, true}, nil
	case name == "moldable":
		return Policy{name, queue.Conservative{Algorithm: rigid, Order: order}, false}, nil
	case name == "repeated":
		return Policy{name, queue.Repeated{Order: order}, false}, nil
	case kind == "evolving" && has:
		a, err := evolve.ParseAlgorithm(algorithm)
		if err != nil {
			return Policy{}, fmt.Errorf("policy %s: %w", core.Shown(name), err)
		}
		return Policy{name, queue.Conservative{Algorithm: a, Order: order}, false}, nil
	}
	hint := ""
	if n := nearest(name, PolicyNames()); n != "" {
		hint = "; did you mean " + n + "?"
	}
	return Policy{}, fmt.Errorf("policy %s is not one of %s%s", core.Shown(name), strings.Join(PolicyNames(), ", "), hint)
}

// knowsRigidOnly says whether a policy is to see every job as it was requested.
func knowsRigidOnly(p queue.Policy) bool {
	switch p := p.(type) {
	case Policy:
		return p.AsRequested || knowsRigidOnly(p.Policy)
	case queue.FCFS, queue.EASY:
		return true
	}
	return false
}
