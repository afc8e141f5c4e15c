package policy

import (
	"fmt"
	"reflect"
	"strings"

	"accordion/core"
	"accordion/core/adapt"
	"accordion/core/adaptive"
	"accordion/core/queue"
)

// DefaultSizes is the sizing of a live cluster that names none, and DefaultPass the policy of OAR's pass.
const (
	DefaultSizes = "share"
	DefaultPass  = Default + "+" + DefaultSizes
)

// earliest is the sizing that is none: it lets every job have all that it listed.
const earliest = "earliest"

// WithSizes is a policy of a live cluster (Live) that sizes moldable jobs by a rule of package adapt.
func WithSizes(p queue.Policy, sizes string) (queue.Policy, error) {
	sizing, _ := adapt.Named(sizes)
	if sizing == nil {
		return nil, fmt.Errorf("sizes %s are not one of %s%s", core.Shown(sizes), strings.Join(adapt.Names(), ", "), Hint(sizes, adapt.Names()))
	}
	return withSizing(p, sizing), nil
}

// withSizing is the policy with that sizing. Where it would have no effect there is none.
func withSizing(p queue.Policy, sizing adapt.Sizing) queue.Policy {
	if _, none := sizing.(adapt.Earliest); none {
		sizing = nil
	}
	if r, repeated := p.(queue.Repeated); repeated {
		r.Sizing = sizing
		return r
	}
	return p
}

// SizedAs is a policy of a live cluster that sizes moldable jobs by the rule of another policy.
func SizedAs(p, other queue.Policy) queue.Policy { return withSizing(p, SizingOf(other)) }

// Unsized is a policy of a live cluster without its sizing.
func Unsized(p queue.Policy) queue.Policy { return withSizing(p, nil) }

// SizingOf is the rule by which a policy sizes moldable jobs when they start; nil: they may have all that they list.
func SizingOf(p queue.Policy) adapt.Sizing {
	switch p := p.(type) {
	case Policy:
		return SizingOf(p.Policy)
	case queue.Repeated:
		return p.Sizing
	case adaptive.EASY:
		return p.Sizing
	case adaptive.Traditional:
		return adapt.Reference{}
	}
	return nil
}

// FloorOf says below which size that rule gives nothing.
func FloorOf(p queue.Policy) adapt.Floor {
	switch p := p.(type) {
	case Policy:
		return FloorOf(p.Policy)
	case adaptive.EASY:
		return p.Floor
	case adaptive.Traditional:
		return adapt.AsListed
	}
	return adapt.HalfReference
}

// SizesOf is the name of that rule, as WithSizes reads it.
func SizesOf(p queue.Policy) string {
	sizing := SizingOf(p)
	for _, name := range adapt.Names() {
		if named, _ := adapt.Named(name); reflect.TypeOf(named) == reflect.TypeOf(sizing) {
			return name
		}
	}
	return earliest
}

// Pass gives the policy of a name for a scheduler that is called anew for each plan, and keeps nothing from one call to the next.
func Pass(name string) (Policy, error) {
	p, err := Named(name, queue.FirstCome)
	if err != nil {
		return p, err
	}
	switch p.Policy.(type) {
	case queue.Repeated:
		p.Policy = withSizing(p.Policy, SizingOf(p))
		return p, nil
	case adaptive.EASY, adaptive.Traditional:
		return p, nil
	case adaptive.CirneBerman:
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
