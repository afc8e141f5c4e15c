package replay

import (
	"iter"
	"strconv"

	"accordion/core"
	"accordion/traces/workload"
)

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
func (o *Outcome) Nodes(j *workload.Job) int {
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

// Area is the area that the job occupied in an outcome, in node-seconds.
func (o *Outcome) Area(j *workload.Job) int64 {
	if o.Held != nil {
		return o.Held.Area()
	}
	return int64(o.Nodes(j)) * (o.End - o.Start)
}

// ran is how long a job ran by which its turnaround is judged. Of a moldable one that is the log's run time, on the log's
// size: a smaller size, on which it runs longer, would flatter itself.
func (o *Outcome) ran(j *workload.Job) core.Time {
	if j.Kind() == workload.Moldable {
		return j.Run
	}
	return o.End - o.Start
}

// Slowdown is how many times as long a job was in the system as it ran (of a moldable one: in the log, on the log's size), where
// a run below 10 seconds counts as 10; at least 1. It holds for jobs that began.
func (o *Outcome) Slowdown(j *workload.Job) float64 {
	return max(1, float64(o.End-j.Submit)/float64(max(o.ran(j), bound)))
}

// sizes are the steps in which the job held nodes, from its start to its end.
func (o *Outcome) sizes(j *workload.Job) iter.Seq[core.Step] {
	return func(yield func(core.Step) bool) {
		if o.Held == nil {
			yield(core.Step{Duration: o.End - o.Start, Nodes: o.Nodes(j)})
			return
		}
		for _, s := range o.Held {
			if !yield(s) {
				return
			}
		}
	}
}

func appendInt(text []byte, n int64) []byte { return strconv.AppendInt(text, n, 10) }

// Result is a whole replay.
type Result struct {
	Policy   string    // as the user named it
	Outcomes []Outcome // beside Workload.Jobs
}
