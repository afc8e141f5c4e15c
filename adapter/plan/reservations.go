package plan

import (
	"cmp"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

// Expiry is how many seconds a reservation lasts beyond the second for which it is made. If the
// sidecar dies, its reservations are gone after that time.
const Expiry core.Time = 120

// want returns the reservations that a job's course needs for its steps from the step `from` on.
// Each reservation begins Settings.Guard seconds before its planned second, so that an ordinary job
// may overrun its limit and still end in time. The reservation expires soon after its planned
// second.
//
// For a job whose user exceeds [limits] unused, want returns only the reservation for the start.
func (v *World) want(r *managed.Job, from int) []adapter.Reservation {
	var all []adapter.Reservation
	for step := from; step < len(r.Choices[r.Course.Choice]); step++ {
		if step > 0 && v.Unreserved(r) {
			break
		}
		nodes := r.Course.Added(step)
		if len(nodes) == 0 {
			continue
		}
		second := r.Course.Begins(step)
		w := adapter.Reservation{
			Name: r.Reservation(step), Nodes: nodes, User: r.User,
			Start: max(second-v.Settings.Guard, v.Now), End: max(second, v.Now) + Expiry,
		}
		v.fitBetween(&w, second)
		for _, name := range nodes {
			w.OverManaged = w.OverManaged || v.taken[v.Index[name]].Kind == managed.LateShrinker
		}
		all = append(all, w)
	}
	return all
}

// fitBetween shortens a reservation that is made for the given second, so that it overlaps no
// foreign reservation that ends before that second or begins after it. The batch system would
// refuse an overlap.
func (v *World) fitBetween(r *adapter.Reservation, second core.Time) {
	r.Start = max(r.Start, v.lastEnd(r.Nodes, second))
	if _, at := v.NextReservation(r.Nodes, second+1); at < r.End {
		r.End = at
	}
}

// Wanted returns every reservation that the plan needs, and the names of existing reservations that
// must stay as they are. It is called after Apply.
func (v *World) Wanted() (wants []adapter.Reservation, keep map[string]bool) {
	keep = map[string]bool{}
	for _, r := range v.Jobs {
		if r.Phase == managed.Waiting || r.Phase == managed.Ending || r.Course == nil {
			continue
		}
		if r.Phase == managed.Starting || r.Attached {
			keep[r.Reservation(0)] = true
		}
		if r.BeingResized {
			keep[r.Reservation(r.Target)] = true
		}
		if r.Course.Err != nil { // the plan found no nodes for the job, whose existing reservations may still be right
			for step := r.Step + 1; step < len(r.EP()); step++ {
				keep[r.Reservation(step)] = true
			}
			continue
		}
		wants = append(wants, v.want(r, r.Step+1)...)
	}
	protected, most := 0, max(v.Settings.Protect+len(v.Running), v.Settings.Protect+len(wants)) // reservations of running jobs do not use up Protect
	for _, w := range v.sharedAmongUsers(v.protected()) {
		r := w.Managed
		if r == nil || r.Rigid() || r.Course == nil || r.Course.Err != nil || r.Phase != managed.Waiting || r.Part != nil && !r.Part.Ahead {
			continue
		}
		job := r.Part == nil
		if job && protected == v.Settings.Protect {
			continue
		}
		more := v.want(r, 0)
		if len(wants)+len(more) > most && !(job && protected == 0) { // the first job gets all of its reservations in any case
			break
		}
		if wants = append(wants, more...); job {
			protected++
		}
	}
	wants, v.LeftOut = shared(wants, max(mostAhead, 4*len(v.Running)))
	for i := range v.Snapshot.Jobs {
		if j := &v.Snapshot.Jobs[i]; j.Reservation != "" && j.State == adapter.Running {
			keep[j.Reservation] = true
		}
	}
	return wants, keep
}

// mostAhead bounds how many reservations exist at the same time if few jobs run. If more
// reservations are wanted, the soonest ones of each user are made.
const mostAhead = 1000

// shared returns at most `most` of the reservations. Users get equal shares, and the soonest
// reservations of each user come first. leftOut is the number of reservations that are left out.
// These stay in the plan, and are made when fewer reservations exist.
func shared(wants []adapter.Reservation, most int) (made []adapter.Reservation, leftOut int) {
	if len(wants) <= most {
		return wants, 0
	}
	order := make([]int, len(wants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wants[a].Start, wants[b].Start) })
	turn, had := make([]int, len(wants)), map[string]int{}
	for _, i := range order {
		turn[i] = had[wants[i].User]
		had[wants[i].User]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	chosen := order[:most]
	slices.Sort(chosen) // in their original order
	for _, i := range chosen {
		made = append(made, wants[i])
	}
	return made, len(wants) - most
}

// sharedAmongUsers reorders the waiting jobs so that each user has an equal share of the protected
// ones. The first jobs of each user come before the others. Jobs of one user stay in their order.
func (v *World) sharedAmongUsers(all []Waiter) []Waiter {
	users := map[uint32]bool{}
	for _, w := range all {
		if w.Managed != nil && w.Managed.Phase == managed.Waiting {
			users[w.Managed.UID] = true
		}
	}
	if len(users) < 2 {
		return all
	}
	share, had := max(1, v.Settings.Protect/len(users)), map[uint32]int{}
	first, others := make([]Waiter, 0, len(all)), []Waiter{}
	for _, w := range all {
		if w.Managed != nil && w.Managed.Phase == managed.Waiting && w.Managed.Part == nil {
			if had[w.Managed.UID]++; had[w.Managed.UID] > share {
				others = append(others, w)
				continue
			}
		}
		first = append(first, w)
	}
	return append(first, others...)
}
