package decide

import (
	"context"
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

// running resizes a job whose planned second has come and whose application stands at the end of its step; an application
// that is late for longer than its allowance is ended.
func (s Situation) running(r *managed.Job) Decision {
	if r.Attached {
		key := r.Key
		return Decision{Do: &Operation{
			Verb: "detach",
			Acts: func(ctx context.Context, a *actions.Acts) error { return a.Detach(ctx, key) },
			Done: func(time.Time) Outcome { r.Attached = false; return Outcome{Save: true} },
		}}
	}
	if limit, key := r.Longer, r.Key; limit > 0 {
		return Decision{
			Change: func(r *managed.Job) { r.Longer = 0 },
			Do:     &Operation{Verb: "lengthen", Talk: true, Acts: func(ctx context.Context, a *actions.Acts) error { return a.Lengthen(ctx, key, limit) }},
		}
	}
	if r.Seen.Suspended {
		return Decision{Waits: r.SuspendedText()}
	}
	if r.Word != "" {
		return s.tellWord(r)
	}
	late := s.World.Now - r.Due()
	if d, spoken := s.speak(r); spoken {
		return d
	}
	if r.Again != nil && (r.Asks == nil || late < 0 || grows(r)) { // the plan names what it gets beside the nodes that it had
		return s.again(r)
	}
	switch {
	case r.Late:
		return s.overdue(r, s.World.Now-r.LateFrom())
	case r.Asks == nil && late > r.Owed && r.Stalled > managed.Tolerance && (r.Final() || r.Voice != managed.SilentVoice):
		return s.excused(r, late)
	case r.Final() || r.Asks == nil && r.Voice != managed.SilentVoice:
		return Decision{}
	case late < 0 && r.Voice == managed.SilentVoice:
		return Decision{}
	case late < 0:
		return Decision{Waits: fmt.Sprintf("step %d is over; the next is planned for %s", r.Step+1, adapter.Instant(r.Due()).Format(time.TimeOnly))}
	case s.World.Now < r.Heeds:
		return Decision{Waits: "it was told late which nodes it gives back", Again: adapter.Instant(r.Heeds)}
	case s.Now.Before(s.Trapped):
		return Decision{Waits: OthersFirst}
	}
	return s.resize(r)
}

// grows says whether the next step needs more nodes than the job holds.
func grows(r *managed.Job) bool { return !r.Final() && r.EP()[r.Step+1].Nodes > len(r.Nodes) }

// OthersFirst is what a resize waits for while others are under way.
const OthersFirst = "other resizes come first"

// resize begins the next step of a job that stands at the end of the one before.
func (s Situation) resize(r *managed.Job) Decision {
	next, have := r.EP()[r.Step+1].Nodes, len(r.Nodes)
	switch {
	case next < have:
		return s.shrink(r, next)
	case next == have: // it lost nodes before
		return Decision{Done: func(now time.Time) Outcome {
			r.Target = r.Step + 1
			return Resized(r, s.World.Settings, nil, now)
		}}
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
	if closes, at := s.World.ClosesStrictly(add, s.World.Now+1); r.Seen.Limit < core.Forever && at < r.Seen.Started+r.Seen.Limit {
		return Decision{Waits: reservedAhead(s.reservationName(closes.Name), at), Obstacle: managed.BatchSystem}
	}
	if s.anyAsleep(add) {
		return Decision{Waits: Booting, Obstacle: managed.BootingNode}
	}
	if r.Returned.Has(add, s.World.Now) {
		return Decision{Waits: "nodes that it gave back in this very second", Obstacle: managed.BatchSystem, Again: adapter.Instant(s.World.Now + 1)}
	}
	if s.Tending(r.Reservation(r.Step + 1)) {
		return Decision{}
	}
	return s.grow(r, add)
}

// grow allocates nodes to an expander inside the step's reservation and merges them into the job.
func (s Situation) grow(r *managed.Job, add []string) Decision {
	now, next := s.World.Now, append(slices.Clone(r.Nodes), add...)
	want := adapter.Reservation{Name: r.Reservation(r.Step + 1), Nodes: add, Start: now, End: now + plan.Expiry, User: r.User}
	have, there := s.Reserved(want.Name)
	there = there && have.Start <= now && have.End > now+plan.Expiry/4 && managed.SameNodes(have.Nodes, add)
	job := *r.Seen
	job.Nodes = slices.Clone(r.Nodes)
	var parts []adapter.Part
	return Decision{
		Change: func(r *managed.Job) {
			aim(r, next)
			if r.Ready.IsZero() {
				r.Ready = s.Now
			}
		},
		Reserves: &want, Takes: add,
		Do: &Operation{
			Verb: "resize", Resize: true, Uses: []string{"reserve", "expand", "merge"}, Undo: unaim,
			Acts: func(ctx context.Context, a *actions.Acts) (err error) {
				if !there {
					if err := a.Reserve(ctx, job.Key, want); err != nil {
						return err
					}
				}
				parts, err = a.GrowBy(ctx, &job, add, want.Name)
				return err
			},
			Done: func(now time.Time) Outcome {
				r.Nodes, r.Parts = r.NextNodes, parts
				return Resized(r, s.World.Settings, nil, now)
			},
		},
	}
}

// shrink leaves the job with so many nodes.
func (s Situation) shrink(r *managed.Job, next int) Decision {
	key, keep := r.Key, r.Kept(next)
	d := Decision{Change: func(r *managed.Job) { aim(r, keep) }}
	if len(keep) > next {
		d.Notice = fmt.Sprintf("keeps %d nodes instead of %d: the batch system takes %s for the node that runs its script, and %s is it",
			len(keep), next, r.Seen.Nodes[0], r.Nodes[0])
	}
	var parts []adapter.Part
	d.Do = &Operation{
		Verb: "resize", Resize: true, Uses: []string{"shrink"}, Shrink: true, Undo: unaim,
		Acts: func(ctx context.Context, a *actions.Acts) (err error) {
			parts, err = a.ShrinkTo(ctx, key, keep)
			return err
		},
		Done: func(now time.Time) Outcome {
			r.Hold(keep, now.Unix())
			r.Parts = parts
			o := Resized(r, s.World.Settings, nil, now)
			o.GaveBack = true
			return o
		},
	}
	return d
}

// aim notes which step a resize leads to, and to which nodes, before it is begun.
func aim(r *managed.Job, next []string) {
	r.Target, r.NextNodes = r.Step+1, next
	r.Before, r.Again = slices.Clone(r.Nodes), nil
}

// unaim takes that back.
func unaim(r *managed.Job) { r.Target, r.NextNodes = r.Step, nil }

// nodesOf writes node names as a host list.
func nodesOf(nodes []string) string { return hostlist.Compact(nodes) }

func contains(nodes []string, name string) bool { return slices.Contains(nodes, name) }
