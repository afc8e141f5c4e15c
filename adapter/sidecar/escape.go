package sidecar

import (
	"fmt"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/evolve"
)

// letGo treats a job that escaped as a rigid one, of the size and the limit that the batch system gives it: nobody plans
// with less, and it is resized no more.
func (s *Sidecar) letGo(r *managed.Job, j *adapter.Job) error {
	was := r.Request
	lasts := min(j.Limit, core.MaxTotal-s.settings.Guard) + s.settings.Guard
	r.Choice, r.Choices = 0, []core.EP{{{Duration: max(lasts, 1), Nodes: max(len(j.Nodes), 1)}}}
	r.Request = "ep=" + evolve.Format(r.Choices[0])
	return s.event(r, "escaped", fmt.Sprintf("runs without having been started by us: from now on a rigid job of %d nodes", len(j.Nodes)),
		map[string]any{"nodes": names(j.Nodes), "request": was})
}
