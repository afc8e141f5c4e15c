// Package replay runs a recorded workload through the planner in virtual time: which job would have begun when, on which
// sizes, had core/queue decided.
//
// It decides nothing itself: every start, growth and shrink is a policy's (package queue), the same that the sidecar asks
// for a real cluster. It does not read logs (package swf) and draws nothing (package report).
//
//	selected, err := replay.Selection{}.Select(log)          // of a swf.Log: what is of use
//	result := replay.Run(selected.Workload, queue.EASY{})    // who began when
//	metrics := replay.Measure(selected.Workload, result)     // how long jobs waited
//	placed, err := replay.Place(selected.Workload, result)   // on which nodes
//	err = replay.WriteJobs(os.Stdout, selected, result, placed)
package replay

import "accordion/core"

// Kind says what of a job the planner may choose.
type Kind uint8

// The kinds of jobs.
const (
	Rigid    Kind = iota // one size for its whole life
	Moldable             // one of several sizes, chosen at its start
	Evolving             // its size changes from step to step
)

// Job is one job of a workload, by the rules under which replays are compared: what a log says of no use is gone.
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

// Workload is what is replayed: jobs by (submit, log order), on one machine.
type Workload struct {
	Name    string
	Machine core.Machine
	Jobs    []Job
}

// Outcome is what became of one job.
type Outcome struct {
	Start  core.Time // −1: it never began
	End    core.Time
	Choice int     // which of its choices; AsRequested when the policy did not look at them
	Held   core.EP // an evolving job's sizes from Start to End, as it held them; nil: one size throughout
}

// AsRequested is the Choice of a job with choices under a policy that knows rigid jobs only: Size nodes.
const AsRequested = -1

// Nodes is how many nodes a job held at its peak; 0 when it never began.
func (o *Outcome) Nodes(j *Job) int {
	switch {
	case o.Start < 0:
		return 0
	case o.Held != nil:
		return o.Held.Peak()
	case len(j.Choices) == 0 || o.Choice == AsRequested:
		return j.Size
	}
	return j.Choices[o.Choice].Peak()
}

// Result is a whole replay.
type Result struct {
	Policy   string    // as the user named it
	Outcomes []Outcome // beside Workload.Jobs
}
