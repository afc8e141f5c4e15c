package embedded

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Saved is a copy of the state of a batch system, as a real one writes it to disk (System.Save).
type Saved struct {
	last         core.JobID
	jobs         []savedJob
	reservations []reservation
}

// savedJob is the copied state of one job that has not ended.
type savedJob struct {
	job   *job
	state job // a copy of the job's fields at the instant of Save
}

// Save returns a copy of the present state, for Restart.
func (s *System) Save() *Saved {
	s.enter()
	defer s.leave()
	saved := &Saved{last: s.last}
	for _, j := range s.jobs {
		state := *j
		state.nodes = slices.Clone(j.nodes)
		saved.jobs = append(saved.jobs, savedJob{j, state})
	}
	for _, r := range s.reservations {
		saved.reservations = append(saved.reservations, *r)
	}
	return saved
}

// Restart simulates that the batch system is killed and started again with the state that Save
// returned earlier, as after kill -9 of slurmctld. It loses all changes that were made in between:
// submissions (their IDs are used again), holds, releases, reservations and resizes. The nodes still
// know some of these changes. A job that ended in between stays ended. A job that started in between
// is stopped on its nodes, and waits again. A node that is down stays down. If an expander that was
// already merged is in the saved state, it exists again and cannot be merged any more.
func (s *System) Restart(saved *Saved) {
	s.enter()
	defer s.leave()
	s.vacate()
	jobs, known := s.jobs, make(map[*job]bool, len(saved.jobs))
	s.jobs, s.last = nil, saved.last
	for _, old := range saved.jobs {
		known[old.job] = true
		if !old.job.ended() {
			s.jobs = append(s.jobs, old.job)
			s.restore(old.job, &old.state)
		}
	}
	for _, j := range jobs {
		switch {
		case j.state == adapter.Ending:
			s.remove(j)
		case !known[j]:
			j.halt()
			j.state, j.why, j.over = adapter.Done, "LOST", s.now
			s.lost = append(s.lost, j)
		}
	}
	s.reservations = nil
	for _, r := range saved.reservations {
		s.reservations = append(s.reservations, &r)
	}
	for _, j := range slices.Clone(s.jobs) {
		if j.state == adapter.Running && slices.ContainsFunc(j.nodes, func(i int) bool { return s.nodes[i].down }) {
			s.finish(j, "NODE_FAIL")
		}
	}
	s.callForPass()
}

// vacate takes every node from the job that holds it, and records until when the job held the node.
func (s *System) vacate() {
	for i := range s.nodes {
		if h := s.nodes[i].holder; h != nil {
			s.free(h, i)
		}
	}
}

// ended reports whether the job's nodes know that the job has ended. They do not know it for an
// expander that was merged, because only the lost state had the merge.
func (j *job) ended() bool {
	return j.state == adapter.Ending || j.state == adapter.Done && j.mergedInto == nil
}

// restore gives a job its saved fields. It does not change the job's output and spans. It does not
// change the number of the job's runs either, because that number distinguishes one run from another.
func (s *System) restore(j, old *job) {
	running := j.state == adapter.Running && j.run == old.run
	if old.state != adapter.Running || !running {
		j.halt()
	}
	s.over = slices.DeleteFunc(s.over, func(other *job) bool { return other == j }) // the job may be a merged expander, which exists again
	spans, output, run, kill := j.spans, j.output, j.run, j.kill
	*j = *old
	j.spans, j.output, j.run, j.kill = spans, output, run, kill
	j.stale = j.expands != nil
	j.nodes = nil
	for _, i := range old.nodes {
		s.take(j, i)
	}
	if old.state == adapter.Running && !running && j.expands == nil {
		s.finish(j, "NODE_FAIL") // the nodes do not know this job
	}
}

// halt ends the job's processes on its nodes. It does not change the job's state in the batch system.
func (j *job) halt() {
	if j.kill != nil {
		j.kill()
	}
	j.run++
}
