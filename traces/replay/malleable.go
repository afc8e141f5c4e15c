package replay

import (
	"container/heap"
	"math"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// agenda holds the ends and resize points to come. Of those at one instant the one that was entered first comes first.
type agenda struct {
	events  events
	entered int64
	running map[int32]*malleable // by job
}

// event is the end of a job, or one of its resize points.
type event struct {
	at      core.Time
	entered int64
	id      core.JobID
	job     int32
	kind    eventKind
	version int32 // of the end of a malleable job
}

// eventKind says what happens to a job.
type eventKind uint8

const (
	ends    eventKind = iota
	point             // a malleable job may change its size
	settled           // its resize has ended
)

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].entered < e[j].entered
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (a *agenda) add(e event) {
	e.entered = a.entered
	a.entered++
	heap.Push(&a.events, e)
}

// first returns when the next event comes; Forever when there is none. It drops events that are not valid any more.
func (a *agenda) first() core.Time {
	for len(a.events) > 0 {
		e := &a.events[0]
		r := a.running[e.job]
		if r == nil && e.version == 0 && e.kind == ends || r != nil && r.id == e.id && (e.kind != ends || e.version == r.version) {
			return e.at
		}
		heap.Pop(&a.events)
	}
	return core.Forever
}

// malleable is a malleable job that runs.
type malleable struct {
	id      core.JobID
	size    int
	since   core.Time // the work was done by then
	work    float64   // seconds of the reference
	version int32
	held    core.EP
	until   core.Time // end of held
}

// beginMalleable notes the start of a malleable job.
func (e *engine) beginMalleable(now core.Time, i int32, start *core.Start) {
	j := &e.jobs[i]
	r := &malleable{id: start.Job, size: start.Nodes, since: now, until: now}
	e.agenda.running[i] = r
	e.schedule(r, i)
	if j.Range.Every > 0 {
		e.agenda.add(event{at: now + j.Range.Every, job: i, id: r.id, kind: point})
	}
}

// schedule enters the end of a job, from its work and its size.
func (e *engine) schedule(r *malleable, i int32) {
	j := &e.jobs[i]
	left := math.Ceil((float64(j.Run) - r.work) * j.Range.Real.Stretch(r.size, j.Size) * (1 - 1e-12))
	r.version++
	e.outcomes[i].End = r.since + max(1, core.Time(left))
	e.agenda.add(event{at: e.outcomes[i].End, job: i, id: r.id, version: r.version})
}

// happens carries the next event out.
func (e *engine) happens() {
	v := heap.Pop(&e.agenda.events).(event)
	r := e.agenda.running[v.job]
	switch {
	case r == nil:
		e.leave(v.at, v.id)
	case v.kind == point:
		e.point(v, r)
	case v.kind == settled: // the policy is asked
	default:
		o := &e.outcomes[v.job]
		r.hold(o.End)
		o.Held = r.held
		delete(e.agenda.running, v.job)
		e.leave(v.at, v.id)
	}
}

// point lets a malleable job change its size.
func (e *engine) point(v event, r *malleable) {
	j := &e.jobs[v.job]
	next := v.at + j.Range.Every
	e.agenda.add(event{at: next, job: v.job, id: v.id, kind: point})
	nodes := e.resizer.Point(v.at, v.id, next)
	if nodes == r.size || nodes == 0 {
		return
	}
	r.work += float64(max(0, v.at-r.since)) / j.Range.Real.Stretch(r.size, j.Size)
	r.since = v.at + j.Range.Cost
	if nodes > r.size {
		r.hold(v.at)
	} else {
		r.hold(r.since)
	}
	r.size = nodes
	e.schedule(r, v.job)
	e.agenda.add(event{at: r.since, job: v.job, id: v.id, kind: settled})
}

// hold notes the present size up to an instant.
func (r *malleable) hold(until core.Time) {
	if d := until - r.until; d > 0 {
		r.held = append(r.held, core.Step{Duration: d, Nodes: r.size})
		r.until = until
	}
}

// Resizes are the changes of size of all malleable jobs.
type Resizes struct {
	All    int     `json:"all"`
	PerDay float64 `json:"per_day"`     // mean
	Hour   int     `json:"most_hour"`   // in any hour that begins with one
	Minute int     `json:"most_minute"` // in any minute that begins with one
}

// resizes counts the changes of size. A change counts at the second at which the nodes are taken or released.
func resizes(w workload.Workload, r Result, makespan core.Time) Resizes {
	var at []core.Time
	for i := range w.Jobs {
		if o := &r.Outcomes[i]; w.Jobs[i].Range != nil && len(o.Held) > 1 {
			second := o.Start
			for _, step := range o.Held[:len(o.Held)-1] {
				second += step.Duration
				at = append(at, second)
			}
		}
	}
	slices.Sort(at)
	within := func(length core.Time) (most int) {
		first := 0
		for i, t := range at {
			for at[first] <= t-length {
				first++
			}
			most = max(most, i-first+1)
		}
		return most
	}
	all := Resizes{All: len(at), Hour: within(3600), Minute: within(60)}
	if makespan > 0 {
		all.PerDay = float64(len(at)) / (float64(makespan) / 86400)
	}
	return all
}
