package replay

import (
	"container/heap"
	"math"
	"slices"

	"accordion/core"
	"accordion/traces/workload"
)

// agenda holds the future ends and resize points. Events at the same time happen in the order in which they were added.
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
	version int32 // for an end: malleable.version when the end was computed; a resize makes an earlier version invalid
}

// eventKind is what happens to a job.
type eventKind uint8

const (
	ends    eventKind = iota
	point             // a malleable job may change its size
	settled           // the resize of a malleable job has ended
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

// first returns the time of the next event, or Forever if there is none. It removes events that are no longer valid.
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
	since   core.Time // time up to which work is counted
	work    float64   // work done, in seconds on the reference size
	version int32
	held    core.EP
	until   core.Time // time up to which held is recorded
}

// beginMalleable records the start of a malleable job, and adds its end and its first resize point to the agenda.
func (e *engine) beginMalleable(now core.Time, i int32, start *core.Start) {
	j := &e.jobs[i]
	r := &malleable{id: start.Job, size: start.Nodes, since: now, until: now}
	e.agenda.running[i] = r
	e.schedule(r, i)
	if j.Range.Every > 0 {
		e.agenda.add(event{at: now + j.Range.Every, job: i, id: r.id, kind: point})
	}
}

// schedule computes the end of a job from its work and its size, and adds it to the agenda.
func (e *engine) schedule(r *malleable, i int32) {
	j := &e.jobs[i]
	left := math.Ceil((float64(j.Run) - r.work) * j.Range.Real.Stretch(r.size, j.Size) * (1 - 1e-12))
	r.version++
	e.outcomes[i].End = r.since + max(1, core.Time(left))
	e.agenda.add(event{at: e.outcomes[i].End, job: i, id: r.id, version: r.version})
}

// happens carries out the next event.
func (e *engine) happens() {
	v := heap.Pop(&e.agenda.events).(event)
	r := e.agenda.running[v.job]
	switch {
	case r == nil:
		e.leave(v.at, v.id)
	case v.kind == point:
		e.point(v, r)
	case v.kind == settled: // no change here, but the caller calls the policy after each event
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

// hold records that the job held its present size up to a time.
func (r *malleable) hold(until core.Time) {
	if d := until - r.until; d > 0 {
		r.held = append(r.held, core.Step{Duration: d, Nodes: r.size})
		r.until = until
	}
}

// Resizes are the changes of size of all malleable jobs.
type Resizes struct {
	All    int     `json:"all"`
	PerDay float64 `json:"per_day"`     // mean number per day
	Hour   int     `json:"most_hour"`   // largest number in an hour that begins with a resize
	Minute int     `json:"most_minute"` // largest number in a minute that begins with a resize
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
