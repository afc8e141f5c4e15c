package scheduler

import (
	"errors"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/planner"
	"accordion/oar/tables"
)

// fixed is the part of a plan that the sidecar has decided. Released jobs start now, on their places or not at all. Reservations are shown
// in OAR's plan.
type fixed struct {
	jobs     []planner.Job
	plan     []planner.Placed
	reserved []planner.Claim // claims that the jobs which the pass plans must not overlap
	shown    []shown
}

// shown is a reservation in OAR's plan.
type shown struct {
	start
	walltime core.Time // walltime of the holder, chosen so that the holder ends with the reservation, however late it is shown to start
	was      core.Time
}

// Reasons why evolving jobs do not start.
const (
	waitsForPlan   = "evolving, waits for its place in the sidecar's plan"
	waitsForLaunch = "a part of an application, waits for its launcher"
	waitsForPart   = "it starts when all of its nodes are free"
	waitsForWhole  = "it makes a job larger that does not run"
)

// fix handles the waiting jobs about which the sidecar has decided, and returns the others.
func (t *translator) fix(p *problem) []*waiting {
	o := t.state.orders
	holders := o.Holders()
	var others []*waiting
	parts := map[int64][]*waiting{} // released jobs with their released companions
	var wholes []int64
	for _, w := range t.state.waiting {
		switch {
		case holders[w.id]:
		case !evolves(o, w):
			others = append(others, w)
		case !o.Jobs[w.id].Released:
			p.refuse[w.id] = waitsForPlan
			if slices.ContainsFunc(w.types, launch.MatchString) {
				p.refuse[w.id] = waitsForLaunch
			}
		default:
			whole := o.BaseOf(w.id)
			if parts[whole] == nil {
				wholes = append(wholes, whole)
			}
			parts[whole] = append(parts[whole], w)
		}
	}
	for _, whole := range wholes {
		t.release(p, whole, parts[whole])
	}
	if o != nil {
		for _, r := range o.Reservations {
			t.reserve(p, r)
		}
	}
	return others
}

// release starts a job together with the companions of its first step, or none of them. If the job has already started, it starts each
// companion separately.
func (t *translator) release(p *problem, whole int64, parts []*waiting) {
	begins := slices.ContainsFunc(parts, func(w *waiting) bool { return w.id == whole })
	if !begins && !t.state.orders.Jobs[whole].Begun() {
		for _, w := range parts {
			p.refuse[w.id] = waitsForWhole
		}
		return
	}
	before := len(p.fixed.plan)
	for _, w := range parts {
		if err := t.placeNow(p, w); err != nil {
			p.refuse[w.id] = database.OneLine(err)
		}
	}
	if !begins || len(p.fixed.plan) == before+len(parts) {
		return
	}
	p.fixed.jobs, p.fixed.plan = p.fixed.jobs[:before], p.fixed.plan[:before]
	for _, w := range parts {
		if p.refuse[w.id] == "" {
			p.refuse[w.id] = waitsForPart
		}
	}
}

// placeNow gives a released job its places, in the first of its configurations that has this size. The pause between
// two jobs need not be free, because it only serves jobs that start a little late.
func (t *translator) placeNow(p *problem, w *waiting) error {
	places, err := t.places(p, w.id)
	if err != nil {
		return err
	}
	err = errors.New("its request names no resources")
	for _, c := range w.choices {
		var made planner.Choice
		made, err = t.choice(c, func(_ *group, levels []planner.Property) (*planner.Tree, error) {
			return planner.NewTree(places, levels...), nil
		})
		if err != nil {
			return err
		}
		made.Duration = min(c.walltime, t.lasts(p, w.id))
		if err = made.Exactly(places); err != nil {
			err = fmt.Errorf("its places do not match its request: %w", err)
			continue
		}
		placed := planner.Placed{Job: w.id, Start: t.now, Duration: made.Duration, Resources: places}
		if err := p.inTheWay(placed); err != nil {
			return err
		}
		p.fixed.jobs = append(p.fixed.jobs, planner.Job{ID: w.id, Choices: []planner.Choice{made}})
		p.fixed.plan = append(p.fixed.plan, placed)
		return nil
	}
	return err
}

// lasts returns the longest time for which a companion is needed. A companion ends together with its job, whatever the companion's
// walltime.
func (t *translator) lasts(p *problem, job int64) core.Time {
	base := t.state.orders.Jobs[job].Base
	for _, c := range t.state.claims {
		if c.job == base {
			return max(c.from+c.walltime+c.suspended-t.now, 1)
		}
	}
	for _, one := range p.fixed.plan {
		if one.Job == base {
			return one.Duration
		}
	}
	return core.Forever
}

// places returns the resources that the sidecar has given a job.
func (t *translator) places(p *problem, job int64) (planner.Set, error) {
	set := planner.NewSet(len(p.ids))
	for _, id := range t.state.orders.Places[job] {
		i, known := t.index[id]
		if !known || !p.usable.Has(i) {
			return nil, fmt.Errorf("resource %d, where this job must start, is not Alive", id)
		}
		set.Add(i)
	}
	if set.Len() == 0 {
		return nil, errors.New("it must start now, but the sidecar has assigned no resources")
	}
	return set, nil
}

// inTheWay returns an error if a running job, another queue's plan, an advance reservation or a released job overlaps a placed job.
func (p *problem) inTheWay(one planner.Placed) error {
	meets := func(from, to core.Time, what planner.Set) bool {
		return from < one.End() && to > one.Start && what.Meets(one.Resources)
	}
	for i, c := range p.claims {
		if meets(c.From, c.To, c.Resources) {
			return fmt.Errorf("job %d holds a resource where this job must start", p.claimants[i])
		}
	}
	for _, other := range p.fixed.plan {
		if meets(other.Start, other.End(), other.Resources) {
			return fmt.Errorf("job %d must start on the same resource", other.Job)
		}
	}
	return nil
}

// reserve keeps a reservation's resources from the jobs that the pass plans, and shows the reservation to other queues. The shown start is
// always in the future, so that OAR does not start the holder. Resources that a single job has for the whole time are not shown.
func (t *translator) reserve(p *problem, r tables.Reservation) {
	if t.state.orders.Over(r, t.now) {
		return
	}
	held := planner.NewSet(len(p.ids))
	for _, id := range t.state.orders.Places[r.Holder] {
		if i, known := t.index[id]; known {
			held.Add(i)
		}
	}
	p.fixed.reserved = append(p.fixed.reserved, planner.Claim{Resources: slices.Clone(held), From: r.From, To: r.To})
	at := slices.IndexFunc(t.state.waiting, func(w *waiting) bool { return w.id == r.Holder && len(w.choices) > 0 })
	from := max(r.From, t.now+1)
	if at < 0 || from >= r.To || from > latest {
		return
	}
	for _, c := range p.taken() {
		if c.From <= from && c.To >= r.To {
			held.Drop(c.Resources)
		}
	}
	holder := t.state.waiting[at].choices[0]
	one := shown{start: start{moldable: holder.id, at: from}, walltime: r.To - from, was: holder.walltime}
	if one.resources = p.names(held); len(one.resources) > 0 {
		p.fixed.shown = append(p.fixed.shown, one)
	}
}

// taken returns the claims of OAR's plan and of the released jobs that start now.
func (p *problem) taken() []planner.Claim {
	all := slices.Clip(p.claims)
	for _, one := range p.fixed.plan {
		all = append(all, planner.Claim{Resources: one.Resources, From: one.Start, To: one.End() + p.between})
	}
	return all
}

// closed returns all claims that the jobs which the pass plans must not overlap.
func (p *problem) closed() []planner.Claim { return append(p.taken(), p.fixed.reserved...) }

// evolves reports whether the sidecar plans a waiting job.
func evolves(o *tables.Orders, w *waiting) bool {
	if o == nil {
		return false
	}
	_, adopted := o.Jobs[w.id]
	return adopted || slices.ContainsFunc(w.types, isSidecarType)
}
