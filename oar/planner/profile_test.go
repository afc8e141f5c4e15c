package planner_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/place"
	"accordion/core/sched"
	"accordion/oar/planner"

	"pgregory.net/rapid"
)

// The test compares the plan with a search that tries every second. The first job of the queue is evolving. It gets
// the earliest place where hosts are free for each step of its profile. No job behind it in the queue gets these hosts
// for the same time.
func TestAnEvolvingJobHasItsTurnByItsProfile(t *testing.T) {
	hosts := planner.NewTree(all(small), small.hosts)
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, false, 1)
		ep := core.EP{}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			ep = append(ep, core.Step{Duration: rapid.Int64Range(1, 12).Draw(t, "lasts"), Nodes: rapid.IntRange(1, 3).Draw(t, "hosts")})
		}
		begin := rapid.Int64Range(0, 5).Draw(t, "begin")
		jobs := append([]planner.Job{{Begin: begin, Profiles: []core.EP{ep}, Hosts: hosts}}, d.jobs...)
		cal := planner.NewCalendar(d.usable)
		for _, c := range d.claims {
			cal.Take(c.Resources, c.From, c.To)
		}
		plan := planner.PlanFew(cal, 0, sched.Patient{}, jobs, jobs, nil)

		at := begin
		parts := d.partsAt(ep, at)
		for ; parts == nil && at < 300; at++ {
			parts = d.partsAt(ep, at+1)
		}
		first := plan[0]
		if (parts == nil) != (first.Why == planner.NeverFits) || parts != nil && (first.Start != at || first.End() != at+ep.Total()) {
			t.Fatalf("%v is planned at %d (%q), want %d (%v)", ep, first.Start, first.Why, at, parts)
		}
		if err := planner.Check(d.usable, 0, slices.Concat(d.claims, parts), d.jobs, plan[1:]); err != nil {
			t.Fatal(err)
		}
		has := planner.NewSet(small.n)
		for _, p := range parts {
			has.Join(p.Resources)
		}
		if parts != nil && !slices.Equal(has, first.Resources) {
			t.Fatalf("it has %v, want %v", first.Resources, has)
		}
	})
}

// partsAt returns the hosts for a profile that starts at a second: for each step the first hosts that are free. It returns nil if too few
// are free.
func (d drawn) partsAt(ep core.EP, at core.Time) (parts []planner.Claim) {
	for _, l := range place.Layers(at, ep) {
		left := l.Count
		has := planner.NewSet(small.n)
		for host := range slices.Max(small.hosts) + 1 {
			whole := planner.NewSet(small.n)
			for r, h := range small.hosts {
				if h == host {
					whole.Add(r)
				}
			}
			taken := func(c planner.Claim) bool {
				return c.From < l.To && l.From < c.To && c.From < c.To && c.Resources.Meets(whole)
			}
			if left > 0 && d.usable.Holds(whole) && !slices.ContainsFunc(d.claims, taken) && !slices.ContainsFunc(parts, taken) {
				has.Join(whole)
				left--
			}
		}
		if left > 0 {
			return nil
		}
		parts = append(parts, planner.Claim{Resources: has, From: l.From, To: l.To})
	}
	return parts
}
