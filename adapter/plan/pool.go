package plan

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core/place"
)

// needs returns the kinds that have to be joined into one machine for a managed job, because no
// machine has enough nodes for the job. It returns nil if a machine has enough nodes, and if an
// earlier job of the queue can run only on a part of these kinds.
func needs(d *division, w Waiter, before []Waiter) []*nodeClass {
	together := d.Together(w.Seen.Kinds, w.fewest())
	for _, other := range before {
		if other.Managed != nil && other.Seen.Kinds != nil && slices.ContainsFunc(together, func(k *nodeClass) bool { return !slices.Contains(other.Seen.Kinds, k.Name) }) {
			return nil
		}
	}
	return together
}

// parts returns a machine for each group of kinds in the division.
func (v *World) parts(d *division) []*machine {
	groups := d.Machines()
	all := make([]*machine, len(groups))
	for i, group := range groups {
		m := &machine{kinds: make(map[string]bool, len(group))}
		var members []int
		for _, k := range group {
			m.kinds[k.Name] = true
			members = append(members, k.Nodes...)
		}
		if len(groups) == 1 {
			m.World = v.whole()
		} else {
			slices.Sort(members)
			m.World = v.part(members)
		}
		all[i] = m
	}
	return all
}

// whole returns the world of a machine that has all nodes. The returned World shares the slices of
// v.
func (v *World) whole() *World {
	return &World{
		Input: v.Input, Index: v.Index, Nodes: v.Nodes, guards: v.guards, lost: v.lost, closed: v.closed, closures: v.closures, taken: v.taken, claims: v.claims, early: v.early,
	}
}

// part returns the world of a machine that has the given nodes, by their indices. The returned
// World has no jobs.
func (v *World) part(nodes []int) *World {
	p := &World{
		Input: v.Input, Index: make(map[string]int, len(nodes)), Nodes: make([]string, len(nodes)),
		guards: make([]guard, len(nodes)), lost: make([]bool, len(nodes)), closed: make([]bool, len(nodes)), closures: make([][]*adapter.Reservation, len(nodes)), taken: make([]Holder, len(nodes)),
	}
	number := make(map[int]int, len(nodes))
	for i, n := range nodes {
		p.Nodes[i], p.guards[i], p.lost[i], p.closed[i], p.closures[i], p.taken[i], number[n] = v.Nodes[n], v.guards[n], v.lost[n], v.closed[n], v.closures[n], v.taken[n], i
		p.Index[v.Nodes[n]] = i
	}
	within := func(claims []place.Claim) (here []place.Claim) {
		for _, c := range claims {
			if i, is := number[c.Node]; is {
				c.Node = i
				here = append(here, c)
			}
		}
		return here
	}
	p.claims, p.early = within(v.claims), within(v.early)
	return p
}

// Impossible returns why a job can never run here, and "" if it can.
func (v *World) Impossible(r *managed.Job) string {
	if r.Seen.Unfit != "" {
		return r.Seen.Unfit
	}
	if why := v.Settings.Limits.TooShort(r); why != "" {
		return why
	}
	d := newDivision(v.Snapshot.Nodes)
	barred := 0
	for _, ep := range r.Choices {
		if !r.Seen.Most.Allows(ep.Peak()) {
			barred++
		} else if len(d.RunsOn(r.Seen.Kinds, ep.Peak())) > 0 {
			return ""
		}
	}
	if barred == len(r.Choices) {
		return fmt.Sprintf("%s needs more than the %s that it may ever have: %s", r.Request, view.NodesWord(r.Seen.Most.Nodes), r.Seen.Most.Why)
	}
	if r.Seen.Kinds == nil && d.OneBuild() {
		return fmt.Sprintf("%s needs more nodes than the %d of the pool", r.Request, len(v.Nodes))
	}
	return fmt.Sprintf("%s needs more nodes than the pool has of one sort on which the job can run: %s", r.Request, d.Describe(r.Seen.Kinds))
}
