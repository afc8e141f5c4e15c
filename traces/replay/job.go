package replay

import (
	"iter"
	"strconv"

	"accordion/core"
)

// held is the area that the job occupied in an outcome, in node-seconds.
func (j *Job) held(o Outcome) int64 {
	if o.Held != nil {
		return o.Held.Area()
	}
	return int64(o.Nodes(j)) * (o.End - o.Start)
}

// worked is the area that the job needed for what it did in an outcome, in node-seconds: what it held, but of an evolving
// job what its profile asks for in the time that it worked, however it was run.
func (j *Job) worked(o Outcome) int64 {
	if j.Kind() != Evolving {
		return j.held(o)
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

// work is how long the job has to work in one of its choices.
func (j *Job) work(choice int) core.Time {
	if len(j.Runs) == 0 {
		return j.Run
	}
	return j.Runs[choice]
}

func appendInt(text []byte, n int64) []byte { return strconv.AppendInt(text, n, 10) }

// sizes are the steps in which the job held nodes, from its start to its end.
func (j *Job) sizes(o Outcome) iter.Seq[core.Step] {
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
