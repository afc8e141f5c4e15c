package replay

import (
	"accordion/core"
	"accordion/traces/workload"
)

// slots are the job IDs that the policy gets. IDs of ended jobs are used again, so that tables indexed by ID are only as large as the number
// of jobs that exist at the same time.
type slots struct {
	rows []*[row]slot
	n    uint32   // number of used IDs
	left []uint32 // free IDs
}

// slot is a job ID with the job in the form in which the policy gets it. The parts that are the same for every rigid job are set only once.
type slot struct {
	index   int32 // index of the job in the workload
	job     core.Job
	choices [1]core.EP
	step    [1]core.Step
}

const row = 256 // slots in one piece of memory, which never moves

// take returns a slot for a job of the workload.
func (s *slots) take(index int32) *slot {
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

// add creates a slot.
func (s *slots) add() (number uint32) {
	number = s.n
	s.n++
	if number%row == 0 {
		s.rows = append(s.rows, new([row]slot))
	}
	at := s.at(number)
	at.choices[0] = at.step[:]
	at.job.ID, at.job.Choices = core.JobID(number), at.choices[:]
	return number
}

// leave frees an ID.
func (s *slots) leave(number uint32) { s.left = append(s.left, number) }

func (s *slots) at(number uint32) *slot { return &s.rows[number/row][number%row] }

// rigid sets the job as a rigid one: its size for its requested time.
func (s *slot) rigid(j *workload.Job) {
	s.job.Submit = j.Submit
	s.step[0] = core.Step{Duration: j.Request, Nodes: j.Size}
}
