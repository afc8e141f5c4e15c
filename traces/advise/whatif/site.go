package whatif

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/traces/advise"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// Site returns the jobs of an accounting as they were, on a machine of this many nodes. If `nodes` is 0, the machine has the most nodes that
// were ever in use simultaneously. Site follows the rules for logs (workload.Selection): a job runs at most for its limit. If no job has a
// limit, each requests its run time (RunOnly). If only some jobs have a limit, the others request the longest of these limits. Errors come
// from Select.
func Site(runs []advise.Run, nodes int) (*workload.Selected, error) {
	log := &swf.Log{Name: "the accounting", Records: make([]swf.Record, len(runs))}
	first, longest := core.Forever, core.Time(0)
	for i := range runs {
		first = min(first, submitted(&runs[i]))
		longest = max(longest, runs[i].Limit)
	}
	for i := range runs {
		r := &runs[i]
		limit := cmp.Or(r.Limit, max(longest, r.End-r.Start))
		if longest == 0 {
			limit = swf.Unknown
		}
		log.Records[i] = swf.Record{Number: int64(i) + 1, Submit: submitted(r) - first, Wait: r.Start - submitted(r), Run: r.End - r.Start,
			Processors: int32(r.Held), RequestedProcessors: swf.Unknown, RequestedTime: limit, User: swf.Unknown}
	}
	return workload.Selection{Machine: cmp.Or(nodes, InUse(runs))}.Select(log)
}

// submitted returns when a run was submitted. If that is unknown or after its start, it returns the start.
func submitted(r *advise.Run) core.Time {
	if r.Submit <= 0 || r.Submit > r.Start {
		return r.Start
	}
	return r.Submit
}

// InUse returns the maximum number of nodes that were in use simultaneously. The nodes of a run that ends in a second are free for a run
// that starts in the same second.
func InUse(runs []advise.Run) int {
	type change struct {
		at   core.Time
		more int
	}
	changes := make([]change, 0, 2*len(runs))
	for i := range runs {
		if r := &runs[i]; r.End > r.Start {
			changes = append(changes, change{r.Start, r.Held}, change{r.End, -r.Held})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more)) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.more
		most = max(most, now)
	}
	return most
}
