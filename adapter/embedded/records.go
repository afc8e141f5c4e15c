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

// Record is one job's whole life, for audits and charts.
type Record struct {
	adapter.Job             // as it is now; Nodes only while it holds some
	Kind        string      // rigid, moldable, evolving; expander
	Submit      time.Time   // when it was submitted
	Start, End  time.Time   // zero when it has not started, ended
	Spans       []Span      // what it held, and holds until now, by time then node
	MergedInto  adapter.Key // the parent that an expander's nodes went to
	Output      []string    // what its user can read
}

// Jobs gives the records of all jobs in the order of submission. A node that is still held is recorded until now.
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
