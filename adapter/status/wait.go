package status

import (
	"cmp"
	"slices"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// Pool counts how the nodes of the machine are used now.
type Pool struct {
	Nodes int `json:"nodes"`
	Held  int `json:"held"`  // nodes that jobs hold
	Away  int `json:"away"`  // nodes that are down, drained or unknown
	Taken int `json:"taken"` // nodes that reservations of others take now
	Free  int `json:"free"`
}

// Shortage describes the first instant at which a job would have too few nodes if it started earlier than planned.
type Shortage struct {
	At    core.Time `json:"at"`
	Step  int       `json:"step"` // the job's step at that instant, from 1
	Needs int       `json:"needs"`
	Free  int       `json:"free"` // number of nodes that the jobs before this job leave free
}

// Release describes nodes that become free when a job ends or shrinks, or a reservation ends.
type Release struct {
	At      core.Time  `json:"at"`
	Nodes   int        `json:"nodes"`
	Keeps   int        `json:"keeps,omitempty"` // number of nodes that the job still has after the release
	Job     core.JobID `json:"job,omitempty"`   // the job that releases the nodes; 0 if a reservation ends
	User    string     `json:"user,omitempty"`
	Closure string     `json:"closure,omitempty"`
	Holds   bool       `json:"holds"`   // the releasing job has the nodes now; false if it still waits in the queue
	Managed bool       `json:"managed"` // At is from the sidecar's plan; false if At is from the time limit of an ordinary job
}

// endOrForever returns t, or core.Forever if t is 0, which means that a job has no end.
func endOrForever(t core.Time) core.Time {
	if t == 0 {
		return core.Forever
	}
	return t
}

// analysis has the data with which the reason why a job waits is computed: the queue, with the planned times in it.
type analysis struct {
	queue    *view.Queue
	now      core.Time
	others   []view.Entry // jobs that hold nodes, or come before the job in the queue
	approach core.Time    // number of seconds by which the job must end before a reservation of others begins
}

// analyze returns an analysis for the job e of the queue, or for no job if e is nil. Its field `others` is empty.
func analyze(q *view.Queue, now core.Time, e *view.Entry) analysis {
	a := analysis{queue: q, now: now}
	if e != nil && e.Request != "" && e.Kind != "rigid" {
		a.approach = q.Approach
	}
	return a
}

// pool returns how the machine is used.
func (a analysis) pool() Pool {
	p := Pool{Nodes: a.queue.Nodes, Away: a.queue.Away, Taken: a.closed(a.now, 0)}
	held := map[string]bool{} // a set of names, because ordinary jobs may share nodes
	for i := range a.queue.Jobs {
		e := &a.queue.Jobs[i]
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

// closed returns how many nodes are in reservations of others at the second t. Each reservation counts
// from `earlier` seconds before its start.
func (a analysis) closed(t, earlier core.Time) int {
	n := 0
	for _, c := range a.queue.Closures {
		if slices.ContainsFunc(c.Spans(), func(s adapter.Span) bool { return s.Start-earlier <= t && t < s.End }) {
			n += c.Nodes
		}
	}
	return n
}

// free returns how many nodes the other jobs and reservations leave free at the second t. The result is negative if they overlap.
func (a analysis) free(t core.Time) int {
	n := a.queue.Nodes - a.queue.Away - a.closed(t, a.approach)
	for i := range a.others {
		n -= a.others[i].At(t, a.now)
	}
	return n
}

// profileOf returns the profile of a job, from its start on.
func profileOf(e *view.Entry) core.EP {
	if len(e.Plan) > 0 {
		return e.Plan
	}
	return core.EP{{Duration: max(1, endOrForever(e.Free)-e.Start), Nodes: e.Size}}
}

// shortage returns the first instant at which the job has too few nodes if it starts at `begin`. It
// returns nil if the queue shows no such instant. Even then the job may not be able to start at
// `begin`, because the plan knows more than the queue: for example, a node may just be released.
func (a analysis) shortage(e *view.Entry, begin core.Time) *Shortage {
	from := begin
	for i, s := range profileOf(e) {
		for _, t := range a.instants(from, from+s.Duration) {
			if free := a.free(t); free < s.Nodes {
				return &Shortage{At: t, Step: i + 1, Needs: s.Nodes, Free: max(free, 0)}
			}
		}
		from += s.Duration
	}
	return nil
}

// instants returns `from`, and every later second before `to` at which other jobs or reservations may
// take nodes.
func (a analysis) instants(from, to core.Time) []core.Time {
	all := []core.Time{from}
	add := func(t core.Time) {
		if t > from && t < to {
			all = append(all, t)
		}
	}
	for _, c := range a.queue.Closures {
		for _, s := range c.Spans() {
			add(s.Start - a.approach)
		}
	}
	for i := range a.others {
		second := a.others[i].Start
		add(second)
		for _, s := range a.others[i].Plan {
			second += s.Duration
			add(second)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// releases returns the nodes that become free between now and the second `until`. The nodes that become free last come first.
func (a analysis) releases(until core.Time) []Release {
	all := []Release{}
	add := func(at core.Time, nodes int, r Release) {
		if at > a.now && at <= until && nodes > 0 {
			r.At, r.Nodes = at, nodes
			all = append(all, r)
		}
	}
	for i := range a.others {
		o := &a.others[i]
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
	for _, c := range a.queue.Closures {
		for _, s := range c.Spans() {
			if s.End < core.Forever && s.Start-a.approach <= until {
				add(s.End, c.Nodes, Release{Closure: c.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Release) int { return cmp.Compare(b.At, a.At) })
	return all
}

// withFirstChoice returns a copy of a job that has no planned start. The copy's Plan is the first
// configuration in the job's request.
func withFirstChoice(e *view.Entry) *view.Entry {
	one := *e
	one.Plan = core.EP{{Duration: 1, Nodes: e.Size}}
	if choices, err := adapter.ParseRequest(requestOf(e)); err == nil {
		one.Plan = choices[0]
	}
	return &one
}
