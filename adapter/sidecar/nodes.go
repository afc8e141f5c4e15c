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

// Slurm 22.05 sometimes shows a node as idle, but does not allocate it for half a minute to three
// minutes. This happens after a job was shrunk by NodeList=. If Slurm schedules between two epilogs
// of an ending job, it does not mark the last node as one that may be shared. Ordinary jobs are
// affected, too. `scontrol update NodeName=… State=UNDRAIN` repairs the node immediately. But then
// the node does not respond for most of a second. If Slurm allocates the node in that second, it
// launches the job ten seconds later. So the sidecar repairs only nodes that the batch system did
// not allocate.
const (
	stuckAfter  = 4 * time.Second  // time after which a node counts as stuck if it is idle but its allocation is refused; Slurm looks for free nodes every 3 s
	idleAfter   = 40 * time.Second // time after which a node counts as stuck if it is idle while a job that fits waits; longer than a back-filling interval
	lostAfter   = 10 * time.Second // time after which a node counts as stuck if it is in use but no job holds it
	repairEvery = 5 * time.Second
)

// absence is for how long plans assume that an unusable node will be usable again immediately.
// After a start of slurmctld all nodes are unknown for some seconds, which must not move promises.
// No job starts on an unusable node in the meantime.
const absence = 30 * time.Second

// nodes has, for each node, since when it has been in its present state.
type nodes struct {
	eventLog *eventLog
	jobs     *jobs
	workers  *workers

	idle     map[string]time.Time // since when the node has been idle and usable
	lost     map[string]time.Time // since when the node has been in use without a job that holds it
	away     map[string]time.Time // since when the node has not been usable
	woken    map[string]time.Time // when the batch system was last asked to boot the node
	repaired time.Time            // when stuck nodes were last repaired
}

// note records the states of nodes from a new reading. Here a lost node is a node that is in use
// although no job holds it. Slurm leaves such a node if a job ends while an expander is being
// merged into the job.
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

// forget removes all recorded instants, because the clock was set.
func (s *nodes) forget() {
	s.repaired = time.Time{}
	clear(s.idle)
	clear(s.lost)
	clear(s.away)
}

// outOfService reports whether plans must not use a node. That is the case if an administrator has
// to return the node to service, or if the node has been unusable for longer than absence.
func (s *nodes) outOfService(n adapter.Node) bool {
	return n.Away || !n.Usable && !s.eventLog.clock.Now().Before(s.away[n.Name].Add(absence))
}

// goneSince reports whether one of the nodes that are unusable now became unusable at that second
// or later.
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

// stuck returns the lost nodes, and idle nodes for which a job waits: a released job, a job whose
// growth was refused, or an ordinary job that fits on nodes that are not reserved.
func (s *nodes) stuck(v *plan.World) []string {
	var all []string
	now := s.eventLog.clock.Now()
	for _, r := range s.jobs.sorted() {
		switch {
		case r.Seen != nil && r.Seen.Blocked: // the job does not wait for nodes
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

// passedOver returns idle nodes that are not reserved, if the first job of the queue is ordinary
// and fits on them.
func (s *nodes) passedOver(v *plan.World) []string {
	if len(v.Queue) == 0 {
		return nil
	}
	if r := v.Queue[0].Managed; r != nil && (!r.Rigid() || r.Seen.Held || v.Now-max(r.Submitted, r.AdmittedAt) < core.Time(idleAfter/time.Second)) {
		return nil // the batch system does not start this job itself, or the job has not waited long enough
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

// wakeAgain is the pause until the batch system is asked again to boot a node that is still powered
// down.
const wakeAgain = 30 * time.Second

// A node should have booted wakeMargin seconds before it is needed.
const wakeMargin core.Time = 10

// wake boots the nodes that jobs soon need for a step or for a start, because a batch system does
// not boot a node only because it is reserved.
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
		if !asleep[n] { // the node has booted; if it is powered down later, it is booted again without a pause
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

// neededBy returns the nodes that the jobs receive up to the second `soon`.
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
