package embedded

import (
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// promise is the earliest start, with its nodes, of the first job in the queue that cannot start now.
type promise struct {
	at    time.Time
	nodes []int
}

// pass starts the jobs that can start now, by EASY back-filling (Lifka 1995) on individual nodes. It
// goes through the jobs in order of rank. A job starts if enough nodes are free until the end of its
// time limit. The first job that cannot start receives a promise of its earliest start, which later
// jobs must not delay. A job that is attached to a reservation starts inside the reservation, and so
// delays no other job.
func (s *System) pass() {
	var head *promise
	for _, j := range s.queue() {
		if j.held || j.stopped || j.waitsForBegin {
			continue
		}
		if j.reservation != "" {
			s.startReserved(j)
			continue
		}
		free := s.fits(j, head)
		switch {
		case len(free) >= j.want:
			s.start(j, free[:j.want])
		case head == nil:
			j.why = "Resources"
			head = s.promiseTo(j)
		default:
			j.why = "Priority"
		}
	}
}

// startReserved starts a job that is attached to a reservation, if the reservation is active and
// enough of its nodes are idle.
func (s *System) startReserved(j *job) {
	r := s.reservation(j.reservation)
	if r == nil || !r.begun {
		return
	}
	var free []int
	for _, i := range r.nodes {
		if n := &s.nodes[i]; n.usable() && n.holder == nil {
			free = append(free, i)
		}
	}
	if len(free) >= j.want {
		s.start(j, free[:j.want])
	}
}

// fits returns the idle nodes on which the job may start now. The job must end before any reservation of these nodes begins, and must not
// delay the promise `head`.
func (s *System) fits(j *job, head *promise) []int {
	var free []int
	for i := range s.nodes {
		n := &s.nodes[i]
		if !n.usable() || n.holder != nil || s.reservedWithin(i, s.now, j.limit) {
			continue
		}
		if head != nil && slices.Contains(head.nodes, i) && (j.limit >= core.Forever || s.now.Add(seconds(j.limit)).After(head.at)) {
			continue
		}
		free = append(free, i)
	}
	return free
}

// promiseTo returns the earliest start of the job, assuming that running jobs end at their time
// limits. It returns nil if there are never enough nodes for the job.
func (s *System) promiseTo(j *job) *promise {
	times := []time.Time{s.now}
	freeAt := make([]time.Time, len(s.nodes)) // when each node becomes free; zero means never
	for i := range s.nodes {
		if n := &s.nodes[i]; n.usable() {
			freeAt[i] = s.freeAt(n.holder)
			times = append(times, freeAt[i])
		}
	}
	for _, r := range s.reservations {
		times = append(times, r.end)
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, t := range slices.CompactFunc(times, time.Time.Equal) {
		if t.Before(s.now) {
			continue
		}
		var fit []int
		for i, free := range freeAt {
			if !free.IsZero() && !free.After(t) && !s.reservedWithin(i, t, j.limit) {
				fit = append(fit, i)
			}
		}
		if len(fit) >= j.want {
			return &promise{at: t, nodes: fit[:j.want]}
		}
	}
	return nil
}

// freeAt returns when the nodes of the job `holder` become free, assuming that the job ends at its
// time limit. It returns the present time for nil, and the zero time if the end is not known.
func (s *System) freeAt(holder *job) time.Time {
	if holder == nil {
		return s.now
	}
	if holder.state == adapter.Ending {
		return holder.freeAt
	}
	end := holder.limitEnd()
	if end.IsZero() {
		return end
	}
	// A job past its limit runs until the next sweep. Assume that it ends a second from now.
	return latest(end, s.now.Add(time.Second))
}
