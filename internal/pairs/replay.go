package pairs

import (
	"time"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Replayed replays a workload on the given number of nodes, and returns the starts and ends of the jobs. In the
// replay each start and end is on time, and no overrun allowance is planned.
func Replayed(all []Job, nodes int, by sched.Policy) []Run {
	w := workload.Workload{Machine: core.Machine{Nodes: nodes}}
	for i, j := range all {
		one := workload.Job{Number: int64(i + 1), Submit: core.Time(j.At / time.Second), Size: j.Nodes, Run: j.Runs, Request: j.Asks}
		if j.Profile != nil {
			one.Choices = []core.EP{j.Profile}
		}
		w.Jobs = append(w.Jobs, one)
	}
	runs := make([]Run, len(all))
	for i, o := range replay.Run(w, by).Outcomes {
		runs[i] = Run{Job: all[i], Start: float64(o.Start), End: float64(o.End)}
	}
	return runs
}
