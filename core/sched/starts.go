package sched

import (
	"math"

	"accordion/core"
	"accordion/core/profile"
)

// Starts does not need a place for every waiting job: a job for which there is no room now does not start until a running job
// ends. So as long as Plan is not called, the jobs at the end of a long queue rarely need a place.

// tooMany exceeds the nodes of every machine. It is the need of a job that has no valid profile.
const tooMany = math.MaxInt32 - 1

// queued is a waiting job with its smallest need: it can start only if this number of nodes is free for these seconds.
type queued struct {
	core.Job
	nodes     int
	seconds   core.Time
	multiStep int // 1 if the job has a choice of several steps, for which the smallest need is only a lower bound
}

func newQueued(j core.Job) queued {
	a := queued{Job: j, nodes: tooMany, seconds: core.Forever}
	for _, ep := range j.Choices {
		if len(ep) != 1 {
			a.multiStep = 1
			continue
		}
		a.nodes, a.seconds = min(a.nodes, ep[0].Nodes), min(a.seconds, ep[0].Duration)
	}
	return a
}

// planStarts gives places to the jobs that start now and to those before them.
func (s *repeated) planStarts(now core.Time) {
	if s.guards != nil || s.multiStep > 0 || now < s.begin || s.policy.Compact || s.policy.LeastWaste {
		s.plan(now)
		return
	}
	if now > s.later {
		s.complete()
	}
	s.refresh(now)
	for last := len(s.queue); ; {
		free := freeNow{view: s.view, now: now, nodes: -1}
		for last > len(s.slots) && !free.has(&s.queue[last-1]) {
			last--
		}
		if last <= len(s.slots) {
			return
		}
		s.assign(now, len(s.slots)+1)
	}
}

// complete gives a place to the jobs that planStarts skipped: the same place that plan would have given them.
func (s *repeated) complete() {
	if s.view != nil && len(s.slots) < s.seen {
		s.assign(s.later, s.seen)
	}
}

// freeNow answers whether nodes are free now.
type freeNow struct {
	view  *profile.Profile
	now   core.Time
	nodes int       // number of nodes in the last query
	until core.Time // first time at which fewer than these nodes are free
}

// has reports whether a job's smallest need is free now.
func (f *freeNow) has(a *queued) bool {
	if a.nodes != f.nodes {
		f.nodes = a.nodes
		f.until, _ = f.view.FirstBelow(a.nodes, f.now)
	}
	return f.until >= core.Forever || f.until-f.now >= a.seconds
}
