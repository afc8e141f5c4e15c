package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/policy"
)

// Under some policies a few jobs have a reservation, and the others start when they fit (core/sched). They give a place to these few and
// to who starts now, where now is the second at which jobs begin that are begun now.

// Turn is where a waiting job stands under such a policy.
type Turn struct {
	// Due is the second from which on it may have a reservation, behind those that are due before it. 0: from the first on, for
	// nobody has to wait before he is due.
	Due core.Time
	Has bool // a reservation
}

// few says whether the policy is such a one.
func (v *World) few() bool {
	_, few := policy.Patient(v.Settings.Policy)
	return few
}

// asOf is the second for which the plan is made.
func (v *World) asOf() core.Time {
	if v.few() {
		return v.atStart()
	}
	return v.Now
}

// dueAs is a job that is due as if it had listed other choices than it has, in which it does not run for so many of the last seconds.
func (v *World) dueAs(j core.Job, listed []core.EP, pause core.Time) core.Job {
	if easy, few := policy.Patient(v.Settings.Policy); few {
		return easy.DueLike(j, core.Job{Submit: j.Submit, Choices: listed, Pause: pause})
	}
	return j
}

// Waits says whether a job that has no place waits until there is room for it, or has a reservation: none is promised to it yet.
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

// turn says of all that wait when they are due, and who has a reservation.
func (v *World) turn() {
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
		if t, waits := v.Turns[p.Job]; waits && p.Start > v.asOf() {
			t.Has = true
			v.Turns[p.Job] = t
		}
	}
}

// protected is the queue in the order in which reservations are kept for those that wait: first for who has one by the policy, then for who
// starts now.
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
