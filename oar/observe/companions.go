package observe

import (
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/scheduler"
)

// assemble joins the evolving jobs with their companions. If a companion's nodes do not belong to its base, assemble returns the companion
// as a separate job, an expander of the base.
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

// counts reports whether a companion's nodes belong to its base. Permanently lost nodes do not belong to it. OAR ends
// other jobs when their node is lost, but does not end noop jobs such as companions. A companion of a running job
// counts with its remaining nodes. If no node remains, it does not count.
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

// showAsExpander turns a companion into an expander, which the sidecar ends once it runs. If the base has ended, the companion would wait
// forever, so it is shown as running even while it waits.
func (r *Job) showAsExpander(base *Job) {
	r.Expands, r.Nodes = core.JobID(r.BaseJob), r.Holds
	if base == nil && r.State == adapter.Pending {
		r.State = adapter.Running
	}
}

// complete sets the job's nodes, base and reason, which depend on its companions.
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
				held = c.Places // the successor of a companion that was divided
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
		if r.Why == "" && r.OARState != "Finishing" && r.OARState != "Terminated" { // a job that ends normally needs no reason
			r.Why = r.OARState
		}
	}
}

// wait sets the reason why a waiting job waits. An evolving job waits for Accordion. A hold by the job's user is recorded separately from
// Accordion's hold.
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
