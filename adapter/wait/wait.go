// Package wait says why a job waits, by the queue and the plan that is written beside it: what it would lack if it started sooner, who gives
// nodes back, and why a moldable job is planned on so many. It is pure; the words for it are adapter/status's.
//
//	v := wait.Vantage{Queue: queue, Now: now, Others: others}
//	lack := v.Lack(job, job.Start-1) // what keeps it from starting a second sooner
package wait

import (
	"cmp"
	"slices"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// Pool is the machine now.
type Pool struct {
	Nodes int `json:"nodes"`
	Held  int `json:"held"`  // by jobs
	Away  int `json:"away"`  // down, drained or unknown
	Taken int `json:"taken"` // by reservations of others, now
	Free  int `json:"free"`
}

// Lack is an instant at which a job that starts earlier than planned would have too few nodes.
type Lack struct {
	At    core.Time `json:"at"`
	Step  int       `json:"step"` // of the job that would be there then, from 1
	Needs int       `json:"needs"`
	Free  int       `json:"free"` // what those before it leave
}

// Release is nodes that come free.
type Release struct {
	At      core.Time  `json:"at"`
	Nodes   int        `json:"nodes"`
	Keeps   int        `json:"keeps,omitempty"` // the job has so many left
	Job     core.JobID `json:"job,omitempty"`   // 0: a reservation ends
	User    string     `json:"user,omitempty"`
	Closure string     `json:"closure,omitempty"`
	Holds   bool       `json:"holds"`   // the job has them now; otherwise it will, for it stands before
	Managed bool       `json:"managed"` // by Accordion: a plan, where an ordinary job has a limit
}

// Never is later than all for a job that has no end.
func Never(t core.Time) core.Time {
	if t == 0 {
		return core.Forever
	}
	return t
}

// Vantage is the plan as a job in it sees it.
type Vantage struct {
	Queue  *view.Queue
	Now    core.Time
	Others []view.Entry // that hold nodes, or stand before it
	// Approach is how many seconds sooner the reservations of others begin to it than they do.
	Approach core.Time
}

// In returns the plan as one of its jobs sees it.
func In(q *view.Queue, now core.Time, e *view.Entry) Vantage {
	v := Vantage{Queue: q, Now: now}
	if e != nil && e.Request != "" && e.Kind != "rigid" {
		v.Approach = q.Approach
	}
	return v
}

// Pool is how the machine is used.
func (v Vantage) Pool() Pool {
	p := Pool{Nodes: v.Queue.Nodes, Away: v.Queue.Away, Taken: v.closed(v.Now, 0)}
	held := map[string]bool{} // ordinary jobs may share nodes
	for i := range v.Queue.Jobs {
		e := &v.Queue.Jobs[i]
		if !e.Holds() {
			continue
		}
		names, err := hostlist.Expand(e.Nodes)
		if err != nil || len(names) == 0 {
			p.Held += e.Size
		}
		for _, name := range names {
			held[name] = true
		}
	}
	p.Held += len(held)
	p.Free = max(0, p.Nodes-p.Held-p.Away-p.Taken)
	return p
}

// closed returns how many nodes reservations of others keep at an instant, when each begins the given number of seconds sooner.
func (v Vantage) closed(t, sooner core.Time) int {
	n := 0
	for _, c := range v.Queue.Closures {
		if slices.ContainsFunc(c.Spans(), func(s adapter.Span) bool { return s.Start-sooner <= t && t < s.End }) {
			n += c.Nodes
		}
	}
	return n
}

// free is how many nodes those before the job leave at an instant.
func (v Vantage) free(t core.Time) int {
	n := v.Queue.Nodes - v.Queue.Away - v.closed(t, v.Approach)
	for i := range v.Others {
		n -= v.Others[i].At(t, v.Now)
	}
	return n
}

// profile is what the job would hold from its start on.
func profile(e *view.Entry) core.EP {
	if len(e.Plan) > 0 {
		return e.Plan
	}
	return core.EP{{Duration: max(1, Never(e.Free)-e.Start), Nodes: e.Size}}
}

// Lack is the first instant at which the job, begun earlier than planned, has too few nodes; nil when none is found, for
// the plan knows more than the queue shows (a node that a job is just leaving).
func (v Vantage) Lack(e *view.Entry, begin core.Time) *Lack {
	from := begin
	for i, s := range profile(e) {
		for _, t := range v.instants(from, from+s.Duration) {
			if free := v.free(t); free < s.Nodes {
				return &Lack{At: t, Step: i + 1, Needs: s.Nodes, Free: max(free, 0)}
			}
		}
		from += s.Duration
	}
	return nil
}

// instants is from, and every instant before to at which somebody takes nodes.
func (v Vantage) instants(from, to core.Time) []core.Time {
	all := []core.Time{from}
	add := func(t core.Time) {
		if t > from && t < to {
			all = append(all, t)
		}
	}
	for _, c := range v.Queue.Closures {
		for _, s := range c.Spans() {
			add(s.Start - v.Approach)
		}
	}
	for i := range v.Others {
		second := v.Others[i].Start
		add(second)
		for _, s := range v.Others[i].Plan {
			second += s.Duration
			add(second)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Releases is who gives nodes back from now until then, the last first.
func (v Vantage) Releases(until core.Time) []Release {
	all := []Release{}
	add := func(at core.Time, nodes int, r Release) {
		if at > v.Now && at <= until && nodes > 0 {
			r.At, r.Nodes = at, nodes
			all = append(all, r)
		}
	}
	for i := range v.Others {
		o := &v.Others[i]
		r := Release{Job: o.ID, User: o.User, Holds: o.Holds(), Managed: o.Request != ""}
		if o.Start == 0 {
			continue
		}
		if len(o.Plan) == 0 {
			if o.Free > 0 {
				add(o.Free, o.Size, r)
			}
			continue
		}
		second := o.Start
		for k, s := range o.Plan {
			second += s.Duration
			next := 0
			if k+1 < len(o.Plan) {
				next = o.Plan[k+1].Nodes
			}
			r.Keeps = next
			add(second, s.Nodes-next, r)
		}
	}
	for _, c := range v.Queue.Closures {
		for _, s := range c.Spans() {
			if s.End < core.Forever && s.Start-v.Approach <= until {
				add(s.End, c.Nodes, Release{Closure: c.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Release) int { return cmp.Compare(b.At, a.At) })
	return all
}

// Asked is a job without a place, as if it had one in the first size that it listed.
func Asked(e *view.Entry) *view.Entry {
	one := *e
	one.Plan = core.EP{{Duration: 1, Nodes: e.Size}}
	if choices, err := adapter.ParseRequest(ListOf(e)); err == nil {
		one.Plan = choices[0]
	}
	return &one
}
