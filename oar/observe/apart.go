package observe

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// plannedElsewhere returns the jobs of the queue that OAR's passes plan but the sidecar does not. These are besteffort jobs, and jobs that
// wait for the end of another job. It leaves out jobs that the last pass has refused, and jobs that the next pass will refuse.
func (o *Reader) plannedElsewhere(records []*Job) (all []adapter.OutsideJob) {
	for _, r := range records {
		if !o.plannedByPass(r) || !r.Blocked && !r.Besteffort() {
			continue
		}
		pause := o.db.Conf.SecurityTime
		a := adapter.OutsideJob{
			Job:   core.Job{ID: r.ID, Submit: r.Submitted, Begin: r.Begin, Choices: slices.Clone(r.Choices), Pause: pause},
			After: r.Blocked, Uncounted: r.Besteffort(),
		}
		if a.Choices == nil {
			a.Choices = []core.EP{{{Duration: min(max(r.Limit, 1), core.MaxTotal) + pause, Nodes: max(r.Want, 1)}}}
		}
		if a.Uncounted { // a pass plans a besteffort job for a fixed time, whatever its walltime
			a.Pause = 0
			for i, ep := range a.Choices {
				a.Choices[i] = core.EP{{Duration: o.db.Conf.Besteffort, Nodes: ep[0].Nodes}}
			}
		}
		all = append(all, a)
	}
	return all
}
