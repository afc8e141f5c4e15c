package decide

import (
	"fmt"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// `waiting` decides about a waiting job. A job that can never run is refused, one that is not
// managed yet is adopted, and one that the plan starts now is started.
func (s Situation) waiting(r *managed.Job) Decision {
	if why := s.World.Impossible(r); why != "" {
		d := Decision{Events: []Event{{"refused", why, nil}}, Do: call("refuse", actions.Refuse{Job: r.Key, Why: why})}
		if s.World.Settings.Limits.TooShort(r) == why {
			d.Limit = actions.LimitShortestStep
		}
		return d
	}
	if r.OtherHolder() != "" {
		return s.stopped(r)
	}
	if why := s.World.Expired(r); why != "" {
		d := Decision{Events: []Event{{"refused", why, nil}}, Do: call("refuse", actions.Refuse{Job: r.Key, Why: why})}
		d.Do.Then.Retry = expires
		return d
	}
	if r.Rejected.InForce(s.Now) {
		return s.setAside(r)
	}
	if r.Seen.Mark == "" || r.Seen.HeldByUser || r.Seen.HeldBy != "" || !r.Seen.Held {
		op := call("adopt", actions.Adopt{Job: r.Key})
		op.Then.Changes = []managed.Change{managed.Adopted{}}
		return Decision{Do: op}
	}
	c := r.Course
	if why, is := s.unplaced(r); is {
		return Decision{Waits: why}
	}
	switch {
	case c.Start > s.World.Now+s.World.Settings.StartLead:
		if before, at := s.World.BlockingReservation(c.EP); before != nil {
			return Decision{Waits: reservedAhead(s.reservationName(before.Name), at)}
		}
		return Decision{Waits: "nodes"}
	case !r.Seen.MostNow.Allows(c.EP[0].Nodes):
		return Decision{Waits: r.Seen.MostNow.Why}
	}
	if free, who := s.World.Free(c.Added(0)); !free {
		return Decision{Waits: who.String(), For: lateShrinker(who)}
	}
	if why := s.reachesInto(c); why != "" {
		return Decision{Waits: why}
	}
	if why := s.booting(c.Added(0)); why != "" {
		return Decision{Waits: why}
	}
	if s.Tending(r.Reservation(0)) { // the call under way reserves other nodes, and might be carried out after the calls for this start
		return Decision{}
	}
	return s.start(r)
}

// `stopped` decides about a job that its owner or an operator holds: the job waits. The sidecar
// also holds a job that was requeued and held, because the batch system could start the job as soon
// as the other hold is released.
func (s Situation) stopped(r *managed.Job) Decision {
	d := Decision{Waits: r.HeldText()}
	if !r.Seen.Adopted {
		d.Changes = []managed.Change{managed.Adopted{}} // so that the sidecar never releases a hold of others
		d.Do = call("hold", actions.Hold{Job: r.Key})
	}
	return d
}

// expires is the pause until the batch system is asked again to end a job that cannot meet its
// deadline.
const expires = 40 * time.Second

// unplaced reports whether a waiting job has no place in the plan, and returns why.
func (s Situation) unplaced(r *managed.Job) (why string, is bool) {
	switch c := r.Course; {
	case r.Seen.Blocked:
		return r.Seen.Why, true
	case c == nil && s.World.Late(r) != "":
		return s.World.Late(r), true
	case c == nil && s.World.Waits(r):
		return "nodes", true
	case c == nil:
		return s.noPlace(r), true
	case c.Err != nil:
		return c.Err.Error(), true
	}
	return "", false
}

// noPlace returns why no place in the plan is possible: nodes are out of service, or a reservation
// of others repeats and leaves too few nodes.
func (s Situation) noPlace(r *managed.Job) string {
	if m := s.World.Missing(r); m != nil {
		return fmt.Sprintf("%s: %s, and %d in service; it waits for %s to come back", view.NoPlace, needed(m.Needs), m.Serving, s.withStates(m.Away))
	}
	if repeating := s.World.RepeatingReservation(r); repeating != nil {
		return fmt.Sprintf("%s because of reservation %s, which comes again and again (%s)", view.NoPlace, s.reservationName(repeating.Name), repeating.Repeats)
	}
	return view.NoPlace
}

// needed returns how many nodes are needed, in words.
func needed(n int) string {
	if n == 1 {
		return "1 node is needed"
	}
	return fmt.Sprintf("%d nodes are needed", n)
}

// mostStates limits how many states of nodes a reason lists.
const mostStates = 4

// withStates returns nodes with their states in the batch system, such as "n5 (IDLE+DRAIN: fan),
// n[7-8] (DOWN)".
func (s Situation) withStates(nodes []adapter.Node) string {
	if s.World.Snapshot.Hidden.Nodes {
		return view.NodesWord(len(nodes))
	}
	var all []string
	for i, g := range view.AwayOf(nodes) {
		if i == mostStates {
			all = append(all, "others")
			break
		}
		all = append(all, fmt.Sprintf("%s (%s)", g.Nodes, g.Why))
	}
	return strings.Join(all, ", ")
}

// reservationName returns the name of a reservation of others, or "of others" if users may not know
// it.
func (s Situation) reservationName(name string) string {
	if s.World.Snapshot.Hidden.Reservations {
		return "of others"
	}
	return name
}

// lateShrinker returns the managed job that holds a node for which another job waits; 0 if no
// managed job does.
func lateShrinker(who plan.Holder) core.JobID {
	if who.Kind == managed.LateShrinker {
		return who.Job
	}
	return 0
}

// unusedFor is for how many seconds the reservation of a start lasts if its job does not start. The
// reservation must not stay for long if the sidecar ends before it releases the job.
const unusedFor core.Time = 60

// start starts a waiting job on the nodes that the plan names. It reserves them, gives the job its
// size and limit, and releases it. When a later reading shows that the job runs, the job is
// detached from the reservation. The reservation lasts longer than the job may run, in case the
// sidecar ends before it can detach the job.
func (s Situation) start(r *managed.Job) Decision {
	c, nodes, settings, now := r.Course, r.Course.Added(0), s.World.Settings, s.World.Now
	limit := s.limit(c)
	reservation := adapter.Reservation{
		Name: r.Reservation(0), Nodes: nodes, Start: now, End: now + settings.StartLead + limit + settings.Guard + plan.Expiry, User: r.User,
		Idle: unusedFor,
	}
	if _, at := s.World.NextReservation(nodes, now+1); at < reservation.End {
		reservation.End = at
	}
	shape := adapter.Shape{Nodes: c.EP[0].Nodes, On: nodes, Limit: limit, Least: c.EP.Total()}
	return Decision{
		Changes: []managed.Change{managed.StartDecided{
			At: c.Start, Choice: c.Choice, EP: c.EP, Nodes: nodes, Unreserved: s.World.Unreserved(r),
		}},
		Events:   []Event{{"starting", fmt.Sprintf("on %d nodes", shape.Nodes), s.startOf(r, nodes)}},
		Reserves: &reservation, Takes: nodes,
		Do: &Operation{Verb: "start", Starts: true, Calls: []actions.Call{
			actions.Prepare{Job: r.Key, Reservation: reservation, Shape: shape}, actions.Launch{Job: r.Key, Reservation: reservation.Name},
		}},
	}
}

// limit returns the time limit, in seconds, of a job that starts now. The limit covers the job's
// profile and its overrun allowance. If the profile ends before a reservation of others on the
// job's nodes begins, the limit also ends before.
func (s Situation) limit(c *managed.Course) core.Time {
	settings, total := s.World.Settings, c.EP.Total()
	limit := total + settings.Margin([]core.EP{c.EP})
	if _, at := s.World.NextReservation(c.Added(0), s.World.Now+1); at < core.Forever {
		left := at - s.World.Now - settings.StartLead
		limit = min(limit, max(left-left%plan.Grain, total))
	}
	return limit
}

// reachesInto returns the reason to wait if the time limit of a job that starts now would reach
// into a reservation of others, and "" if it would not.
func (s Situation) reachesInto(c *managed.Course) string {
	ends := s.World.Now + s.World.Settings.StartLead + (s.limit(c)+plan.Grain-1)/plan.Grain*plan.Grain
	if r, at := s.World.NextReservation(c.Added(0), s.World.Now+1); at < ends {
		return reservedAhead(s.reservationName(r.Name), at)
	}
	for _, l := range c.Layers {
		if r, at := s.World.NextStrictReservation(l.Nodes, s.World.Now+1); at < ends {
			return reservedAhead(s.reservationName(r.Name), at)
		}
	}
	return ""
}

// reservedAhead returns the reason to wait for the end of a reservation of others.
func reservedAhead(name string, at core.Time) string {
	return fmt.Sprintf("reservation %s, which begins at %s: the job's time limit would reach into it", name, time.Unix(at, 0).Format(time.DateTime))
}

// startOf returns the fields of the event of a start. For a moldable job the fields also explain
// its size.
func (s Situation) startOf(r *managed.Job, nodes []string) map[string]any {
	c := r.Course
	fields := map[string]any{"nodes": hostlist.Compact(nodes), "planned": c.Start, "ends": c.Start + c.EP.Total(), "profile": c.EP.String()}
	if size, sized := s.World.Sizes[r.ID]; sized {
		fields["sizing"], fields["sized"] = s.World.Sizing[size.Machine], *size.Sized
	}
	return fields
}

// startsWithin is how many seconds a released job has to begin to run before its start is taken
// back.
const startsWithin core.Time = 60

// `starting` decides about a job whose start was decided. If an earlier sidecar ended before it
// released the job, the job is still held. Then the job goes back to the queue, because other nodes
// may be free now.
func (s Situation) starting(r *managed.Job) Decision {
	if r.Seen.State != adapter.Pending {
		return Decision{Waits: r.WaitReason}
	}
	if by := r.OtherHolder(); by != "" {
		return s.takeBack(r, Decision{Waits: r.HeldText()}, by+" holds it; it is planned again when it is released")
	}
	if r.Seen.Held && r.ReleasedAt.IsZero() && r.Failures == 0 {
		return Decision{Waits: r.WaitReason, Changes: []managed.Change{managed.BackToQueue{}}}
	}
	if r.Seen.Held {
		return s.sentBack(r)
	}
	d := Decision{Waits: withReason("the batch system starts it", r.Seen.Why)}
	if lost := s.lost(r.Nodes); lost != nil {
		return s.takeBack(r, d, fmt.Sprintf("%s was lost before it began; its start is planned anew", nodesOf(lost)))
	}
	if s.World.Now >= r.Planned+startsWithin+s.Outages.Within(r.Planned, s.World.Now) {
		return s.unstarted(r, d)
	}
	return d
}

// sentBack sets aside a job that the batch system held again instead of starting it, for a reason
// that the plan does not know. The call detaches the job from its reservation, because the batch
// system would otherwise keep the job attached.
func (s Situation) sentBack(r *managed.Job) Decision {
	said, times := r.Seen.Why, r.Rejected.Times+1
	if said == "" || said == "None" {
		said = "it is held again"
	}
	return Decision{
		Changes: []managed.Change{s.rejected(said)},
		Events:  []Event{Rejected(said, times)},
		Do:      call("hold", actions.Hold{Job: r.Key}),
	}
}

// rejected returns the change of a job that was not started for a reason.
func (s Situation) rejected(why string) managed.SentBack {
	return managed.SentBack{Why: why, At: s.World.Now, Kinds: managed.KindsOf(s.World.Snapshot.Nodes)}
}

// Rejected returns the event of a start that the batch system refused for the reason `why`. `times`
// is how often in a row it has refused.
func Rejected(why string, times int) Event {
	pause := managed.PauseAfter(times)
	return Event{"sent back", fmt.Sprintf("%s; set aside, and tried again in %s", why, core.FormatDuration(pause)), map[string]any{"times": times, "retry_in": pause}}
}

// setAside decides about a job that is set aside: the job waits. If the job is still attached to
// its reservation, it is detached now.
func (s Situation) setAside(r *managed.Job) Decision {
	d := Decision{Waits: r.Rejected.Text()}
	if r.Seen.Reservation != "" && r.Seen.Reservation == r.Reservation(0) {
		d.Do = call("hold", actions.Hold{Job: r.Key})
	}
	return d
}

// unstarted takes back a start that takes too long, and sets the job aside.
func (s Situation) unstarted(r *managed.Job, d Decision) Decision {
	d = s.takeBack(r, d, "did not start in time; its start is planned anew")
	d.Do.Then.Changes = []managed.Change{s.rejected(withReason("not started in time", r.Seen.Why))}
	return d
}

// takeBack takes a start back. The next plan has a place for the job again.
func (s Situation) takeBack(r *managed.Job, d Decision, why string) Decision {
	d.Events = []Event{{"held", why, nil}}
	d.Do = call("hold", actions.Hold{Job: r.Key})
	d.Do.Then.Changes = []managed.Change{managed.BackToQueue{}}
	return d
}
