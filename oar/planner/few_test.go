package planner_test

import (
	"cmp"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/oar/planner"

	"pgregory.net/rapid"
)

// The test compares PlanFew with a search that tries every second. A job that fits now starts now, in the choice that
// completes first. Among the other jobs, those that are due first get reservations where they complete earliest, as
// many as the policy allows. The remaining jobs get no place.
func TestFittingJobsStartAndAFewOthersGetAPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, false, 1)
		by := sched.Patient{
			Factor: rapid.Int64Range(0, 2).Draw(t, "factor"), Most: rapid.Int64Range(0, 30).Draw(t, "most"), Reservations: rapid.IntRange(0, 2).Draw(t, "reservations"),
		}
		cal := planner.NewCalendar(d.usable)
		for _, c := range d.claims {
			cal.Take(c.Resources, c.From, c.To)
		}
		plan := planner.PlanFew(cal, 0, by, d.jobs, d.jobs, nil)
		if err := planner.Check(d.usable, 0, d.claims, d.jobs, plan); err != nil {
			t.Fatal(err)
		}
		due := func(j planner.Job) core.Time {
			request := core.Forever
			for _, c := range j.Choices {
				request = min(request, c.Duration)
			}
			if by.Factor == 0 || by.Most == 0 {
				return -core.Forever
			}
			return j.Submit + min(by.Most, by.Factor*request)
		}
		order := make([]int, len(d.jobs))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			x, y := due(d.jobs[a]), due(d.jobs[b])
			if x > 0 && y > 0 {
				return 0
			}
			return cmp.Compare(x, y)
		})
		var before []planner.Placed
		ends, left := map[int64]core.Time{}, max(by.Reservations, 1)
		for _, i := range order {
			j, p := d.jobs[i], plan[i]
			begin, waits := j.Begin, false
			for _, other := range j.After {
				end, ok := ends[other]
				waits = waits || !ok
				begin = max(begin, end+j.Gap)
			}
			now, ever := core.Forever, core.Forever
			for _, c := range j.Choices {
				if begin <= 0 && !waits && c.Duration < now && fitsAt(d, before, c, 0) {
					now = c.Duration
				}
				for s := begin; s < 400 && !waits && s+c.Duration < ever; s++ {
					if fitsAt(d, before, c, s) {
						ever = s + c.Duration
					}
				}
			}
			mine := now < core.Forever
			if !mine && due(j) <= 0 && left > 0 && ever < core.Forever {
				now, mine = ever, true
				left--
			}
			if mine != (p.Why == "") || mine && p.End() != now {
				t.Fatalf("%+v: job %d is planned at %d to %d (%q), want an end at %d (%t)", by, j.ID, p.Start, p.End(), p.Why, now, mine)
			}
			if waits := p.Why == planner.StartsLater; waits != (!mine && ever < core.Forever) {
				t.Fatalf("job %d has the reason %q, and a place at some time: %t", j.ID, p.Why, ever < core.Forever)
			}
			if mine {
				before, ends[j.ID] = append(before, p), p.End()
			}
		}
	})
}
