package replay

import (
	"iter"
	"strconv"

	"accordion/core"
	"accordion/traces/workload"
)

// Outcome is the result of one job.
type Outcome struct {
	Start  core.Time // −1 if the job never began
	End    core.Time
	Choice int     // index of its choice; AsRequested if the policy ignored the choices
	Held   core.EP // sizes that an evolving or malleable job held from Start to End; nil if it had one size throughout
}

// AsRequested is the Choice of a job with choices under a policy for rigid jobs: it runs on Size nodes.
const AsRequested = -1

// Nodes returns the most nodes that a job held, or 0 if it never began.
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

// Area returns the node-seconds that the job held.
func (o *Outcome) Area(j *workload.Job) int64 {
	if o.Held != nil {
		return o.Held.Area()
	}
	return int64(o.Nodes(j)) * (o.End - o.Start)
}

// ran returns the run time by which the slowdown of a job is computed. For a moldable or malleable job this is the run time in the log. With
// the real run time, a job that runs longer on a smaller size would have a better slowdown.
func (o *Outcome) ran(j *workload.Job) core.Time {
	if k := j.Kind(); k == workload.Moldable || k == workload.Malleable {
		return j.Run
	}
	return o.End - o.Start
}

// Slowdown returns the turnaround of a job divided by the run time that method ran returns. A run time below 10
// s counts as 10 s. The slowdown is at least 1. The job must have begun.
func (o *Outcome) Slowdown(j *workload.Job) float64 {
	return max(1, float64(o.End-j.Submit)/float64(max(o.ran(j), bound)))
}

// sizes returns the steps in which the job held nodes, from its start to its end.
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

// Result is the result of a replay.
type Result struct {
	Policy   string    // name of the policy as the user gave it
	Outcomes []Outcome // one per job of the workload
}
