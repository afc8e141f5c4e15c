package managed

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// ReleasedNodes has the nodes that a job released last, and the second of the release. Slurm
// revokes the job's credentials on a released node by whole seconds. If the job received the node
// again in the same second, a job step that starts on the node in that second would fail with "Job
// credential revoked". So a job receives a node again only in a later second than that of its
// release.
type ReleasedNodes struct {
	nodes []string
	at    core.Time
}

// SetNodes sets the nodes that the job holds from now on.
func (r *Job) SetNodes(nodes []string, now core.Time) {
	left := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(nodes, n) })
	if len(left) > 0 {
		if r.ReleasedLast.at == now {
			left = append(left, r.ReleasedLast.nodes...)
		}
		r.ReleasedLast = ReleasedNodes{left, now}
	}
	r.Nodes = nodes
}

// Found sets the nodes that the job was found to hold, which may differ from those in the record.
// The application will be informed of lost nodes.
func (r *Job) Found(nodes []string, now core.Time) {
	lost := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(nodes, n) })
	r.SetNodes(nodes, now)
	r.LoseNodes(lost)
}

// LoseNodes records nodes that the job lost. The loss begins a new generation of the job's hosts
// file. If a coming shrink was already announced to the job, the announced generation will not come
// true, and the shrink is announced again.
func (r *Job) LoseNodes(lost []string) {
	if len(lost) == 0 {
		return
	}
	r.UntoldLosses = append(r.UntoldLosses, lost...)
	if r.Generation++; r.ShrinkTold {
		r.Generation++
		r.ShrinkTold = false
	}
}

// Includes reports whether the job released one of these nodes in the second `now`. The job may
// then not receive that node again before the next second.
func (p ReleasedNodes) Includes(nodes []string, now core.Time) bool {
	return now <= p.at && slices.ContainsFunc(nodes, func(n string) bool { return slices.Contains(p.nodes, n) })
}

// NodesKeptByShrink returns the nodes that stay when the job shrinks to `next` nodes: the node that
// runs the job's script, then those that the application prefers. After a restart or a
// reconfiguration slurmctld assumes that the script runs on the first node of the job's list, even
// if the job received that node later, and refuses to release the first node. Releasing the node on
// which the script really runs would end the script. So both nodes stay, even if that is one node
// too many.
func (r *Job) NodesKeptByShrink(next int) []string {
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

// fixedNodes returns the nodes that the job can never release, beginning with the node that runs
// the job's script.
func (r *Job) fixedNodes() []string {
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

// OrderForShrink orders the job's nodes for its next shrink, as the application requested. Nodes
// that the job can never release come first, then the nodes to keep. OrderForShrink returns why the
// request cannot be met, and "" if it can.
func (r *Job) OrderForShrink(q wire.Request) string {
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
	stays := r.fixedNodes()
	stuck := slices.DeleteFunc(slices.Clone(leave), func(n string) bool { return !slices.Contains(stays, n) })
	switch {
	case next >= len(r.Nodes):
		return "" // no node is released
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
	r.Unsaved = true
	return ""
}

// StepOfSize returns the first step with this number of nodes, and 0 if there is none. The result
// is a guess at the present step of a job without a record.
func StepOfSize(ep core.EP, nodes int) int {
	return max(0, slices.IndexFunc(ep, func(s core.Step) bool { return s.Nodes == nodes }))
}

// KeepOrder returns the nodes in `now` in the order of `before`, with new nodes last.
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
