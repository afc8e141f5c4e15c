package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// DefaultSizes is the sizing of a live cluster that names none, and DefaultPass the policy of OAR's pass.
const (
	DefaultSizes = "share"
	DefaultPass  = Default + "+" + DefaultSizes
)

// earliest is the sizing that is none: it lets every job have all that it listed.
const earliest = "earliest"

// Live gives the policy of a name for a live cluster, whose evolving jobs are placed by the algorithm.
func Live(name string, a ep.Algorithm) (sched.Policy, error) {
	for _, e := range table {
		if e.name == name && e.live {
			return e.make(a, sched.FirstCome), nil
		}
	}
	base, _, sized := strings.Cut(name, plusSizing[:1])
	if kind, _, _ := strings.Cut(base, ":"); sized && slices.Contains(LiveNames(), kind) {
		return nil, fmt.Errorf("policy %s: on a live cluster sizes are said apart; take %s", core.Shown(name), base)
	}
	easy, err := patientNamed(name, sched.FirstCome)
	if err != nil {
		return nil, err
	}
	if _, is := easy.(sched.Patient); !is {
		return nil, fmt.Errorf("policy %s does not plan a live cluster; those that do: %s%s", core.Shown(name), strings.Join(LiveNames(), ", "), Hint(name, LiveNames()))
	}
	if a != (ep.Algorithm{Limit: ep.NoExpansion}) {
		return nil, fmt.Errorf("policy %s expands no step: take the algorithm noX, and no limit of expansion", core.Shown(name))
	}
	return easy, nil
}

// LiveNames are the names of those that plan a live cluster.
func LiveNames() []string {
	var all []string
	for _, e := range table {
		if e.live {
			all = append(all, e.name)
		}
	}
	for _, p := range patients {
		all = append(all, p.name)
	}
	return all
}

// IsLive says whether Live has a policy of the name.
func IsLive(name string) bool {
	_, err := Live(name, ep.Algorithm{Limit: ep.NoExpansion})
	return err == nil
}

// WithSizes is a policy of a live cluster (Live) that sizes moldable jobs by a rule of package sizing.
func WithSizes(p sched.Policy, sizes string) (sched.Policy, error) {
	rule, _ := sizing.Named(sizes)
	if rule == nil {
		return nil, fmt.Errorf("sizes %s are not one of %s%s", core.Shown(sizes), strings.Join(sizing.Names(), ", "), Hint(sizes, sizing.Names()))
	}
	return withSizing(p, rule), nil
}

// withSizing is the policy with that sizing. Where it would have no effect there is none.
func withSizing(p sched.Policy, rule sizing.Sizing) sched.Policy {
	if _, none := rule.(sizing.Earliest); none {
		rule = nil
	}
	switch p := p.(type) {
	case sched.Repeated:
		p.Sizing = rule
		return p
	case sched.Patient:
		p.Sizing = rule
		return p
	}
	return p
}

// Patient is the parameters of a policy under which a few jobs have a reservation, and the others start when they fit. It is false of one
// under which everybody has a place.
func Patient(p sched.Policy) (sched.Patient, bool) {
	if named, is := p.(Policy); is {
		p = named.Policy
	}
	easy, is := p.(sched.Patient)
	return easy, is
}

// SizedAs is a policy of a live cluster that sizes moldable jobs by the rule of another policy.
func SizedAs(p, other sched.Policy) sched.Policy { return withSizing(p, SizingOf(other)) }

// Unsized is a policy of a live cluster without its sizing.
func Unsized(p sched.Policy) sched.Policy { return withSizing(p, nil) }

// SizingOf is the rule by which a policy sizes moldable jobs when they start; nil: they may have all that they list.
func SizingOf(p sched.Policy) sizing.Sizing {
	switch p := p.(type) {
	case Policy:
		return SizingOf(p.Policy)
	case sched.Repeated:
		return p.Sizing
	case sched.Patient:
		return p.Sizing
	case easy.EASY:
		return p.Sizing
	case easy.Traditional:
		return sizing.Reference{}
	}
	return nil
}

// FloorOf says below which size that rule gives nothing.
func FloorOf(p sched.Policy) sizing.Floor {
	switch p := p.(type) {
	case Policy:
		return FloorOf(p.Policy)
	case easy.EASY:
		return p.Floor
	case easy.Traditional:
		return sizing.AsListed
	}
	return sizing.HalfReference
}

// SizesOf is the name of that rule, as WithSizes reads it.
func SizesOf(p sched.Policy) string {
	rule := SizingOf(p)
	for _, name := range sizing.Names() {
		if named, _ := sizing.Named(name); reflect.TypeOf(named) == reflect.TypeOf(rule) {
			return name
		}
	}
	return earliest
}

// Pass gives the policy of a name for a scheduler that is called anew for each plan, and keeps nothing from one call to the next.
func Pass(name string) (Policy, error) {
	p, err := Named(name, sched.FirstCome)
	if err != nil {
		return p, err
	}
	switch p.Policy.(type) {
	case sched.Repeated, sched.Patient:
		p.Policy = withSizing(p.Policy, SizingOf(p))
		return p, nil
	case easy.EASY, easy.Traditional:
		return p, nil
	case easy.CirneBerman:
		return p, fmt.Errorf("policy %s fixes sizes when jobs are submitted, and is for replays only; take %s", core.Shown(name), DefaultPass)
	}
	return p, fmt.Errorf("policy %s does not size moldable jobs, and is for replays only; take %s", core.Shown(name), DefaultPass)
}

// Hint is "; did you mean NAME?" of the nearest name; "" when none is near.
func Hint(text string, names []string) string {
	if n := nearest(text, names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}
