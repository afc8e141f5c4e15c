package embedded

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// Saved is what a batch system has on its disk at one instant (System.Save).
type Saved struct {
	last         core.JobID
	jobs         []savedJob
	reservations []reservation
}

// savedJob is what the disk knows of one job that is not over.
type savedJob struct {
	job   *job
	state job // its fields at that instant
}

// Save notes the state as it is now: what Restart goes back to.
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

// Restart is the batch system killed and started again with the state of some seconds ago, as after kill -9 of slurmctld.
// What it was told since is lost: submissions (their ids are used again), holds, releases, reservations, resizes. The nodes
// know better in three things: a job that ended since stays ended, a job that started since is ended there (a held or
// pending one waits again), a node that is down stays down. An expander that comes back cannot be merged any more.
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
			s.goBack(old.job, &old.state)
		}
	}
	for _, j := range jobs {
		switch {
		case j.state == adapter.Ending:
			s.bury(j)
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

// vacate takes every node from its holder, with the holding so far in the records.
func (s *System) vacate() {
	for i := range s.nodes {
		if h := s.nodes[i].holder; h != nil {
			s.free(h, i)
		}
	}
}

// ended says whether the job is over, as far as its nodes know: the end of an expander that was merged is only in the
// state that was lost.
func (j *job) ended() bool {
	return j.state == adapter.Ending || j.state == adapter.Done && j.mergedInto == nil
}

// goBack gives a job the fields it had. Its records stay, and the count of its runs, which tells them apart.
func (s *System) goBack(j, old *job) {
	running := j.state == adapter.Running && j.run == old.run
	if old.state != adapter.Running || !running {
		j.halt()
	}
	s.over = slices.DeleteFunc(s.over, func(other *job) bool { return other == j }) // a merged expander
	spans, output, run, kill := j.spans, j.output, j.run, j.kill
	*j = *old
	j.spans, j.output, j.run, j.kill = spans, output, run, kill
	j.stale = j.expands != nil
	j.nodes = nil
	for _, i := range old.nodes {
		s.take(j, i)
	}
	if old.state == adapter.Running && !running && j.expands == nil {
		s.finish(j, "NODE_FAIL") // its nodes do not know it
	}
}

// halt ends what runs of the job on its nodes, without a word to the batch system.
func (j *job) halt() {
	if j.kill != nil {
		j.kill()
	}
	j.run++
}
