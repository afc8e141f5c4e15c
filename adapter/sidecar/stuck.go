package sidecar

import (
	"context"
	"slices"
	"time"

	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
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

// noteIdle remembers since when the batch system shows each node as idle, and since when as not usable.
func (s *Sidecar) noteIdle() {
	now := s.clock.Now()
	for _, n := range s.snapshot.Nodes {
		switch {
		case n.Usable:
			delete(s.away, n.Name)
		case s.away[n.Name].IsZero():
			s.away[n.Name] = now
		}
		switch {
		case !n.Idle || !n.Usable:
			delete(s.idle, n.Name)
		case s.idle[n.Name].IsZero():
			s.idle[n.Name] = now
		}
	}
}

// noteLost remembers since when the batch system shows each node as in use by nobody. That is what remains in Slurm when
// a job ends while an expander is merged into it.
func (s *Sidecar) noteLost() {
	held := map[string]bool{}
	for _, j := range s.snapshot.Jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	now := s.clock.Now()
	for _, n := range s.snapshot.Nodes {
		switch {
		case n.Idle || !n.Usable || held[n.Name]:
			delete(s.lost, n.Name)
		case s.lost[n.Name].IsZero():
			s.lost[n.Name] = now
		}
	}
}

// idleFor is those of the nodes that have been idle for so long.
func (s *Sidecar) idleFor(d time.Duration, nodes []string) []string {
	var all []string
	for _, n := range nodes {
		if since, ok := s.idle[n]; ok && !s.clock.Now().Before(since.Add(d)) {
			all = append(all, n)
		}
	}
	return all
}

// stuck is the nodes that somebody waits for though they are idle (a released job, a growth that was refused, an ordinary
// job that fits on nodes that nobody reserved), and the lost ones.
func (s *Sidecar) stuck(v *plan.World) []string {
	var all []string
	for _, r := range s.sorted() {
		switch {
		case r.Phase == managed.Starting && r.Busy == "" && !s.clock.Now().Before(r.Released.Add(stuckAfter)):
			all = append(all, s.idleFor(stuckAfter, r.Nodes)...)
		case r.Refused != nil:
			all = append(all, s.idleFor(stuckAfter, r.Refused)...)
		}
	}
	for n, since := range s.lost {
		if !s.clock.Now().Before(since.Add(lostAfter)) {
			all = append(all, n)
		}
	}
	return append(all, s.forgotten(v)...)
}

// forgotten is idle, unreserved nodes on which the first ordinary job of the queue would fit.
func (s *Sidecar) forgotten(v *plan.World) []string {
	if len(v.Queue) == 0 || v.Queue[0].Managed != nil {
		return nil
	}
	reserved := map[string]bool{}
	for _, r := range s.snapshot.Reservations {
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
func (s *Sidecar) nudge(ctx context.Context, v *plan.World) {
	now := s.clock.Now()
	if now.Before(s.nudged.Add(nudgeEvery)) {
		return
	}
	nodes := s.stuck(v)
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
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
	s.log.Warn("nodes are idle and not allocated, or in use by no job: nudged", "cluster", s.settings.Cluster, "nodes", names(nodes))
	s.beside(func() error { return s.acts.Nudge(ctx, nodes) }, func(error) {})
}

// goneSince says whether a node that is away now went away at that second or later.
func (s *Sidecar) goneSince(second core.Time) bool {
	for _, since := range s.away {
		if since.Unix() >= second {
			return true
		}
	}
	return false
}
