// Package workload selects the jobs of a log for a replay. It can change their load and their requested times, and make a share of them
// evolving or moldable. It replays nothing (package replay) and reads no files (package swf).
//
//	selected, err := workload.Selection{}.Select(log) // log is a *swf.Log
package workload

import (
	"accordion/core"
)

// Kind is the kind of a job: rigid, moldable, evolving or malleable. It determines what the planner may choose.
type Kind uint8

// The kinds of jobs.
const (
	Rigid     Kind = iota // one size during its whole life
	Moldable              // one of several sizes, chosen at its start
	Evolving              // the size changes from step to step, as requested
	Malleable             // the planner changes the size while the job runs, between two bounds
)

// Kinds are the names of the kinds.
var Kinds = [...]string{"rigid", "moldable", "evolving", "malleable"}

func (k Kind) String() string { return Kinds[k] }

// Job is one job of a workload. It has only what a replay needs of the log.
type Job struct {
	Number  int64     // number of the job in the log
	Submit  core.Time // submission time in seconds
	Run     core.Time // run time if nothing delays it, in seconds; at most Request for a rigid job
	Request core.Time // requested seconds
	Size    int       // nodes: the only size, or the largest one that the job requests
	User    int32     // as in the log; −1 if unknown
	Cut     bool      // the log's run time was longer than Request, so that the job is killed at Request

	// Choices are the profiles from which the planner chooses (core.Job). Choices is nil for a rigid job, which requests Size nodes for Request
	// seconds.
	Choices []core.EP
	// Runs is the run time in each of Choices in seconds, at most the total of the choice. If Runs is nil, the run time is Run in all of them.
	Runs []core.Time
	// Range makes the job malleable: Size nodes for Request seconds are its reference. Range is nil if the job is not malleable.
	Range *Range
}

// Range is what the planner knows of a malleable job, and how fast the job really is.
type Range struct {
	core.Range
	Real core.Speed // the job's real speed on each size
}

// Kind returns what the planner may choose of the job.
func (j *Job) Kind() Kind {
	switch {
	case j.Range != nil:
		return Malleable
	case len(j.Choices) == 0:
		return Rigid
	case len(j.Choices[0]) > 1:
		return Evolving
	default:
		return Moldable
	}
}

// work returns the run time in one of the choices.
func (j *Job) work(choice int) core.Time {
	if len(j.Runs) == 0 {
		return j.Run
	}
	return j.Runs[choice]
}

// Workload is the jobs of a replay, sorted by submission and then as in the log, with their machine.
type Workload struct {
	Name    string
	Machine core.Machine
	Jobs    []Job
}

// Need returns the node-seconds that the job needs for its work, however it is run. For an evolving job this is its profile up to its run
// time, for other jobs the log's size and run time. A moldable job on a larger size holds more node-seconds than it needs: the difference is the
// overhead of the larger size.
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
