// Package workload is the jobs of a replay: what of a log is of use, the window and the load that are looked at, and what if a
// share of them evolved or were moldable. It replays nothing (package replay) and reads no files (package swf).
//
//	selected, err := workload.Selection{}.Select(log) // of a swf.Log
package workload

import (
	"accordion/core"
)

// Kind says what of a job the planner may choose.
type Kind uint8

// The kinds of jobs.
const (
	Rigid    Kind = iota // one size for its whole life
	Moldable             // one of several sizes, chosen at its start
	Evolving             // its size changes from step to step
)

// Kinds are the names of the kinds, by kind.
var Kinds = [...]string{"rigid", "moldable", "evolving"}

func (k Kind) String() string { return Kinds[k] }

// Job is one job of a workload, by the rules under which replays are compared. It has only what a replay needs of the log.
type Job struct {
	Number  int64     // its number in the log
	Submit  core.Time // seconds
	Run     core.Time // how long it would run undisturbed; at most Request for a rigid job
	Request core.Time // how long it asked for
	Size    int       // nodes: its only size, or the peak of what it asked for
	User    int32     // as in the log; −1 unknown
	Cut     bool      // the log's run time was longer than its request: killed there

	// Choices are the profiles among which the planner chooses (core.Job); nil for a rigid job, which is Size nodes for
	// Request seconds.
	Choices []core.EP
	// Runs says for each of Choices how long the job has to work in it, in seconds: at most the choice's total. Nil: Run,
	// whichever is chosen.
	Runs []core.Time
}

// Kind is what the planner may choose of the job.
func (j *Job) Kind() Kind {
	switch {
	case len(j.Choices) == 0:
		return Rigid
	case len(j.Choices[0]) > 1:
		return Evolving
	default:
		return Moldable
	}
}

// work is how long the job has to work in one of its choices.
func (j *Job) work(choice int) core.Time {
	if len(j.Runs) == 0 {
		return j.Run
	}
	return j.Runs[choice]
}

// Workload is what is replayed: jobs by (submit, log order), on one machine.
type Workload struct {
	Name    string
	Machine core.Machine
	Jobs    []Job
}

// Need is the area that the job needs for what it does, in node-seconds, however it is run: of an evolving job what its
// profile asks for in the time that it works, of others the log's size for the log's run time. What a moldable job holds beyond
// that, it loses to a large size's overhead.
func (j *Job) Need() int64 {
	if j.Kind() != Evolving {
		return int64(j.Size) * j.Run
	}
	var area int64
	left := j.work(0)
	for _, s := range j.Choices[0] {
		d := min(s.Duration, left)
		area += d * int64(s.Nodes)
		left -= d
	}
	return area
}
