package observe

import (
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// apart is the jobs of the queue that a pass plans and the sidecar does not: besteffort ones, and those that wait for another
// job's end. One that the last pass refused, or the next one will, is none.
func (o *Reader) apart(records []*Job) (all []adapter.Apart) {
	for _, r := range records {
		if !o.passed(r) || !r.Blocked && !r.Besteffort() {
			continue
		}
		pause := o.db.Conf.SecurityTime
		a := adapter.Apart{
			Job:   core.Job{ID: r.ID, Submit: r.Submitted, Begin: r.Begin, Choices: slices.Clone(r.Choices), Pause: pause},
			After: r.Blocked, Uncounted: r.Besteffort(),
		}
		if a.Choices == nil {
			a.Choices = []core.EP{{{Duration: min(max(r.Limit, 1), core.MaxTotal) + pause, Nodes: max(r.Want, 1)}}}
		}
		if a.Uncounted { // it is planned for a moment, whatever its walltime
			a.Pause = 0
			for i, ep := range a.Choices {
				a.Choices[i] = core.EP{{Duration: o.db.Conf.Besteffort, Nodes: ep[0].Nodes}}
			}
		}
		all = append(all, a)
	}
	return all
}
