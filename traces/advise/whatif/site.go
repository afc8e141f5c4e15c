package whatif

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/traces/advise"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// Site is the workload of an accounting: the runs as they were, on so many nodes; 0: on the most that were ever in use at once. It goes by the rules
// by which logs are replayed (workload.Selection): a run lasts no longer than its limit, and where no run has one each asks for what it takes (RunOnly).
// One without a limit, among others that have one, asks for the longest of these. The error is that of Select.
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

// submitted is when a run was, by a clock that does not jump.
func submitted(r *advise.Run) core.Time {
	if r.Submit <= 0 || r.Submit > r.Start {
		return r.Start
	}
	return r.Submit
}

// InUse is how many nodes were in use at once, at most. What ends at a second leaves its nodes to what begins at it.
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
