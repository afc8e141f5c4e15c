package replay

import (
	"accordion/core"
	"accordion/traces/workload"
)

// seats are the job IDs that the policy gets. IDs of ended jobs are used again, so that tables indexed by ID are only as large as the number
// of jobs that exist at the same time.
type seats struct {
	rows []*[row]seat
	n    uint32   // number of used IDs
	left []uint32 // free IDs
}

// seat is a job ID with the job as the policy gets it. Its parts that are the same for every rigid job are set only once.
type seat struct {
	index   int32 // index of the job in the workload
	job     core.Job
	choices [1]core.EP
	step    [1]core.Step
}

const row = 256 // seats in one piece of memory, which never moves

// take returns a seat for a job of the workload.
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

// add creates a seat.
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

// leave frees an ID.
func (s *seats) leave(number uint32) { s.left = append(s.left, number) }

func (s *seats) at(number uint32) *seat { return &s.rows[number/row][number%row] }

// rigid sets the job as a rigid one: its size for its requested time.
func (s *seat) rigid(j *workload.Job) {
	s.job.Submit = j.Submit
	s.step[0] = core.Step{Duration: j.Request, Nodes: j.Size}
}
