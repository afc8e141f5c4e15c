package replay

import "accordion/core"

// end is the end of a running job to come.
type end struct {
	at    core.Time
	order uint32 // of the starts
	id    core.JobID
}

// before says which of two comes first.
func (a *end) before(b *end) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

// ends is a heap of them, the first at its top.
type ends []end

func (h *ends) push(x end) {
	all := append(*h, x)
	i := len(all) - 1
	for i > 0 {
		above := (i - 1) / 2
		if !x.before(&all[above]) {
			break
		}
		all[i] = all[above]
		i = above
	}
	all[i] = x
	*h = all
}

func (h *ends) pop() end {
	all := *h
	first, n := all[0], len(all)-1
	x := all[n]
	all = all[:n]
	*h = all
	if n == 0 {
		return first
	}
	i := 0
	for {
		below := 2*i + 1
		if below >= n {
			break
		}
		if other := below + 1; other < n {
			// Which of the two comes first is not known beforehand, so that a branch would be guessed wrongly every other time.
			by := all[other].at - all[below].at
			if by == 0 {
				by = int64(all[other].order) - int64(all[below].order)
			}
			below -= int(by >> 63)
		}
		if !all[below].before(&x) {
			break
		}
		all[i] = all[below]
		i = below
	}
	all[i] = x
	return first
}

// seats are the numbers that the policy knows jobs by: those of jobs that are over are given again, so that whatever is
// kept by number is as large as the number of jobs that are there at a time.
type seats struct {
	rows [][]seat
	n    int          // in use so far
	left []core.JobID // given back
}

// seat is one of them, with the memory of a rigid job's profile.
type seat struct {
	job     int32
	choices [1]core.EP
	step    [1]core.Step
}

const row = 256 // seats in one piece of memory, which does not move

// take gives a job its number.
func (s *seats) take(job int32) core.JobID {
	var id core.JobID
	if last := len(s.left) - 1; last >= 0 {
		id = s.left[last]
		s.left = s.left[:last]
	} else {
		if s.n%row == 0 {
			s.rows = append(s.rows, make([]seat, row))
		}
		id = core.JobID(s.n)
		s.n++
	}
	s.at(id).job = job
	return id
}

// leave gives a number back.
func (s *seats) leave(id core.JobID) { s.left = append(s.left, id) }

func (s *seats) at(id core.JobID) *seat { return &s.rows[id/row][id%row] }

// rigid is the job as it was requested: its size for its requested time.
func (s *seat) rigid(j *Job) []core.EP {
	s.step[0] = core.Step{Duration: j.Request, Nodes: j.Size}
	s.choices[0] = s.step[:]
	return s.choices[:]
}
