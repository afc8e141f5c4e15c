package replay

import (
	"math"

	"accordion/core"
	"accordion/traces/workload"
)

// end is the end of a running job to come.
type end struct {
	at    core.Time
	order uint32 // of the starts
	seat  uint32 // whose
}

// before says which of two comes first.
func (a *end) before(b *end) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

// ends is a heap of them, the first at its top.
type ends []end

func (h *ends) push(x end) {
	*h = append(*h, x)
	h.rise(len(*h)-1, x)
}

// rise puts an end in an empty place, or above it.
func (h ends) rise(i int, x end) {
	for i > 0 {
		above := (i - 1) / 2
		if !x.before(&h[above]) {
			break
		}
		h[i] = h[above]
		i = above
	}
	h[i] = x
}

// pop takes the first out. The place at the top sinks to the bottom, where the last one takes it, which mostly belongs there. How
// far it sinks is known beforehand, and on which side is not, so that a branch would be guessed wrongly every other time.
func (h *ends) pop() end {
	n := len(*h) - 1
	all := *h
	first, x := all[0], all[n]
	all[n].at = math.MaxInt64 >> 1 // whoever has no other beside it has this one
	i := 0
	for below := 1; below < n; below = 2*i + 1 {
		by := all[below+1].at - all[below].at
		if by == 0 {
			by = int64(all[below+1].order) - int64(all[below].order)
		}
		below -= int(by >> 63)
		all[i] = all[below]
		i = below
	}
	all.rise(i, x)
	*h = (*h)[:n]
	return first
}

// seats are the numbers that the policy knows jobs by: those of jobs that are over are given again, so that whatever is
// kept by number is as large as the number of jobs that are there at a time.
type seats struct {
	rows []*[row]seat
	n    uint32   // in use so far
	left []uint32 // given back
}

// seat is one of them, with what the policy is told of a rigid job: of that, all that is the same for each is written once.
type seat struct {
	index   int32 // of the job in the workload
	job     core.Job
	choices [1]core.EP
	step    [1]core.Step
}

const row = 256 // seats in one piece of memory, which does not move

// take gives a seat to a job of the workload.
func (s *seats) take(index int32) *seat {
	var number uint32
	if last := len(s.left) - 1; last >= 0 {
		number = s.left[last]
		s.left = s.left[:last]
	} else {
		number = s.add()
	}
	at := s.at(number)
	at.index = index
	return at
}

// add makes one more seat.
func (s *seats) add() (number uint32) {
	number = s.n
	s.n++
	if number%row == 0 {
		s.rows = append(s.rows, new([row]seat))
	}
	at := s.at(number)
	at.choices[0] = at.step[:]
	at.job.ID, at.job.Choices = core.JobID(number), at.choices[:]
	return number
}

// leave gives a number back.
func (s *seats) leave(number uint32) { s.left = append(s.left, number) }

func (s *seats) at(number uint32) *seat { return &s.rows[number/row][number%row] }

// rigid has the job as it was requested: its size for its requested time.
func (s *seat) rigid(j *workload.Job) {
	s.job.Submit = j.Submit
	s.step[0] = core.Step{Duration: j.Request, Nodes: j.Size}
}
