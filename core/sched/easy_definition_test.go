package sched_test

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/sched"
)

// twin is the definition word by word, on an array of seconds. It checks every second of every step, and remembers
// only the running jobs.
type twin struct {
	policy  sched.Patient
	nodes   int
	queue   []core.Job // in the order of the Submit calls
	running []*promise // in the order of the starts
	places  []promise
}

// promise is what a job holds from a time on.
type promise struct {
	core.Allocation
	choice int
	told   int
}

// used returns the nodes promised at a second.
func (w *twin) used(t core.Time) int {
	sum := 0
	for _, r := range w.running {
		sum += r.EP.At(t - r.Start)
	}
	for _, p := range w.places {
		sum += p.EP.At(t - p.Start)
	}
	return sum
}

// fits reports whether one profile of a job fits at t. It is fits(j, t) of the definition, for one profile.
func (w *twin) fits(j core.Job, ep core.EP, t core.Time) bool {
	for k := range ep.Total() {
		if w.used(t+k)+ep.At(k) > w.nodes {
			return false
		}
	}
	return t >= j.Begin
}

// begins returns the profile that completes first among those that can start at a second.
func (w *twin) begins(j core.Job, t core.Time) (p promise, ok bool) {
	for c, ep := range j.Choices {
		q := promise{core.Allocation{Job: j.ID, Start: t, EP: ep}, c, ep.At(0)}
		if w.fits(j, ep, t) && (!ok || q.sooner(p)) {
			p, ok = q, true
		}
	}
	return p, ok
}

// sooner reports whether p completes before q, or at the same time with fewer nodes.
func (p *promise) sooner(q promise) bool {
	return cmp.Or(cmp.Compare(p.End(), q.End()), cmp.Compare(p.EP.Peak(), q.EP.Peak())) < 0
}

// reserve returns the first second after now at which the job fits, with the profile that completes first.
func (w *twin) reserve(j core.Job, now core.Time) (p promise, ok bool) {
	for c, ep := range j.Choices {
		if ep.Peak() > w.nodes {
			continue
		}
		t := now + 1
		for !w.fits(j, ep, t) {
			t++
		}
		if q := (promise{core.Allocation{Job: j.ID, Start: t, EP: ep}, c, 0}); !ok || q.sooner(p) {
			p, ok = q, true
		}
	}
	return p, ok
}

// due returns when a job becomes due. If jobs need not wait until they are due, they keep the order of the queue whatever their
// submission times.
func (w *twin) due(j core.Job) core.Time {
	if w.policy.Most == 0 || w.policy.Factor == 0 {
		return -core.Forever
	}
	request := core.Forever
	for _, ep := range j.Choices {
		request = min(request, ep.Total())
	}
	return j.Submit + min(w.policy.Most, w.policy.Factor*request)
}

func (w *twin) pass(now core.Time) (starts []core.Start) {
	for _, grows := range []bool{false, true} { // 1
		for _, r := range w.running {
			if size := r.EP.At(now - r.Start); now < r.End() && size != r.told && (size > r.told) == grows {
				r.told = size
				starts = append(starts, core.Start{Job: r.Job, Nodes: size})
			}
		}
	}
	w.places = nil // 2
	given := 0
	for _, j := range w.order(now) { // 3, 4
		p, ok := w.begins(j, now)
		if ok {
			w.running = append(w.running, &p)
			w.queue = slices.DeleteFunc(w.queue, func(q core.Job) bool { return q.ID == j.ID })
			starts = append(starts, core.Start{Job: j.ID, Choice: p.choice, Nodes: p.told, Begins: true})
			continue
		}
		mine := w.due(j) <= now && given < max(w.policy.Reservations, 1)
		if !j.Foreign && !mine {
			continue
		}
		if p, ok := w.reserve(j, now); ok {
			w.places = append(w.places, p)
			if !j.Foreign {
				given++
			}
		}
	}
	return starts
}

// order returns the candidates: first the due jobs, then all others. A foreign job comes before all that were added
// after it.
func (w *twin) order(now core.Time) []core.Job {
	var due, rest, all []core.Job
	for _, j := range w.queue {
		if w.due(j) <= now && !j.Foreign {
			due = append(due, j)
		} else {
			rest = append(rest, j)
		}
	}
	slices.SortStableFunc(due, func(a, b core.Job) int { return cmp.Compare(w.due(a), w.due(b)) })
	index := func(j core.Job) int {
		return slices.IndexFunc(w.queue, func(q core.Job) bool { return q.ID == j.ID })
	}
	for _, d := range due {
		for len(rest) > 0 {
			k := slices.IndexFunc(rest, func(j core.Job) bool { return j.Foreign && index(j) < index(d) })
			if k < 0 {
				break
			}
			all, rest = append(all, rest[k]), slices.Delete(rest, k, k+1)
		}
		all = append(all, d)
	}
	return append(all, rest...)
}

func (w *twin) next(now core.Time) core.Time {
	next := core.Forever
	for _, p := range w.places {
		next = min(next, p.Start)
	}
	for _, j := range w.queue {
		if j.Begin > now {
			next = min(next, j.Begin)
		}
	}
	for _, r := range w.running {
		for t := r.Start; t <= r.End(); t++ {
			if t > now && r.EP.At(t-r.Start) != r.EP.At(t-1-r.Start) {
				next = min(next, t)
			}
		}
	}
	return next
}

// end removes what is left of a job.
func (w *twin) end(id core.JobID) {
	w.running = slices.DeleteFunc(w.running, func(r *promise) bool { return r.Job == id })
	w.queue = slices.DeleteFunc(w.queue, func(j core.Job) bool { return j.ID == id })
}
