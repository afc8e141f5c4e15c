package sidecar

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/hostlist"
)

// Slurm 22.05 sometimes shows a node as idle and allocates it to nobody, for half a minute to three: after a job was
// shrunk by NodeList=, a scheduling pass between two epilogs of an ending job leaves the last node's bit unset among
// those that may be shared. It hits ordinary jobs as well. `scontrol update NodeName=… State=UNDRAIN` cures it
// at once, at a price: for most of a second the node does not respond then, and a job that Slurm allocates it to meanwhile is
// launched ten seconds later. So it is done for nodes that were passed over, and never beforehand.
const (
	stuckAfter = 4 * time.Second  // a node that is idle so long and still refused is taken to be stuck: Slurm looks every 3 s
	idleAfter  = 40 * time.Second // a node that is idle so long while a job that fits waits; longer than a back-filling interval
	lostAfter  = 10 * time.Second // a node that is in use so long by no job is lost
	nudgeEvery = 5 * time.Second
)

// absence is how long a node that cannot be used is taken to be back soon: after a start of slurmctld no node is known
// for some seconds, and no promise must move for that. Nothing is put on it meanwhile.
const absence = 30 * time.Second

// nodes is since when each node is in the state in which the batch system shows it.
type nodes struct {
	eventLog *eventLog
	jobs     *jobs
	workers  *workers

	idle   map[string]time.Time // and usable
	lost   map[string]time.Time // in use while no job holds it
	away   map[string]time.Time // not usable
	woken  map[string]time.Time // when each was last told to boot
	nudged time.Time            // when a stuck one was last looked after
}

// note remembers since when each node is as a new reading shows it. A lost one is what remains in Slurm when a job ends while an
// expander is merged into it.
func (s *nodes) note(snapshot *adapter.Snapshot) {
	held := map[string]bool{}
	for _, j := range snapshot.Jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	now := s.eventLog.clock.Now()
	since := func(states map[string]time.Time, node string, is bool) {
		switch {
		case !is:
			delete(states, node)
		case states[node].IsZero():
			states[node] = now
		}
	}
	for _, n := range snapshot.Nodes {
		since(s.away, n.Name, !n.Usable)
		since(s.idle, n.Name, n.Idle && n.Usable)
		since(s.lost, n.Name, !n.Idle && n.Usable && !held[n.Name])
	}
}

// forget is for a clock that was set: no second that is remembered counts any more.
func (s *nodes) forget() {
	s.nudged = time.Time{}
	clear(s.idle)
	clear(s.lost)
	clear(s.away)
}

// outOfService reports whether the plan does without a node: an administrator has to bring it back, or it has been away for longer than a
// moment.
func (s *nodes) outOfService(n adapter.Node) bool {
	return n.Away || !n.Usable && !s.eventLog.clock.Now().Before(s.away[n.Name].Add(absence))
}

// goneSince says whether a node that is away now went away at that second or later.
func (s *nodes) goneSince(second core.Time) bool {
	for _, since := range s.away {
		if since.Unix() >= second {
			return true
		}
	}
	return false
}

// idleFor is those of the nodes that have been idle for so long.
func (s *nodes) idleFor(d time.Duration, nodes []string) []string {
	var all []string
	for _, n := range nodes {
		if since, ok := s.idle[n]; ok && !s.eventLog.clock.Now().Before(since.Add(d)) {
			all = append(all, n)
		}
	}
	return all
}

// stuck is the nodes that somebody waits for though they are idle (a released job, a growth that was refused, an ordinary
// job that fits on nodes that nobody reserved), and the lost ones.
func (s *nodes) stuck(v *plan.World) []string {
	var all []string
	now := s.eventLog.clock.Now()
	for _, r := range s.jobs.sorted() {
		switch {
		case r.Seen != nil && r.Seen.Blocked: // it waits for something else than nodes
		case r.Phase == managed.Starting && r.Busy == "" && !now.Before(r.Released.Add(stuckAfter)):
			all = append(all, s.idleFor(stuckAfter, r.Nodes)...)
		case r.Refused != nil:
			all = append(all, s.idleFor(stuckAfter, r.Refused)...)
		}
	}
	for n, since := range s.lost {
		if !now.Before(since.Add(lostAfter)) {
			all = append(all, n)
		}
	}
	all = append(all, s.passedOver(v)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// passedOver is idle, unreserved nodes on which the first ordinary job of the queue would fit.
func (s *nodes) passedOver(v *plan.World) []string {
	if len(v.Queue) == 0 {
		return nil
	}
	if r := v.Queue[0].Managed; r != nil && (!r.Rigid() || r.Seen.Held || v.Now-max(r.Submitted, r.Let) < core.Time(idleAfter/time.Second)) {
		return nil // not the batch system's to start, or not for long
	}
	reserved := map[string]bool{}
	for _, r := range v.Snapshot.Reservations {
		for _, n := range r.Nodes {
			reserved[n] = true
		}
	}
	long := slices.DeleteFunc(s.idleFor(idleAfter, v.Nodes), func(n string) bool { return reserved[n] })
	if len(long) < v.Queue[0].Job.Choices[0].Peak() {
		return nil
	}
	return long
}

// nudge cures stuck nodes, at most every few seconds.
func (s *nodes) nudge(ctx context.Context, v *plan.World) {
	now := s.eventLog.clock.Now()
	if now.Before(s.nudged.Add(nudgeEvery)) {
		return
	}
	nodes := s.stuck(v)
	if len(nodes) == 0 {
		return
	}
	s.nudged = now
	for _, n := range nodes {
		if _, lost := s.lost[n]; lost {
			s.lost[n] = now
		} else {
			s.idle[n] = now
		}
	}
	s.eventLog.Warn("nodes are idle and not allocated, or in use by no job: nudged", "nodes", names(nodes))
	s.workers.beside(func() error { return s.workers.acts.Repair(ctx, nodes) }, func(error) {})
}

// wakeAgain is the pause before a node that was told to boot and still sleeps is told again.
const wakeAgain = 30 * time.Second

// wakeMargin is how many seconds longer than it may take to boot a node is woken before it is needed.
const wakeMargin core.Time = 10

// wake has the nodes boot that jobs need soon: those that come with a step, and those on which a job is to start. A batch system
// wakes no node because it is reserved.
func (s *nodes) wake(ctx context.Context, v *plan.World) {
	waker, ok := s.workers.acts.System.(adapter.PowerManager)
	if !ok || waker.BootTime() <= 0 {
		return
	}
	asleep := map[string]bool{}
	for _, n := range v.Snapshot.Nodes {
		asleep[n.Name] = n.Asleep
	}
	now := s.eventLog.clock.Now()
	for n := range s.woken {
		if !asleep[n] { // should it be put to sleep again, it is woken at once
			delete(s.woken, n)
		}
	}
	nodes := slices.DeleteFunc(neededBy(slices.Concat(s.jobs.sorted(), v.Parts), v.Now+waker.BootTime()+wakeMargin), func(n string) bool {
		return !asleep[n] || now.Before(s.woken[n].Add(wakeAgain))
	})
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if len(nodes) == 0 {
		return
	}
	for _, n := range nodes {
		s.woken[n] = now
	}
	s.workers.beside(func() error { return s.workers.acts.Wake(ctx, waker, nodes) }, func(error) {})
}

// neededBy is the nodes that come to one of these jobs until that second.
func neededBy(all []*managed.Job, soon core.Time) []string {
	var nodes []string
	for _, r := range all {
		if r.Course == nil || r.Course.Err != nil || r.Phase == managed.Ending {
			continue
		}
		for _, l := range r.Course.Layers {
			if l.From <= soon && (l.Step > r.Step || r.Phase == managed.Waiting) {
				nodes = append(nodes, l.Nodes...)
			}
		}
	}
	return nodes
}

// names writes node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
