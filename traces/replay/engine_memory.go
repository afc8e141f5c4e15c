package replay

import (
	"accordion/core"
	"accordion/traces/workload"
)

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
