package managed

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// Returned is the nodes that left a job last, and the second of it. A batch system may forbid on a node what a job began in
// the second in which it gave the node back: Slurm revokes the job's credentials there by whole seconds, and a step that
// begins in that second on a node that has come back to the job fails ("Job credential revoked"). So a node comes back in
// a later second than that in which it left.
type Returned struct {
	nodes []string
	at    core.Time
}

// Hold notes what the job holds from now on.
func (r *Job) Hold(nodes []string, now core.Time) {
	left := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(nodes, n) })
	if len(left) > 0 {
		if r.Returned.at == now {
			left = append(left, r.Returned.nodes...)
		}
		r.Returned = Returned{left, now}
	}
	r.Nodes = nodes
}

// Found notes that the job holds other nodes than it was left with. Of what it has lost its application is to be told.
func (r *Job) Found(nodes []string, now core.Time) {
	lost := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(nodes, n) })
	r.Hold(nodes, now)
	r.Lack(lost)
}

// Lack notes nodes that the job was told of and does not hold any more: a new generation. One that was told of a shrink to come knows
// of a generation that is not, and is told of the shrink again.
func (r *Job) Lack(lost []string) {
	if len(lost) == 0 {
		return
	}
	r.Untold = append(r.Untold, lost...)
	if r.Resizes++; r.Noticed {
		r.Resizes++
		r.Noticed = false
	}
}

// Has says whether one of the nodes left the job in this second, and may not come back before the next.
func (p Returned) Has(nodes []string, now core.Time) bool {
	return now <= p.at && slices.ContainsFunc(nodes, func(n string) bool { return slices.Contains(p.nodes, n) })
}

// Kept is the nodes that stay when the job shrinks to so many: those that its application wants most, the one that runs
// its script first. A batch system may take another for that one, and then lets that go no more: slurmctld, when it is
// started again or reads its configuration again, names the first node of the job, though the job began on a later one
// and grew by it. Giving back the true one would end the script. So both stay, if need be as one node too many.
func (r *Job) Kept(next int) []string {
	keep := slices.Clone(r.Nodes[:next])
	if len(r.Seen.Nodes) == 0 {
		return keep
	}
	claimed := r.Seen.Nodes[0]
	switch {
	case slices.Contains(keep, claimed) || !slices.Contains(r.Nodes, claimed):
		return keep
	case next == 1:
		return append(keep, claimed)
	}
	keep[next-1] = claimed
	return keep
}

// stays is the job's nodes that it can never give back, the one that runs its script first.
func (r *Job) stays() []string {
	stays := []string{r.Nodes[0]}
	if r.Seen == nil {
		return stays
	}
	for _, n := range r.Seen.Nodes[:min(r.Seen.Base, len(r.Seen.Nodes))] {
		if n != stays[0] && slices.Contains(r.Nodes, n) {
			stays = append(stays, n)
		}
	}
	return stays
}

// Choose orders the job's nodes as the application wishes for its next shrink: what it keeps comes first, those that
// it can never give back before all. It returns why the wish cannot be had.
func (r *Job) Choose(q wire.Request) string {
	if q.Keep == "" && q.Release == "" {
		return ""
	}
	next := r.EP()[r.Step+1].Nodes
	text, keeps := q.Keep, true
	if text == "" {
		text, keeps = q.Release, false
	}
	list, err := hostlist.Expand(text)
	if err != nil {
		return err.Error()
	}
	for _, n := range list {
		if !slices.Contains(r.Nodes, n) {
			return fmt.Sprintf("node %s is not one of the job's: %s", n, hostlist.Compact(r.Nodes))
		}
	}
	var keep, leave []string
	for _, n := range r.Nodes {
		if slices.Contains(list, n) == keeps {
			keep = append(keep, n)
		} else {
			leave = append(leave, n)
		}
	}
	stays := r.stays()
	stuck := slices.DeleteFunc(slices.Clone(leave), func(n string) bool { return !slices.Contains(stays, n) })
	switch {
	case next >= len(r.Nodes):
		return "" // nothing leaves
	case keeps && len(keep) > next:
		return fmt.Sprintf("%d nodes to keep, but step %d has %d", len(keep), r.Step+2, next)
	case !keeps && len(leave) > len(r.Nodes)-next:
		return fmt.Sprintf("%d nodes to release, but only %d leave at step %d", len(leave), len(r.Nodes)-next, r.Step+2)
	case len(stuck) > 0 && (!keeps || len(keep)+len(stuck) > next):
		if stuck[0] == r.Nodes[0] {
			return fmt.Sprintf("node %s runs the job script and always stays", stuck[0])
		}
		return fmt.Sprintf("node %s belongs to the job's base and always stays (with %s)", stuck[0], hostlist.Compact(stays))
	}
	order := stays
	for _, n := range append(keep, leave...) {
		if !slices.Contains(stays, n) {
			order = append(order, n)
		}
	}
	r.Nodes = order
	r.Dirty = true
	return ""
}

// StepOfSize is the first step of the size, or the first: where a job of which nothing is remembered may stand.
func StepOfSize(ep core.EP, nodes int) int {
	return max(0, slices.IndexFunc(ep, func(s core.Step) bool { return s.Nodes == nodes }))
}

// KeepOrder is now in the order of before, what is new last.
func KeepOrder(before, now []string) []string {
	var kept []string
	for _, n := range before {
		if slices.Contains(now, n) {
			kept = append(kept, n)
		}
	}
	for _, n := range now {
		if !slices.Contains(kept, n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// SameNodes reports whether a and b have the same nodes, in any order.
func SameNodes(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, n := range a {
		if !slices.Contains(b, n) {
			return false
		}
	}
	return true
}
