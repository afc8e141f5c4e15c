// Package chart puts together what a Gantt chart of a sidecar's work needs: what each job really held, from the batch
// system, and what it was promised, from the journal.
//
//	c := chart.New()
//	c.Job(key, chart.Job{Name: "mesh"})
//	c.Hold(key, chart.Hold{Node: "n1", From: from, To: to})
//	for entry := range entries {
//		c.Note(entry)
//	}
//	err := c.Gantt().Write(w)
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
	"accordion/traces/workload"
)

// Chart collects jobs, holds and promises, in any order.
type Chart struct {
	order []adapter.Key
	jobs  map[adapter.Key]*collected
}

type collected struct {
	Job
	request  string // as accepted by the sidecar; "" for a job that it does not manage
	known    bool   // somebody gave the job itself, not only a hold or a promise
	promised core.EP
	moved    time.Duration // how much later than planned its steps begin since its last change
	planned  time.Time     // of its start
	done     int           // changes that the journal tells of, its start included
}

// New is an empty chart.
func New() *Chart { return &Chart{jobs: map[adapter.Key]*collected{}} }

func (c *Chart) of(key adapter.Key) *collected {
	j := c.jobs[key]
	if j == nil {
		j = &collected{}
		c.jobs[key] = j
		c.order = append(c.order, key)
	}
	return j
}

// Job says who a job is. Its ID, Holds and Planned are filled in by the chart, and its Request and Kind where the journal
// tells them; else it is rigid.
func (c *Chart) Job(key adapter.Key, about Job) {
	j := c.of(key)
	about.ID, about.Kind, about.Holds, about.Planned = key.ID, workload.Rigid, j.Holds, j.Planned
	j.Job, j.known = about, true
}

// Hold says what a job held.
func (c *Chart) Hold(key adapter.Key, h Hold) {
	j := c.of(key)
	j.Holds = append(j.Holds, h)
}

// Note reads an event of the journal: the request of "accepted", the promise in the planned seconds of "starting", "grew"
// and "shrank". Other entries say nothing here.
func (c *Chart) Note(e journal.Entry) {
	if e.Kind != journal.KindEvent {
		return
	}
	key := adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
	number, _ := e.Args["planned"].(json.Number)
	planned, _ := number.Float64() // 0 where the event has none: it is of no use then
	at := time.Unix(int64(planned), 0)
	switch e.Verb {
	case "accepted":
		c.of(key).request = e.Text
	case "starting":
		text, _ := e.Args["profile"].(string)
		requested, err := ep.Parse(text)
		if err != nil {
			return
		}
		j := c.of(key)
		j.promised, j.planned, j.moved = requested, at, 0
		j.Planned, j.done = []Size{{At: at, Nodes: requested[0].Nodes}}, 1
	case "grew", "shrank":
		text, _ := e.Args["nodes"].(string)
		nodes, err := hostlist.Expand(text)
		j := c.jobs[key]
		if err != nil || j == nil || j.done == 0 {
			return
		}
		j.moved = at.Sub(j.due(j.done))
		j.done++
		j.Planned = append(j.Planned, Size{At: at, Nodes: len(nodes)})
	}
}

func kind(request string) workload.Kind {
	switch choices, err := adapter.ParseRequest(request); {
	case err != nil:
		return workload.Rigid
	default:
		return (&workload.Job{Choices: choices}).Kind()
	}
}

// due is when the i-th step was to begin as first planned.
func (j *collected) due(i int) time.Time {
	at := j.planned
	for _, s := range j.promised[:min(i, len(j.promised))] {
		at = at.Add(time.Duration(s.Duration) * time.Second)
	}
	return at
}

// Gantt is the chart. Its rows are the nodes that were held, in natural order; the caller knows whether there are more.
// Changes that were promised within a job's life and of which the journal does not tell are promised and missed.
func (c *Chart) Gantt() Gantt {
	var g Gantt
	for _, key := range c.order {
		j := c.jobs[key]
		if !j.known {
			continue
		}
		out := j.Job
		if j.request != "" {
			out.Request, out.Kind = j.request, kind(j.request)
		}
		end := out.End()
		for i := j.done; j.done > 0 && i < len(j.promised); i++ {
			if at := j.due(i).Add(j.moved); at.Before(end) {
				out.Planned = append(out.Planned, Size{At: at, Nodes: j.promised[i].Nodes})
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
