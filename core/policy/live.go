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

// DefaultSizes is the sizing rule of a live cluster that configures none. DefaultPass is the default policy of a
// scheduler that OAR calls.
const (
	DefaultSizes = "share"
	DefaultPass  = Default + "+" + DefaultSizes
)

// earliest is the name of the sizing rule that has no effect: every job may have all sizes that it listed.
const earliest = "earliest"

// Live returns the policy with the given name, for a live cluster. The policy places evolving jobs by the
// algorithm.
func Live(name string, a ep.Algorithm) (sched.Policy, error) {
	for _, e := range table {
		if e.name == name && e.live {
			return e.make(a, sched.FirstCome), nil
		}
	}
	base, _, sized := strings.Cut(name, plusSizing[:1])
	if kind, _, _ := strings.Cut(base, ":"); sized && slices.Contains(LiveNames(), kind) {
		return nil, fmt.Errorf("policy %s: on a live cluster, sizes are a separate setting; use %s", core.Shown(name), base)
	}
	easy, err := patientNamed(name, sched.FirstCome)
	if err != nil {
		return nil, err
	}
	if _, is := easy.(sched.Patient); !is {
		return nil, fmt.Errorf("policy %s does not plan a live cluster; those that do: %s%s", core.Shown(name), strings.Join(LiveNames(), ", "), Hint(name, LiveNames()))
	}
	if a != (ep.Algorithm{Limit: ep.NoExpansion}) {
		return nil, fmt.Errorf("policy %s expands no step: use the algorithm noX, and no expansion limit", core.Shown(name))
	}
	return easy, nil
}

// LiveNames returns the names of the policies for a live cluster.
func LiveNames() []string {
	var all []string
	for _, e := range table {
		if e.live {
			all = append(all, e.name)
		}
	}
	for _, p := range patients {
		if !p.resizes {
			all = append(all, p.name)
		}
	}
	return all
}

// IsLive reports whether Live accepts a name.
func IsLive(name string) bool {
	_, err := Live(name, ep.Algorithm{Limit: ep.NoExpansion})
	return err == nil
}

// WithSizes returns a policy of a live cluster (Live) that sizes moldable jobs by a rule of package sizing.
func WithSizes(p sched.Policy, sizes string) (sched.Policy, error) {
	rule, _ := sizing.Named(sizes)
	if rule == nil {
		return nil, fmt.Errorf("sizes %s are not one of %s%s", core.Shown(sizes), strings.Join(sizing.Names(), ", "), Hint(sizes, sizing.Names()))
	}
	return withSizing(p, rule), nil
}

// withSizing returns the policy with a sizing rule. If the rule has no effect, it returns the policy without a rule.
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

// Patient returns the parameters of a policy in which only a few waiting jobs have a reservation and the others start
// when they fit. It returns false for a policy in which every job has a place.
func Patient(p sched.Policy) (sched.Patient, bool) {
	if named, is := p.(Policy); is {
		p = named.Policy
	}
	easy, is := p.(sched.Patient)
	return easy, is
}

// SizedAs returns a policy of a live cluster that sizes moldable jobs by the rule of another policy.
func SizedAs(p, other sched.Policy) sched.Policy { return withSizing(p, SizingOf(other)) }

// Unsized returns a policy of a live cluster without its sizing rule.
func Unsized(p sched.Policy) sched.Policy { return withSizing(p, nil) }

// SizingOf returns the rule by which a policy sizes moldable jobs when they start, or nil if they may have all sizes
// that they list.
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

// FloorOf returns the floor of a policy's sizing rule: the smallest size that the rule chooses.
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

// SizesOf returns the name of a policy's sizing rule, as WithSizes reads it.
func SizesOf(p sched.Policy) string {
	rule := SizingOf(p)
	for _, name := range sizing.Names() {
		if named, _ := sizing.Named(name); reflect.TypeOf(named) == reflect.TypeOf(rule) {
			return name
		}
	}
	return earliest
}

// Pass returns the policy with the given name, for a scheduler that is started for each plan and keeps nothing
// between plans.
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

// Hint returns "; did you mean NAME?" with the nearest name, or "" if none is near.
func Hint(text string, names []string) string {
	if n := nearest(text, names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}
