package status

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/core/moldable"
)

// PublishQueue writes the queue if it has changed. The longer the queue is, the longer is the pause
// between two writes. Otherwise a plan in which all starts change in each cycle would keep the disk
// busy.
func (p *Publisher) PublishQueue(v *plan.World, views []view.Job) error {
	q := p.queue(v, views)
	before := p.past.queued
	p.past.now, p.past.entries, p.past.outOfService, p.past.closed = q, q.Jobs, outOfService(v), map[string]bool{}
	for _, c := range q.Closures {
		p.past.closed[c.Name] = true
	}
	now := p.Clock.Now()
	if !before.written.IsZero() && (q.Same(&before.Queue) || now.Before(before.written.Add(time.Duration(len(q.Jobs))*pausePerJob))) {
		return nil
	}
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("write the queue to the journal: %w", err)
	}
	p.past.queued = queued{q, now}
	return p.Journal.PutQueue(data)
}

// pausePerJob times the number of jobs is the pause after a write of the queue. Writing one job takes a few microseconds.
const pausePerJob = time.Millisecond

// queued is the queue that was last written.
type queued struct {
	view.Queue
	written time.Time
}

// past is what was published and counted in earlier cycles.
type past struct {
	queued       queued
	now          view.Queue      // the queue of this cycle, whether it was written or not
	entries      []view.Entry    // the queue's entries in the previous cycle; nil before the first cycle
	news         *news           // what has happened since the previous cycle; nil until AnnounceStarts needs it
	outOfService int             // nodes out of service in the previous cycle
	closed       map[string]bool // names of the reservations of others in the previous cycle
	accounted    core.Time       // second up to which spared node-seconds are counted; 0 before the first cycle
}

// queue returns the queue with every job of the pool.
func (p *Publisher) queue(v *plan.World, views []view.Job) view.Queue {
	q := view.Queue{At: v.Now, Cluster: p.Settings.Cluster, Nodes: len(v.Nodes), Lead: p.Settings.StartLead, Closures: closures(v), Sizing: v.Sizing}
	if len(q.Closures) > 0 {
		q.Approach = plan.Approach(p.Settings)
	}
	if p.Usage != nil {
		if u := p.Usage(); len(u.Users) > 0 {
			q.Usage = &u
		}
	}
	var away []adapter.Node
	for _, n := range v.Snapshot.Nodes {
		if !n.Usable {
			away = append(away, n)
		}
	}
	if q.Away, q.AwayNodes = len(away), view.AwayOf(away); len(q.AwayNodes) > maxAwayReasons {
		q.AwayNodes = q.AwayNodes[:maxAwayReasons]
	}
	ours := make(map[adapter.Key]*view.Job, len(views))
	for i := range views {
		ours[adapter.Key{ID: views[i].ID, Submitted: views[i].Submitted}] = &views[i]
	}
	q.Jobs = make([]view.Entry, 0, len(v.Snapshot.Jobs))
	p.addHolders(&q, v, ours)
	holders := len(q.Jobs)
	p.addRanked(&q, v, ours)
	p.addOthers(&q, v, ours)
	p.keepDue(v.Now, q.Jobs[holders:])
	return q
}

// maxAwayReasons is the largest number of groups of away nodes in the queue document, one group for each reason.
const maxAwayReasons = 100

// closures returns the reservations of others that contain nodes of the pool and have not ended.
func closures(v *plan.World) []view.Closure {
	all := []view.Closure{}
	for _, r := range v.Snapshot.Reservations {
		c := view.Closure{Name: r.Name, Start: r.Start, End: r.End, Repeats: r.Repeats, Later: r.Later}
		for _, n := range r.Nodes {
			if _, ours := v.Index[n]; ours {
				c.Nodes++
			}
		}
		if spans := c.Spans(); c.Nodes > 0 && !r.Ours() && spans[len(spans)-1].End > v.Now {
			all = append(all, c)
		}
	}
	return all
}

// addHolders adds the jobs that hold nodes, or are being started.
func (p *Publisher) addHolders(q *view.Queue, v *plan.World, ours map[adapter.Key]*view.Job) {
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		if v.Managed[j.Key] != nil || j.Expands != 0 && v.Growing(j.Expands) || j.State != adapter.Running && j.State != adapter.Ending {
			continue
		}
		e := ordinaryEntry(j)
		e.Phase, e.Nodes, e.Size, e.Start = string(j.State), hostlist.Compact(j.Nodes), len(j.Nodes), max(j.Started, 1)
		if j.Limit < core.Forever {
			e.End = j.Started + j.Limit
			e.Free = e.End + p.Settings.Guard
		}
		q.Jobs = append(q.Jobs, e)
	}
	for _, m := range ours {
		if m.Phase != string(managed.Waiting) && m.Start > 0 {
			q.Jobs = append(q.Jobs, entryOf(m))
		}
	}
	slices.SortFunc(q.Jobs, func(a, b view.Entry) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) })
}

// addRanked adds the jobs in the plan's queue, whether or not they have a planned start.
func (p *Publisher) addRanked(q *view.Queue, v *plan.World, ours map[adapter.Key]*view.Job) {
	places := v.Planned.Jobs // the jobs with a planned start, in the order of the queue
	for i, w := range v.Queue {
		var place *core.Planned
		if len(places) > 0 && places[0].Job == w.Job.ID {
			place, places = &places[0], places[1:]
		}
		if w.Managed != nil {
			m := ours[w.Managed.Key]
			if m == nil || m.Phase != string(managed.Waiting) {
				continue // the job's start began in this cycle
			}
			e := entryOf(m)
			e.Rank = i + 1
			e.Machine, e.Sized = v.Sizes[w.Job.ID].Machine, v.Sizes[w.Job.ID].Sized
			e.Turn, e.Due = turnOf(v, w)
			if e.Start == 0 {
				e.Size = w.Managed.Choices[0][0].Nodes
			}
			q.Jobs = append(q.Jobs, e)
			continue
		}
		e := ordinaryEntry(w.Seen)
		e.Phase, e.Rank, e.Size = string(managed.Waiting), i+1, w.Seen.Want
		e.Turn, e.Due = turnOf(v, w)
		if size, sized := v.Sizes[w.Job.ID]; sized {
			e.Machine, e.Sized, e.Head, e.Choices = size.Machine, size.Sized, size.Head, moldable.Format(w.Seen.Choices)
		}
		if place != nil {
			e.Start = place.Start
			if w.Seen.Limit < core.Forever {
				e.End, e.Free = e.Start+w.Seen.Limit, place.Allocation.End()
			}
		}
		q.Jobs = append(q.Jobs, e)
	}
}

// turnOf returns the fields Turn and Due of a waiting job's entry. Under policies that reserve for few
// jobs they show whether the job has a reservation, and from when on it may have one.
func turnOf(v *plan.World, w plan.Waiter) (turn string, due core.Time) {
	switch t, waits := v.Turns[w.Job.ID]; {
	case !waits:
		return "", 0
	case t.Has:
		return view.Reserved, t.Due
	default:
		return view.Unreserved, t.Due
	}
}

// addOthers adds the waiting jobs that are not in the plan's queue: held jobs, and jobs that would not start even on an empty machine.
func (p *Publisher) addOthers(q *view.Queue, v *plan.World, ours map[adapter.Key]*view.Job) {
	queued := make(map[adapter.Key]bool, len(v.Queue))
	for _, w := range v.Queue {
		if w.Managed != nil {
			queued[w.Managed.Key] = true
		}
	}
	for i := range v.Snapshot.Jobs {
		j := &v.Snapshot.Jobs[i]
		if r := v.Managed[j.Key]; r != nil {
			if m := ours[j.Key]; m != nil && m.Phase == string(managed.Waiting) && !queued[j.Key] {
				e := entryOf(m)
				switch {
				case r.Seen == nil || r.Seen.Blocked:
					e.Phase = "blocked"
				case r.OtherHolder() != "":
					e.Phase = "held"
				}
				if e.Size == 0 {
					e.Size = r.Choices[0][0].Nodes
				}
				q.Jobs = append(q.Jobs, e)
			}
			continue
		}
		if j.State != adapter.Pending || j.Expands != 0 || !j.Held && !j.Blocked {
			continue
		}
		e := ordinaryEntry(j)
		e.Phase, e.Size = "blocked", j.Want
		if j.Held {
			e.Phase = "held"
		}
		if logged := p.LastLogged(j.Key); logged != "" {
			e.Why = logged // for example, that the job's request cannot be read
		}
		q.Jobs = append(q.Jobs, e)
	}
}

// ordinaryEntry returns the fields that are the same for every job that is not managed.
func ordinaryEntry(j *adapter.Job) view.Entry {
	e := view.Entry{ID: j.ID, Submitted: j.Submitted, User: j.User, Name: j.Name, Kind: "ordinary", Why: j.Why}
	if adapter.IsPart(j) { // a part of an application whose launcher has not named the job yet
		e.Kind = view.Delegated
	}
	if j.State == adapter.Pending {
		e.Priority, e.Parts = j.Priority, j.Rank
	}
	return e
}

// entryOf returns the queue entry of a managed job.
func entryOf(m *view.Job) view.Entry {
	e := view.Entry{
		ID: m.ID, Submitted: m.Submitted, User: m.User, Name: m.Name, Kind: m.Kind, Phase: m.Phase, Request: m.Request,
		Nodes: m.Nodes, Size: m.Size, Start: m.Start, Step: m.Step, Plan: m.Plan, Why: m.Why,
		Grows: m.Grows, Limit: m.Limit, Unreserved: m.Unreserved, Deadline: m.Deadline, Latest: m.Latest, Priority: m.Priority, Parts: m.Rank,
	}
	if m.Start > 0 && len(m.Plan) > 0 {
		e.End = m.Start + m.Plan.Total()
		e.Free = e.End
		if m.Phase == string(managed.Waiting) {
			e.Size = m.Plan[0].Nodes
		}
	}
	return e
}

// keepDue keeps the planned start of each job that was due in the previous cycle and is still due. Otherwise the planned start would
// change in every cycle until the batch system starts the job.
func (p *Publisher) keepDue(now core.Time, waits []view.Entry) {
	due := map[adapter.Key]core.Time{}
	for i := range p.past.entries {
		if e := &p.past.entries[i]; e.Rank > 0 && e.Start > 0 && e.Start <= now+p.Settings.StartLead {
			due[e.Key()] = e.Start
		}
	}
	for i := range waits {
		e := &waits[i]
		was, ok := due[e.Key()]
		if !ok || e.Start == 0 || e.Start > now+p.Settings.StartLead || e.Start <= was {
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
