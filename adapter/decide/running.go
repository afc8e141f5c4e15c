package decide

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/hostlist"
)

// `running` decides about a running job. The job is resized when its planned step has ended and the
// application has also finished the step. The job is ended when its application is late for longer
// than its overrun allowance.
func (s Situation) running(r *managed.Job) Decision {
	if r.Attached {
		op := call("detach", actions.Detach{Job: r.Key})
		op.Then.Changes = []managed.Change{managed.Detached{}}
		return Decision{Do: op}
	}
	if r.WantedLimit > 0 {
		op := call("lengthen", actions.Lengthen{Job: r.Key, Limit: r.WantedLimit})
		op.Talk = true
		return Decision{Changes: []managed.Change{managed.LimitAsked{}}, Do: op}
	}
	if r.Seen.Suspended {
		return Decision{Waits: r.SuspendedText()}
	}
	if r.Message != "" {
		return s.tellMessage(r)
	}
	late := s.World.Now - r.Due()
	if d, ok := s.tell(r); ok {
		return d
	}
	if r.NodesForgotten != nil && (r.Question == nil || late < 0 || grows(r)) { // the plan adds the nodes of a growth to the forgotten nodes, so these have to be regained first
		return s.repeatResize(r)
	}
	switch {
	case r.Late:
		return s.overdue(r, s.World.Now-r.LateFrom())
	case r.Question == nil && late > r.SidecarDelay && r.OutageCost > managed.Tolerance && (r.Final() || r.StepCalls != managed.StepCallsNever):
		return s.excused(r, late)
	case r.Final() || r.Question == nil && r.StepCalls != managed.StepCallsNever:
		return Decision{}
	case late < 0 && r.StepCalls == managed.StepCallsNever:
		return Decision{}
	case late < 0:
		return Decision{Waits: fmt.Sprintf("step %d is over; the next is planned for %s", r.Step+1, adapter.Instant(r.Due()).Format(time.TimeOnly))}
	case s.World.Now < r.NoShrinkBefore:
		return Decision{Waits: "it was told late which nodes it gives back", Again: adapter.Instant(r.NoShrinkBefore)}
	case s.Now.Before(s.Trapped):
		return Decision{Waits: OthersFirst}
	}
	return s.resize(r)
}

// grows reports whether the next step needs more nodes than the job holds.
func grows(r *managed.Job) bool { return !r.Final() && r.EP()[r.Step+1].Nodes > len(r.Nodes) }

// OthersFirst is what a resize waits for while other resizes are under way.
const OthersFirst = "other resizes come first"

// resize decides about a job whose step has ended: it gets the nodes of its next step, or waits for
// them.
func (s Situation) resize(r *managed.Job) Decision {
	next, have := r.EP()[r.Step+1].Nodes, len(r.Nodes)
	switch {
	case next < have:
		return s.shrink(r, next)
	case next == have: // the job has lost the nodes that it should release
		o := NextStep(r, r.Nodes, s.World.Settings, nil, s.Now)
		return Decision{AtOnce: &o}
	}
	if from, why := s.World.Settings.Limits.NextResize(r); s.World.Now < from {
		return Decision{Waits: why, Obstacle: managed.Turn, Limit: actions.LimitResizes, Again: adapter.Instant(from)}
	}
	if !r.Seen.MostNow.Allows(next) {
		return Decision{Waits: r.Seen.MostNow.Why, Obstacle: managed.SiteLimit}
	}
	add := r.Course.Added(r.Step + 1)
	if r.Course.Err != nil || len(add) != next-have {
		return Decision{Waits: "nodes for its next step", Obstacle: managed.BatchSystem}
	}
	if free, who := s.World.Free(add); !free {
		return Decision{Waits: who.String(), Obstacle: who.Kind, For: lateShrinker(who)}
	}
	if closes, at := s.World.NextStrictReservation(add, s.World.Now+1); r.Seen.Limit < core.Forever && at < r.Seen.Started+r.Seen.Limit {
		return Decision{Waits: reservedAhead(s.reservationName(closes.Name), at), Obstacle: managed.BatchSystem}
	}
	if why := s.booting(add); why != "" {
		return Decision{Waits: why, Obstacle: managed.BootingNode}
	}
	if r.ReleasedLast.Includes(add, s.World.Now) {
		return Decision{Waits: "nodes that it gave back in this very second", Obstacle: managed.BatchSystem, Again: adapter.Instant(s.World.Now + 1)}
	}
	if s.Tending(r.Reservation(r.Step + 1)) {
		return Decision{}
	}
	return s.grow(r, add)
}

// grow allocates nodes inside the step's reservation, and merges them into the job.
func (s Situation) grow(r *managed.Job, add []string) Decision {
	now, next := s.World.Now, append(slices.Clone(r.Nodes), add...)
	want := adapter.Reservation{Name: r.Reservation(r.Step + 1), Nodes: add, Start: now, End: now + plan.Expiry, User: r.User}
	have, there := s.Reserved(want.Name)
	there = there && have.Start <= now && have.End > now+plan.Expiry/4 && managed.SameNodes(have.Nodes, add)
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	op := &Operation{Verb: "resize", Resize: true, Uses: []string{"reserve", "expand", "merge"}, Nodes: next, Next: true}
	if !there {
		op.Calls = []actions.Call{actions.Reserve{Job: r.Key, Reservation: want}}
	}
	op.Calls = append(op.Calls, actions.Grow{Job: job, Add: add, Reservation: want.Name})
	return Decision{Changes: []managed.Change{managed.ResizeBegun{Nodes: next, Ready: s.Now}}, Reserves: &want, Takes: add, Do: op}
}

// shrink releases nodes, so that the job keeps `next` nodes.
func (s Situation) shrink(r *managed.Job, next int) Decision {
	keep := r.NodesKeptByShrink(next)
	d := Decision{
		Changes: []managed.Change{managed.ResizeBegun{Nodes: keep}},
		Do: &Operation{
			Verb: "resize", Resize: true, Uses: []string{"shrink"}, Nodes: keep, Next: true, Shrink: true,
			Calls: []actions.Call{actions.Shrink{Job: r.Key, Keep: keep}},
		},
	}
	if len(keep) > next {
		d.Notice = fmt.Sprintf("keeps %d nodes instead of %d: the batch system takes %s for the node that runs its script, and %s is it",
			len(keep), next, r.Seen.Nodes[0], r.Nodes[0])
	}
	return d
}

// nodesOf returns node names as a host list.
func nodesOf(nodes []string) string { return hostlist.Compact(nodes) }

func contains(nodes []string, name string) bool { return slices.Contains(nodes, name) }
