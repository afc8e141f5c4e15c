package sched

import (
	"slices"

	"accordion/core"
)

// MayAdvance reports whether running job i may continue earlier than it was promised without delaying any other
// job. `running` has the promises of all running jobs and whatever else occupies the machine. `waiting` is the
// queue in rank order, and `plan` is the plan of this queue with these promises. If `better` replaces
// running[i], everything must still fit the machine, and no job of the plan may start or complete later or lose
// its place.
//
// So a job that is ahead of its promise gains nothing at the expense of another job. The papers re-run the scheduling algorithm
// "with updated information" (Klein & Pérez, CoreGRID 2011, section 6).
func MayAdvance(p Policy, now core.Time, m core.Machine, running []core.Allocation, i int, better core.Allocation, waiting []core.Job, plan core.Plan) bool {
	all := slices.Clone(running)
	all[i] = better
	if !Fits(m, all) {
		return false
	}
	state := p.New(m)
	for _, a := range all {
		state.Running(now, a)
	}
	for _, j := range waiting {
		state.Submit(now, j)
	}
	after := state.Plan(now)
	if len(after.Jobs) != len(plan.Jobs) {
		return false
	}
	for k, before := range plan.Jobs {
		now := after.Jobs[k]
		if now.Job != before.Job || now.Start > before.Start || now.Early > before.Early || now.End() > before.End() {
			return false
		}
	}
	return true
}
