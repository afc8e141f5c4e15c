package planner

import (
	"fmt"
	"slices"

	"accordion/core"
)

// Claim is a use of resources outside the plan, by a running job or by another queue's plan.
type Claim struct {
	Resources Set
	From, To  core.Time
}

// Check returns an error if a plan is not valid. It detects a resource that two jobs use at the same time or that is not usable, a job
// whose resources differ from its request, and a start before the permitted time. Check compares the plan with the jobs, and does not
// depend on how the plan was made.
func Check(usable Set, now core.Time, claims []Claim, jobs []Job, plan []Placed) error {
	wanted := map[int64]Job{}
	for _, j := range jobs {
		wanted[j.ID] = j
	}
	for _, p := range plan {
		if p.Why != "" {
			continue
		}
		j, known := wanted[p.Job]
		switch {
		case !known:
			return fmt.Errorf("job %d is in the plan twice, or does not wait", p.Job)
		case p.Choice < 0 || p.Choice >= len(j.Choices) || p.Duration != j.Choices[p.Choice].Duration:
			return fmt.Errorf("job %d is planned in a configuration that it does not have", p.Job)
		case p.Start < max(now, j.Begin):
			return fmt.Errorf("job %d is planned at %d, before it may begin", p.Job, p.Start)
		case !usable.Holds(p.Resources):
			return fmt.Errorf("job %d is planned on a resource that cannot be used", p.Job)
		}
		delete(wanted, p.Job)
		if err := j.Choices[p.Choice].Exactly(p.Resources); err != nil {
			return fmt.Errorf("job %d: %w", p.Job, err)
		}
	}
	return disjoint(len(usable), claims, plan)
}

// disjoint returns an error if two jobs, or a job and a claim, have the same resource at the same time. It goes through all starts and ends
// in order of time. `words` is the length of the sets.
func disjoint(words int, claims []Claim, plan []Placed) error {
	type event struct {
		at     core.Time
		begins bool
		what   Set
		job    int64 // 0 if this is a claim, which may overlap others
	}
	var events []event
	for _, c := range claims {
		if c.From < c.To {
			events = append(events, event{c.From, true, c.Resources, 0}, event{c.To, false, c.Resources, 0})
		}
	}
	for _, p := range plan {
		if p.Why == "" {
			events = append(events, event{p.Start, true, p.Resources, p.Job}, event{p.End(), false, p.Resources, p.Job})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at != b.at && a.at < b.at, a.at == b.at && !a.begins && b.begins:
			return -1
		case a.at != b.at, a.begins != b.begins:
			return 1
		}
		return 0
	})
	planned := make(Set, words)
	claimed := make([]int, 64*words)
	for _, e := range events {
		switch {
		case e.job == 0:
			for r := range e.what.All() {
				if e.begins {
					claimed[r]++
				} else {
					claimed[r]--
				}
				if e.begins && planned.Has(r) {
					return fmt.Errorf("resource %d is planned for a job, but another job takes it from second %d on", r, e.at)
				}
			}
		case !e.begins:
			planned.Drop(e.what)
		case planned.Meets(e.what):
			return fmt.Errorf("job %d is planned on resources of another job from second %d on", e.job, e.at)
		default:
			for r := range e.what.All() {
				if claimed[r] > 0 {
					return fmt.Errorf("job %d is planned on a resource that is taken at second %d", e.job, e.at)
				}
			}
			planned.Join(e.what)
		}
	}
	return nil
}

// Exactly returns an error unless the resources are exactly the resources of the choice's groups, in order, and no
// others.
func (c Choice) Exactly(has Set) error {
	rest := slices.Clone(has)
	for _, g := range c.Groups {
		part := make(Set, len(rest))
		if !g.pick(rest, part) {
			return fmt.Errorf("its request does not fit on %d resources", has.Len())
		}
		rest.Drop(part)
	}
	if n := rest.Len(); n > 0 {
		return fmt.Errorf("%d of its %d resources are more than it asks for", n, has.Len())
	}
	return nil
}
