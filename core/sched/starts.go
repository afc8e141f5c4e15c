package sched

import (
	"math"

	"accordion/core"
	"accordion/core/profile"
)

// Who starts now is known before all have a place: as long as nothing that runs ends, no job begins for which there is no room now. So
// where nobody asks for the plan, those at the end of a long queue need none at most instants.

// never is more nodes than any machine has: of a job without a profile that can be run.
const never = math.MaxInt32 - 1

// asks is a waiting job, and the least that it asks for: it can begin where so many nodes are free for so long, at best.
type asks struct {
	core.Job
	nodes   int
	seconds core.Time
	odd     int // 1 where that does not tell when it may begin: it has a profile of several steps
}

func asked(j core.Job) asks {
	a := asks{Job: j, nodes: never, seconds: core.Forever}
	for _, ep := range j.Choices {
		if len(ep) != 1 {
			a.odd = 1
			continue
		}
		a.nodes, a.seconds = min(a.nodes, ep[0].Nodes), min(a.seconds, ep[0].Duration)
	}
	return a
}

// planStarts gives a place to all that start now, and to those before them.
func (s *repeated) planStarts(now core.Time) {
	if s.outlook != nil || s.odd > 0 || now < s.begin || s.policy.Compact || s.policy.LeastWaste {
		s.plan(now)
		return
	}
	if now > s.later {
		s.complete()
	}
	s.keep(now)
	for last := len(s.queue); ; {
		free := freeNow{view: s.view, now: now, nodes: -1}
		for last > len(s.slots) && !free.has(&s.queue[last-1]) {
			last--
		}
		if last <= len(s.slots) {
			return
		}
		s.give(now, len(s.slots)+1)
	}
}

// complete gives a place to those that were passed over: the one that they would have been given with the others.
func (s *repeated) complete() {
	if s.view != nil && len(s.slots) < s.seen {
		s.give(s.later, s.seen)
	}
}

// freeNow tells whether there is room now.
type freeNow struct {
	view  *profile.Profile
	now   core.Time
	nodes int       // so many were asked for last
	until core.Time // and are free until then
}

// has says whether a job could begin now, if it is not much larger than the least that it asks for.
func (f *freeNow) has(a *asks) bool {
	if a.nodes != f.nodes {
		f.nodes = a.nodes
		f.until, _ = f.view.FirstBelow(a.nodes, f.now)
	}
	return f.until >= core.Forever || f.until-f.now >= a.seconds
}
