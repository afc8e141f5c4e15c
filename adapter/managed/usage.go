package managed

import "accordion/core"

// Used returns two numbers of node-seconds. `used` is what a running job has held until the second
// `end`. `unused` is what was reserved ahead for later steps, and stays unused if the job ends at
// that second. For a later step only the nodes beyond the present ones count. Each step counts for
// no longer than the job has run, because a job that fails at its start has kept almost nothing
// from other jobs.
func (r *Job) Used(end core.Time) (used, unused core.Time) {
	if r.Began == 0 || len(r.Promise) == 0 {
		return 0, 0
	}
	ep, from := r.EP(), r.Began
	for step, last := 0, r.Step; step <= last; step++ {
		to := end
		if step < last {
			to = min(r.Promise[step], end)
		}
		used += max(to-from, 0) * core.Time(ep[step].Nodes)
		from = max(from, to)
	}
	if r.Unreserved || r.Part != nil {
		return used, 0
	}
	for _, later := range ep[r.Step+1:] {
		unused += core.Time(max(later.Nodes-ep[r.Step].Nodes, 0)) * min(later.Duration, max(end-r.Began, 0))
	}
	return used, unused
}

// Grows reports whether any step after the step `from` has more nodes than the step before.
func Grows(ep core.EP, from int) bool {
	for step := from + 1; step < len(ep); step++ {
		if ep[step].Nodes > ep[step-1].Nodes {
			return true
		}
	}
	return false
}
