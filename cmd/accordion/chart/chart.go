// Package chart implements "accordion gantt". Its Builder collects the data for a Gantt chart of a sidecar's work. The
// nodes that each job held come from the batch system, and the job's promises come from the journal. Package gantt
// draws the chart.
//
//	b := chart.New()
//	b.Job(key, gantt.Job{Name: "mesh"})
//	b.Hold(key, gantt.Hold{Node: "n1", From: from, To: to})
//	for entry := range entries {
//		b.Note(entry)
//	}
//	err := b.Chart().Write(w)
package chart

import (
	"encoding/json"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/hostlist"
	"accordion/traces/gantt"
	"accordion/traces/workload"
)

// Builder collects jobs, holds and promises, in any order.
type Builder struct {
	order []adapter.Key
	jobs  map[adapter.Key]*collected
}

type collected struct {
	gantt.Job
	request  string // the request that the sidecar accepted; "" for an ordinary job
	known    bool   // Job was called for this job, not only Hold or Note
	promised core.EP
	moved    time.Duration // delay of the latest change after its promised time
	planned  time.Time     // promised start
	done     int           // number of changes in the journal, including the start
}

// New returns a builder without jobs.
func New() *Builder { return &Builder{jobs: map[adapter.Key]*collected{}} }

// of returns the entry of a job, and creates it if necessary.
func (b *Builder) of(key adapter.Key) *collected {
	j := b.jobs[key]
	if j == nil {
		j = &collected{}
		b.jobs[key] = j
		b.order = append(b.order, key)
	}
	return j
}

// Job adds a job. The builder fills in its ID, Holds and Planned. If the journal has its request, the builder fills in Request, Choices and Kind, too;
// otherwise the job is rigid.
func (b *Builder) Job(key adapter.Key, about gantt.Job) {
	j := b.of(key)
	about.ID, about.Kind, about.Holds, about.Planned = key.ID, workload.Rigid, j.Holds, j.Planned
	j.Job, j.known = about, true
}

// Hold adds a hold of a job.
func (b *Builder) Hold(key adapter.Key, h gantt.Hold) {
	j := b.of(key)
	j.Holds = append(j.Holds, h)
}

// Note adds an event of the journal: the request of "accepted", and the promised times of "starting", "grew" and "shrank". It ignores other entries.
func (b *Builder) Note(e journal.Entry) {
	if e.Kind != journal.KindEvent {
		return
	}
	key := adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
	number, _ := e.Args["planned"].(json.Number)
	planned, _ := number.Float64() // 0 if the event has no planned time, and then it is not used
	at := time.Unix(int64(planned), 0)
	switch e.Verb {
	case "accepted":
		b.of(key).request = e.Text
	case "starting":
		text, _ := e.Args["profile"].(string)
		requested, err := ep.Parse(text)
		if err != nil {
			return
		}
		j := b.of(key)
		j.promised, j.planned, j.moved = requested, at, 0
		j.Planned, j.done = []gantt.Size{{At: at, Nodes: requested[0].Nodes}}, 1
	case "grew", "shrank":
		text, _ := e.Args["nodes"].(string)
		nodes, err := hostlist.Expand(text)
		j := b.jobs[key]
		if err != nil || j == nil || j.done == 0 {
			return
		}
		j.moved = at.Sub(j.due(j.done))
		j.done++
		j.Planned = append(j.Planned, gantt.Size{At: at, Nodes: len(nodes)})
	}
}

// due returns when the i-th step should have begun according to the first promise.
func (j *collected) due(i int) time.Time {
	at := j.planned
	for _, s := range j.promised[:min(i, len(j.promised))] {
		at = at.Add(time.Duration(s.Duration) * time.Second)
	}
	return at
}

// Chart returns the chart. Its rows are the nodes that jobs held, in natural order; the caller adds the other nodes. Changes that were
// promised for a time in which the job ran, and that are not in the journal, count as missed.
func (b *Builder) Chart() gantt.Chart {
	var g gantt.Chart
	for _, key := range b.order {
		j := b.jobs[key]
		if !j.known {
			continue
		}
		out := j.Job
		if j.request != "" {
			out.Request = j.request
			out.Choices, _ = adapter.ParseRequest(j.request) // a job whose request cannot be parsed is drawn as a rigid one
			out.Kind = (&workload.Job{Choices: out.Choices}).Kind()
		}
		end := out.End()
		for i := j.done; j.done > 0 && i < len(j.promised); i++ {
			if at := j.due(i).Add(j.moved); at.Before(end) {
				out.Planned = append(out.Planned, gantt.Size{At: at, Nodes: j.promised[i].Nodes})
			}
		}
		for _, h := range out.Holds {
			if !slices.Contains(g.Nodes, h.Node) {
				g.Nodes = append(g.Nodes, h.Node)
			}
		}
		g.Jobs = append(g.Jobs, out)
	}
	hostlist.Sort(g.Nodes)
	return g
}
