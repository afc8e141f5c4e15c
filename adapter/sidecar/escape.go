package sidecar

import (
	"fmt"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/evolve"
)

// escaped says whether a job runs whose start was never decided: its owner got it out of its hold, which only the batch
// system's plug-in can prevent. Where a decided start was taken back or forgotten (by a batch system that lost its last
// seconds, say), and the job runs all the same, it is as managed as before.
func escaped(r *record) bool { return r.Phase == waiting && !r.Decided }

// letGo treats a job that escaped as a rigid one, of the size and the limit that the batch system gives it: nobody plans
// with less, and it is resized no more.
func (s *Sidecar) letGo(r *record, j *adapter.Job) error {
	was := r.Request
	lasts := min(j.Limit, core.MaxTotal-s.settings.Guard) + s.settings.Guard
	r.Choice, r.choices = 0, []core.EP{{{Duration: max(lasts, 1), Nodes: max(len(j.Nodes), 1)}}}
	r.Request = "ep=" + evolve.Format(r.choices[0])
	return s.event(r, "escaped", fmt.Sprintf("runs without having been started by us: from now on a rigid job of %d nodes", len(j.Nodes)),
		map[string]any{"nodes": names(j.Nodes), "request": was})
}
