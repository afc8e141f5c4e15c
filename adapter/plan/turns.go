package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/policy"
)

// Under some policies only a few waiting jobs have a reservation, and the other jobs start when
// they fit (core/sched). A plan under such a policy has places for these few jobs, and for the jobs
// that start now, that is at startTime.

// A Turn is the turn of a waiting job to have a reservation, under a policy that reserves for few
// jobs.
type Turn struct {
	// Due is the second from which the job may have a reservation, after the jobs that are due
	// before it. 0 means that the policy lets jobs have a reservation without a wait.
	Due core.Time
	Has bool // the job has a reservation
}

// reservesForFew reports whether the policy reserves for few jobs.
func (v *World) reservesForFew() bool {
	_, few := policy.Patient(v.Settings.Policy)
	return few
}

// planTime returns the second for which the plan is made.
func (v *World) planTime() core.Time {
	if v.reservesForFew() {
		return v.startTime()
	}
	return v.Now
}

// dueAs returns the job with the due time that it would have with the listed choices. The job does
// not use the last `pause` seconds of each choice.
func (v *World) dueAs(j core.Job, listed []core.EP, pause core.Time) core.Job {
	if easy, few := policy.Patient(v.Settings.Policy); few {
		return easy.DueLike(j, core.Job{Submit: j.Submit, Choices: listed, Pause: pause})
	}
	return j
}

// Waits reports whether a job without a place in the plan waits for free nodes, or until it is due
// for a reservation.
func (v *World) Waits(r *managed.Job) bool {
	if _, waits := v.Turns[r.ID]; !waits {
		return false
	}
	n := 0
	for _, lost := range v.lost {
		if !lost {
			n++
		}
	}
	return slices.ContainsFunc(r.Choices, func(ep core.EP) bool { return ep.Peak() <= n })
}

// setTurns computes when the waiting jobs are due, and which of them have a reservation.
func (v *World) setTurns() {
	easy, few := policy.Patient(v.Settings.Policy)
	if !few {
		return
	}
	v.Turns = make(map[core.JobID]Turn, len(v.Queue))
	for _, w := range v.Queue {
		if !w.Job.Foreign {
			t := Turn{}
			if easy.Ages() {
				t.Due = easy.Due(w.Job)
			}
			v.Turns[w.Job.ID] = t
		}
	}
	for _, p := range v.Planned.Jobs {
		if t, waits := v.Turns[p.Job]; waits && p.Start > v.planTime() {
			t.Has = true
			v.Turns[p.Job] = t
		}
	}
}

// protected returns the queue in the order in which nodes are reserved for waiting jobs: first
// those with a reservation by the policy, then those that start now.
func (v *World) protected() []Waiter {
	if v.Turns == nil {
		return v.Queue
	}
	all := make([]Waiter, 0, len(v.Queue))
	for _, has := range []bool{true, false} {
		for _, w := range v.Queue {
			if v.Turns[w.Job.ID].Has == has {
				all = append(all, w)
			}
		}
	}
	return all
}
