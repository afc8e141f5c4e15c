package adapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"accordion/core"
)

// Queue is what `accordion queue` and `accordion explain` show: every job of the pool and its place in the plan. The loop
// writes it to the journal when it changed; how fresh it is, View.At says.
type Queue struct {
	At       core.Time    `json:"at"` // Unix second of the cycle in which it changed last
	Cluster  string       `json:"cluster"`
	Nodes    int          `json:"nodes"`    // of the pool
	Away     int          `json:"away"`     // of these: down, drained or unknown
	Lead     core.Time    `json:"lead"`     // seconds: a start planned within them is due
	Closures []Closure    `json:"closures"` // reservations that others made over nodes of the pool
	Jobs     []QueueEntry `json:"jobs"`     // those that hold nodes by their start, those in the plan by rank, then the others
}

// Closure keeps nodes of the pool from Start to End, Unix seconds, for whoever may use the reservation.
type Closure struct {
	Name  string    `json:"name"`
	Nodes int       `json:"nodes"`
	Start core.Time `json:"start"`
	End   core.Time `json:"end"` // core.Forever: no end
}

// QueueEntry is one job of the pool, ordinary or managed.
type QueueEntry struct {
	ID        core.JobID `json:"id"`
	Submitted core.Time  `json:"submitted"` // Unix seconds
	User      string     `json:"user"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`              // ordinary, evolving, moldable
	Phase     string     `json:"phase"`             // as JobView's; of ordinary jobs waiting, held, blocked, running, ending
	Request   string     `json:"request,omitempty"` // of a managed job
	Rank      int        `json:"rank,omitempty"`    // its place among those that wait, from 1; 0: the plan does not know it
	Nodes     string     `json:"nodes,omitempty"`   // host list of what it holds
	Size      int        `json:"size"`              // how many those are; while it waits, how many it would start on
	Start     core.Time  `json:"start,omitempty"`   // Unix seconds: began, or would begin as planned; 0: no place in the plan
	// End is the Unix second at which it is over: its limit's or, of a managed job, the promised or planned one. 0: not known.
	End core.Time `json:"end,omitempty"`
	// Free is the Unix second from which the plan counts on its last node: End, and what the batch system may take to
	// begin and to end an ordinary job. 0: never.
	Free core.Time `json:"free,omitempty"`
	Step int       `json:"step,omitempty"` // of a running managed job, from 1
	Plan core.EP   `json:"plan,omitempty"` // scheduled profile of a managed job, from Start
	Why  string    `json:"why,omitempty"`  // why it waits: the sidecar's word for a managed job, the batch system's for an ordinary one
	// Grows and Limit are of a managed job, as JobView's; Priority and Parts of every one that waits.
	Grows    string     `json:"grows,omitempty"`
	Limit    *Limit     `json:"limit,omitempty"`
	Priority int64      `json:"priority,omitempty"`
	Parts    []RankPart `json:"parts,omitempty"`
}

// Key names the job for good.
func (e *QueueEntry) Key() Key { return Key{e.ID, e.Submitted} }

// Holds says whether the job has nodes now, or is being started on them.
func (e *QueueEntry) Holds() bool { return e.Rank == 0 && e.Start > 0 }

// At is how many nodes the job holds at the Unix second t, as planned at the second now.
func (e *QueueEntry) At(t, now core.Time) int {
	switch {
	case e.Start == 0 || t < e.Start:
		return 0
	case e.Holds() && t <= now:
		return e.Size
	case len(e.Plan) > 0:
		return e.Plan.At(t - e.Start)
	case e.Free == 0 || t < e.Free:
		return e.Size
	}
	return 0
}

// same compares every field. (Reflection would cost more than the whole plan.)
func (e *QueueEntry) same(o *QueueEntry) bool {
	return e.ID == o.ID && e.Submitted == o.Submitted && e.User == o.User && e.Name == o.Name && e.Kind == o.Kind &&
		e.Phase == o.Phase && e.Request == o.Request && e.Rank == o.Rank && e.Nodes == o.Nodes && e.Size == o.Size &&
		e.Start == o.Start && e.End == o.End && e.Free == o.Free && e.Step == o.Step && e.Why == o.Why && e.Grows == o.Grows &&
		e.Priority == o.Priority && (e.Limit == o.Limit || e.Limit != nil && o.Limit != nil && *e.Limit == *o.Limit) &&
		slices.Equal(e.Plan, o.Plan) && slices.Equal(e.Parts, o.Parts)
}

// putQueue writes the queue when it changed: at once where it is short, and in step with its length where it is long, so
// that a plan in which every start drifts does not keep the disk busy.
func (s *Sidecar) putQueue(v *sight, views []JobView) error {
	q := s.queue(v, views)
	before := s.past.queued
	s.past.entries, s.past.missing, s.past.closed = q.Jobs, s.missing(), map[string]bool{}
	for _, c := range q.Closures {
		s.past.closed[c.Name] = true
	}
	unchanged := before.Nodes == q.Nodes && before.Away == q.Away && slices.Equal(before.Closures, q.Closures) &&
		slices.EqualFunc(before.Jobs, q.Jobs, func(a, b QueueEntry) bool { return a.same(&b) })
	now := s.clock.Now()
	if !before.written.IsZero() && (unchanged || now.Before(before.written.Add(time.Duration(len(q.Jobs))*pausePerJob))) {
		return nil
	}
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("journal: the queue: %w", err)
	}
	s.past.queued = queued{q, now}
	return s.journal.PutQueue(data)
}

// pausePerJob bounds what writing the queue costs: writing a job takes some microseconds.
const pausePerJob = time.Millisecond

// queued is the queue as last written.
type queued struct {
	Queue
	written time.Time
}

// past is what was shown and counted in earlier cycles.
type past struct {
	queued    queued
	entries   []QueueEntry    // of the cycle before; nil before the first
	missing   int             // nodes that the plan did without in the cycle before
	closed    map[string]bool // reservations of others in the cycle before, by name
	accounted core.Time       // second up to which spared node-seconds are counted; 0 before the first look
}

// queue gathers every job of the pool.
func (s *Sidecar) queue(v *sight, views []JobView) Queue {
	q := Queue{At: v.now, Cluster: s.settings.Cluster, Nodes: len(v.nodes), Lead: s.settings.StartLead, Closures: s.closures(v)}
	for _, n := range s.snapshot.Nodes {
		if !n.Usable {
			q.Away++
		}
	}
	managed := make(map[Key]*JobView, len(views))
	for i := range views {
		managed[Key{views[i].ID, views[i].Submitted}] = &views[i]
	}
	q.Jobs = make([]QueueEntry, 0, len(s.snapshot.Jobs))
	s.addHolders(&q, managed)
	holders := len(q.Jobs)
	s.addRanked(&q, v, managed)
	s.addOthers(&q, managed)
	s.keepDue(v.now, q.Jobs[holders:])
	return q
}

// closures is the reservations of others, as far as they are over nodes of the pool.
func (s *Sidecar) closures(v *sight) []Closure {
	all := []Closure{}
	for _, r := range s.snapshot.Reservations {
		c := Closure{Name: r.Name, Start: r.Start, End: r.End}
		for _, n := range r.Nodes {
			if _, ours := v.index[n]; ours {
				c.Nodes++
			}
		}
		if c.Nodes > 0 && !r.Ours() && r.End > v.now {
			all = append(all, c)
		}
	}
	return all
}

// addHolders adds the jobs that have nodes, or are being started on them.
func (s *Sidecar) addHolders(q *Queue, managed map[Key]*JobView) {
	for i := range s.snapshot.Jobs {
		j := &s.snapshot.Jobs[i]
		if s.records[j.Key] != nil || j.Expands != 0 && s.growing(j.Expands) || j.State != Running && j.State != Ending {
			continue
		}
		e := s.entry(j)
		e.Phase, e.Nodes, e.Size, e.Start = string(j.State), names(j.Nodes), len(j.Nodes), max(j.Started, 1)
		if j.Limit < core.Forever {
			e.End = j.Started + j.Limit
			e.Free = e.End + s.settings.Guard
		}
		q.Jobs = append(q.Jobs, e)
	}
	for _, m := range managed {
		if m.Phase != string(waiting) && m.Start > 0 {
			q.Jobs = append(q.Jobs, m.entry())
		}
	}
	slices.SortFunc(q.Jobs, func(a, b QueueEntry) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
}

// addRanked adds the jobs that wait in the plan's queue, whether or not they have a place in it.
func (s *Sidecar) addRanked(q *Queue, v *sight, managed map[Key]*JobView) {
	places := v.planned.Jobs // in the order of the queue, without those that have none
	for i, w := range v.queue {
		var place *core.Planned
		if len(places) > 0 && places[0].Job == w.job.ID {
			place, places = &places[0], places[1:]
		}
		if w.record != nil {
			m := managed[w.record.Key]
			if m == nil || m.Phase != string(waiting) {
				continue // it began to start in this very cycle
			}
			e := m.entry()
			e.Rank = i + 1
			if e.Start == 0 {
				e.Size = w.record.choices[0][0].Nodes
			}
			q.Jobs = append(q.Jobs, e)
			continue
		}
		e := s.entry(w.seen)
		e.Phase, e.Rank, e.Size = string(waiting), i+1, w.seen.Want
		if place != nil {
			e.Start = place.Start
			if w.seen.Limit < core.Forever {
				e.End, e.Free = e.Start+w.seen.Limit, place.Allocation.End()
			}
		}
		q.Jobs = append(q.Jobs, e)
	}
}

// addOthers adds the jobs that the plan cannot know yet: held ones, and those that would not start on an empty machine.
func (s *Sidecar) addOthers(q *Queue, managed map[Key]*JobView) {
	for i := range s.snapshot.Jobs {
		j := &s.snapshot.Jobs[i]
		if r := s.records[j.Key]; r != nil {
			if m := managed[j.Key]; m != nil && m.Phase == string(waiting) && (r.seen == nil || r.seen.Blocked) {
				e := m.entry()
				e.Phase = "blocked"
				q.Jobs = append(q.Jobs, e)
			}
			continue
		}
		if j.State != Pending || j.Expands != 0 || !j.Held && !j.Blocked {
			continue
		}
		e := s.entry(j)
		e.Phase, e.Size = "blocked", j.Want
		if j.Held {
			e.Phase = "held"
		}
		if told := s.told[j.Key]; told != "" {
			e.Why = told // such as a request that cannot be read
		}
		q.Jobs = append(q.Jobs, e)
	}
}

// entry is what is the same for every ordinary job.
func (s *Sidecar) entry(j *Job) QueueEntry {
	e := QueueEntry{ID: j.ID, Submitted: j.Submitted, User: j.User, Name: j.Name, Kind: "ordinary", Why: j.Why}
	if j.State == Pending {
		e.Priority, e.Parts = j.Priority, j.Rank
	}
	return e
}

// entry is a managed job in the queue.
func (m *JobView) entry() QueueEntry {
	e := QueueEntry{
		ID: m.ID, Submitted: m.Submitted, User: m.User, Name: m.Name, Kind: m.Kind, Phase: m.Phase, Request: m.Request,
		Nodes: m.Nodes, Size: m.Size, Start: m.Start, Step: m.Step, Plan: m.Plan, Why: m.Why,
		Grows: m.Grows, Limit: m.Limit, Priority: m.Priority, Parts: m.Rank,
	}
	if m.Start > 0 && len(m.Plan) > 0 {
		e.End = m.Start + m.Plan.Total()
		e.Free = e.End
		if m.Phase == string(waiting) {
			e.Size = m.Plan[0].Nodes
		}
	}
	return e
}

// keepDue keeps the planned start of a job that was due before and still is: otherwise it would be another one each
// second, until the batch system gets to it.
func (s *Sidecar) keepDue(now core.Time, waits []QueueEntry) {
	due := map[Key]core.Time{}
	for i := range s.past.entries {
		if e := &s.past.entries[i]; e.Rank > 0 && e.Start > 0 && e.Start <= now+s.settings.StartLead {
			due[e.Key()] = e.Start
		}
	}
	for i := range waits {
		e := &waits[i]
		was, ok := due[e.Key()]
		if !ok || e.Start == 0 || e.Start > now+s.settings.StartLead || e.Start <= was {
			continue
		}
		shift := e.Start - was
		e.Start = was
		if e.End > 0 {
			e.End -= shift
		}
		if e.Free > 0 {
			e.Free -= shift
		}
	}
}
