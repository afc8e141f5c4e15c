package embedded

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
)

// Span is one node held by one job, from From until just before To.
type Span struct {
	Node     string
	From, To time.Time
}

// Record is one job's history, for audits and charts.
type Record struct {
	adapter.Job             // the job as it is now; Nodes is empty if it holds no nodes now
	Kind        string      // rigid, moldable, evolving or expander
	Submit      time.Time   // when the job was submitted
	Start, End  time.Time   // zero if the job has not started or not ended
	Spans       []Span      // the nodes that the job has held until now, ordered by time, then by node
	MergedInto  adapter.Key // the job into which an expander was merged
	Output      []string    // lines of the job's output
}

// Jobs returns the records of all jobs in the order of submission. If a job still holds a node, the Span of that node ends now.
func (s *System) Jobs() []Record {
	s.enter()
	defer s.leave()
	var records []Record
	for _, j := range slices.Concat(s.over, s.lost, s.jobs) {
		records = append(records, s.record(j))
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Or(cmp.Compare(a.ID, b.ID), a.Submit.Compare(b.Submit)) })
	return records
}

func (s *System) record(j *job) Record {
	r := Record{
		Job: s.show(j), Kind: j.kind(), Submit: j.submitted, Start: j.started, End: j.over,
		Spans: slices.Clone(j.spans), Output: slices.Clone(j.output),
	}
	for _, i := range j.nodes {
		if n := &s.nodes[i]; n.since.Before(s.now) {
			r.Spans = append(r.Spans, Span{Node: n.name, From: n.since, To: s.now})
		}
	}
	slices.SortStableFunc(r.Spans, func(a, b Span) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(s.index[a.Node], s.index[b.Node]))
	})
	if j.mergedInto != nil {
		r.MergedInto = j.mergedInto.key
	}
	return r
}

func (j *job) kind() string {
	request := strings.TrimPrefix(j.mark, adapter.MarkPrefix)
	switch {
	case j.expands != nil:
		return "expander"
	case strings.HasPrefix(request, "ep="):
		return "evolving"
	case strings.HasPrefix(request, "mold="):
		return "moldable"
	}
	return "rigid"
}
