package embedded

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Saved is the state that a batch system has on disk at one instant (System.Save).
type Saved struct {
	last         core.JobID
	jobs         []savedJob
	reservations []reservation
}

// savedJob is the state on disk of one job that has not ended.
type savedJob struct {
	job   *job
	state job // a copy of the job's fields at the instant of Save
}

// Save returns the present state, for Restart.
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

// Restart simulates that the batch system is killed and started again with the state of some
// seconds ago, as after kill -9 of slurmctld. It loses every change since: submissions (their IDs
// are used again), holds, releases, reservations, resizes. The lost state is corrected by the nodes
// in three points. A job that ended since stays ended. A job that started since is stopped on its
// nodes, and waits again as in the saved state. A node that is down stays down. An expander that
// returns cannot be merged any more.
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

// vacate takes every node from its holder, and records the holding so far.
func (s *System) vacate() {
	for i := range s.nodes {
		if h := s.nodes[i].holder; h != nil {
			s.free(h, i)
		}
	}
}

// ended reports whether the job has ended, as far as its nodes know. They do not know the end of a
// merged expander, which is only in the lost state.
func (j *job) ended() bool {
	return j.state == adapter.Ending || j.state == adapter.Done && j.mergedInto == nil
}

// restore gives a job its saved fields. The job's records stay. The count of its runs stays too,
// because it distinguishes the runs.
func (s *System) restore(j, old *job) {
	running := j.state == adapter.Running && j.run == old.run
	if old.state != adapter.Running || !running {
		j.halt()
	}
	s.over = slices.DeleteFunc(s.over, func(other *job) bool { return other == j }) // removes a merged expander, which exists again
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

// halt ends the job's processes on its nodes, without the knowledge of the batch system.
func (j *job) halt() {
	if j.kill != nil {
		j.kill()
	}
	j.run++
}
