package observe

import (
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/scheduler"
)

// assemble joins the evolving jobs with their companions. A companion whose nodes do not count for its base is shown as
// a job of its own, as an expander of the base.
func assemble(records []*Job, nodes map[string]*adapter.Node) []*Job {
	byID := map[int64]*Job{}
	for _, r := range records {
		byID[int64(r.ID)] = r
	}
	shown := make([]*Job, 0, len(records))
	for _, r := range records {
		if r.BaseJob == 0 {
			shown = append(shown, r)
			continue
		}
		base := byID[r.BaseJob]
		if base != nil && r.counts(base, nodes) {
			base.Companions = append(base.Companions, r)
			continue
		}
		r.showAsExpander(base)
		shown = append(shown, r)
	}
	for _, r := range shown {
		if r.BaseJob == 0 {
			r.complete()
		}
	}
	return shown
}

// counts reports whether a companion's nodes belong to its base. Nodes that are away for good do not: a noop job
// outlives its node, while OAR ends every other job with its node. A companion of a running job counts with its other
// nodes; where it has none it does not count.
func (r *Job) counts(base *Job, nodes map[string]*adapter.Node) bool {
	if r.Joined == "" || base.State != adapter.Pending && base.State != adapter.Running {
		return false
	}
	if r.Away = nil; nodes == nil {
		return true
	}
	for _, host := range r.Holds {
		if n := nodes[host]; n == nil || n.Why == "Absent" {
			r.Away = append(r.Away, host)
		}
	}
	return len(r.Away) == 0 || base.OARState == "Running" && len(r.Away) < len(r.Holds)
}

// showAsExpander shows a companion as an expander, which the sidecar ends once it runs. Where its base has ended it is
// shown as running at once: it would wait forever.
func (r *Job) showAsExpander(base *Job) {
	r.Expands, r.Nodes = core.JobID(r.BaseJob), r.Holds
	if base == nil && r.State == adapter.Pending {
		r.State = adapter.Running
	}
}

// complete sets the job's nodes, base and reason, now that its companions are known.
func (r *Job) complete() {
	switch r.State {
	case adapter.Pending:
		r.wait()
	case adapter.Running:
		r.Nodes, r.Base = slices.Clone(r.Holds), len(r.Holds)
		for _, c := range r.Companions {
			if c.Joined == AtStart && c.State == adapter.Pending {
				r.State, r.Nodes, r.Why = adapter.Pending, nil, "its nodes above the base begin"
				return
			}
			held := c.Holds
			if c.State == adapter.Pending {
				held = c.Places // the successor of one that was divided
			}
			for _, host := range held {
				if !slices.Contains(r.Nodes, host) && !slices.Contains(c.Away, host) {
					r.Nodes = append(r.Nodes, host)
				}
			}
		}
	case adapter.Ending:
		r.Nodes = r.Holds
		fallthrough
	default:
		if r.Why == "" && r.OARState != "Finishing" && r.OARState != "Terminated" { // the usual end of a job
			r.Why = r.OARState
		}
	}
}

// wait sets why a waiting job waits. An evolving job waits for Accordion. A hold that its user set stays the user's,
// and does not replace ours.
func (r *Job) wait() {
	userHolds := r.OARState == database.StateHold
	if userHolds && r.Why == "" {
		r.Why = "its user holds it (oarhold)"
	}
	if !r.evolving() {
		r.Held, r.HeldByUser = userHolds, userHolds
		if strings.Contains(r.message, scheduler.Said) {
			r.Blocked, r.Why = true, r.message
		}
		return
	}
	r.Held = !r.Released
	if r.Mark == "" {
		r.HeldByUser = userHolds
	} else if userHolds {
		r.Blocked = true
	}
}
