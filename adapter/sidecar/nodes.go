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

// Slurm 22.05 sometimes shows a node as idle and does not allocate it for half a minute to three minutes: after a job was
// shrunk by NodeList=, a scheduling pass between two epilogs of an ending job leaves the last node's bit unset among
// those that may be shared. That happens to ordinary jobs, too. `scontrol update NodeName=… State=UNDRAIN` repairs the node at
// once. But the node does not respond for most of a second then, and a job that Slurm allocates it to meanwhile is launched ten
// seconds later. So it is done only for nodes that were not allocated.
const (
	stuckAfter  = 4 * time.Second  // after which a node that is idle and still refused counts as stuck: Slurm looks every 3 s
	idleAfter   = 40 * time.Second // … and a node that is idle while a job that fits waits. Longer than a back-filling interval
	lostAfter   = 10 * time.Second // … and a node that is in use and that no job holds
	repairEvery = 5 * time.Second
)

// absence is for how long plans expect an unusable node to come back at once: after a start of slurmctld no node is known for some
// seconds, and that must move no promise. No job starts on the node meanwhile.
const absence = 30 * time.Second

// nodes has since when each node is in the state in which the batch system shows it.
type nodes struct {
	eventLog *eventLog
	jobs     *jobs
	workers  *workers

	idle     map[string]time.Time // and usable
	lost     map[string]time.Time // in use while no job holds it
	away     map[string]time.Time // not usable
	woken    map[string]time.Time // when the batch system was last asked to boot it
	repaired time.Time            // when stuck nodes were last repaired
}

// note takes the states of nodes from a new reading. A lost node is in use while no job holds it: Slurm leaves one when a job ends while
// an expander is merged into it.
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

// forget forgets all instants, because the clock was set.
func (s *nodes) forget() {
	s.repaired = time.Time{}
	clear(s.idle)
	clear(s.lost)
	clear(s.away)
}

// outOfService reports whether plans do without a node: an administrator has to bring it back, or it has been unusable for longer than
// absence.
func (s *nodes) outOfService(n adapter.Node) bool {
	return n.Away || !n.Usable && !s.eventLog.clock.Now().Before(s.away[n.Name].Add(absence))
}

// goneSince reports whether one of the nodes that are unusable now became so at that second or later.
func (s *nodes) goneSince(second core.Time) bool {
	for _, since := range s.away {
		if since.Unix() >= second {
			return true
		}
	}
	return false
}

// idleFor returns the nodes that have been idle for at least d.
func (s *nodes) idleFor(d time.Duration, nodes []string) []string {
	var all []string
	for _, n := range nodes {
		if since, ok := s.idle[n]; ok && !s.eventLog.clock.Now().Before(since.Add(d)) {
			all = append(all, n)
		}
	}
	return all
}

// stuck returns the lost nodes, and idle nodes for which a job waits: a released job, a job whose growth was refused, or an
// ordinary job that fits on nodes that are not reserved.
func (s *nodes) stuck(v *plan.World) []string {
	var all []string
	now := s.eventLog.clock.Now()
	for _, r := range s.jobs.sorted() {
		switch {
		case r.Seen != nil && r.Seen.Blocked: // it waits for something else than nodes
		case r.Phase == managed.Starting && r.Underway == "" && !now.Before(r.ReleasedAt.Add(stuckAfter)):
			all = append(all, s.idleFor(stuckAfter, r.Nodes)...)
		case r.RefusedNodes != nil:
			all = append(all, s.idleFor(stuckAfter, r.RefusedNodes)...)
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

// passedOver returns idle nodes that are not reserved, if the first job of the queue is ordinary and fits on them.
func (s *nodes) passedOver(v *plan.World) []string {
	if len(v.Queue) == 0 {
		return nil
	}
	if r := v.Queue[0].Managed; r != nil && (!r.Rigid() || r.Seen.Held || v.Now-max(r.Submitted, r.AdmittedAt) < core.Time(idleAfter/time.Second)) {
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

// repair repairs stuck nodes, at most every few seconds.
func (s *nodes) repair(ctx context.Context, v *plan.World) {
	now := s.eventLog.clock.Now()
	if now.Before(s.repaired.Add(repairEvery)) {
		return
	}
	nodes := s.stuck(v)
	if len(nodes) == 0 {
		return
	}
	s.repaired = now
	for _, n := range nodes {
		if _, lost := s.lost[n]; lost {
			s.lost[n] = now
		} else {
			s.idle[n] = now
		}
	}
	s.eventLog.Warn("nodes are idle and not allocated, or in use by no job: repaired", "nodes", names(nodes))
	s.workers.background(func() error { return s.workers.caller.Repair(ctx, nodes) }, func(error) {})
}

// wakeAgain is the pause until the batch system is asked again to boot a node that is still powered down.
const wakeAgain = 30 * time.Second

// wakeMargin is the number of seconds for which a node should have booted before it is needed.
const wakeMargin core.Time = 10

// wake boots the nodes that jobs need soon, for a step or for a start. A batch system does not boot a node because it is reserved.
func (s *nodes) wake(ctx context.Context, v *plan.World) {
	waker, ok := s.workers.caller.System.(adapter.PowerManager)
	if !ok || waker.BootTime() <= 0 {
		return
	}
	asleep := map[string]bool{}
	for _, n := range v.Snapshot.Nodes {
		asleep[n.Name] = n.Asleep
	}
	now := s.eventLog.clock.Now()
	for n := range s.woken {
		if !asleep[n] { // if it is powered down again, it is booted at once
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
	s.workers.background(func() error { return s.workers.caller.Wake(ctx, waker, nodes) }, func(error) {})
}

// neededBy returns the nodes that one of the jobs gets until that second.
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

// names returns node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
