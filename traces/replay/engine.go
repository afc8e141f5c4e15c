package replay

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/workload"
)

// Run replays a workload under a policy, in virtual time.
//
// Events happen one at a time. At the same time, submissions come first, in the order of the log. Ends follow,
// in the order of the starts. Run calls the policy's Starts after each event, and at the times that the
// policy's Next returns (a job's reservation, a step). A job ends when it has worked for its run time. In an
// expanded step it works for the requested duration, and then waits for the nodes of the next step.
//
// A policy for rigid jobs gets every job as a rigid one: Size nodes for Request seconds. A job that the policy never starts, because it
// exceeds the machine, has a Start of −1.
func Run(w workload.Workload, p sched.Policy) Result { return RunWatched(w, p, nil) }

// RunWatched does what Run does, and calls `watch` from time to time with the number of ended jobs.
func RunWatched(w workload.Workload, p sched.Policy, watch func(over int)) Result {
	e := newEngine(w, p)
	e.watch = watch
	e.run()
	return e.result(p)
}

// RunPlaced does the same as Run followed by Place, but concurrently: a goroutine places jobs while later jobs are still planned.
func RunPlaced(w workload.Workload, p sched.Policy) (Result, *Placement, error) {
	const batch, ahead = 1 << 10, 16
	e := newEngine(w, p)
	if e.agenda != nil { // the sizes of a malleable job are known only at its end
		e.run()
		placement, err := Place(w, e.result(p))
		return e.result(p), placement, err
	}
	begun, placed := make(chan []int32, ahead), make(chan struct{})
	placer := newPlacer(w, e.outcomes) // the placer reads only outcomes of jobs that began, which no longer change
	go func() {
		defer close(placed)
		for jobs := range begun {
			for _, job := range jobs {
				placer.begin(job)
			}
		}
	}()
	some := make([]int32, 0, batch)
	e.begun = func(job int32) {
		if some = append(some, job); len(some) == batch {
			begun <- some
			some = make([]int32, 0, batch)
		}
	}
	e.run()
	begun <- some
	close(begun)
	<-placed
	placement, err := placer.placed()
	return e.result(p), placement, err
}

func newEngine(w workload.Workload, p sched.Policy) *engine {
	e := &engine{
		jobs:      w.Jobs,
		state:     p.New(w.Machine),
		outcomes:  make([]Outcome, len(w.Jobs)),
		rigidOnly: policy.RigidOnly(p),
	}
	e.promiser, _ = e.state.(sched.Promiser)
	e.resizer, _ = e.state.(sched.Resizer)
	if e.resizer != nil && slices.ContainsFunc(w.Jobs, func(j workload.Job) bool { return j.Range != nil }) {
		e.agenda = &agenda{running: map[int32]*malleable{}}
	}
	return e
}

// result returns the result of the replay.
func (e *engine) result(p sched.Policy) Result {
	result := Result{Outcomes: e.outcomes}
	if named, ok := p.(fmt.Stringer); ok {
		result.Policy = named.String()
	}
	return result
}

// engine is a running replay.
type engine struct {
	jobs      []workload.Job
	next      int // first job that is not yet submitted
	state     sched.State
	promiser  sched.Promiser // nil if the state does not implement it
	resizer   sched.Resizer  // nil if the state does not implement it
	agenda    *agenda        // ends and resize points if some jobs are malleable; otherwise nil
	rigidOnly bool           // every job is treated as rigid
	outcomes  []Outcome

	ends   sched.ByEnd // running jobs by end; the IDs are slot numbers
	slots  slots
	starts []core.Start // reused memory
	over   int
	watch  func(over int)
	begun  func(job int32) // called for each job that began, when its outcome is set; may be nil
}

// run processes events until there are no more.
func (e *engine) run() {
	now := -core.Forever
	for {
		submit, end := core.Forever, core.Forever
		if e.next < len(e.jobs) {
			submit = e.jobs[e.next].Submit
		}
		if last := len(e.ends) - 1; last >= 0 {
			end = e.ends[last].End
		}
		if e.agenda != nil {
			end = e.agenda.first()
		}
		due := e.state.Next(now)
		switch {
		case due < submit && due < end:
			now = due
		case submit <= end && submit < core.Forever:
			now = submit
			e.submit()
		case end < core.Forever:
			now = end
			if e.agenda != nil {
				e.happens()
			} else {
				e.end()
			}
		default:
			return
		}
		e.starts = e.state.Starts(now, e.starts[:0])
		for i := range e.starts {
			if s := &e.starts[i]; s.Begins {
				e.begin(now, s)
			}
		}
	}
}

// submit submits the next job to the policy.
func (e *engine) submit() {
	j := &e.jobs[e.next]
	e.outcomes[e.next].Start = -1
	slot := e.slots.take(int32(e.next))
	e.next++
	slot.rigid(j)
	if e.agenda != nil && j.Range != nil {
		job := slot.job
		job.Range = &j.Range.Range
		e.state.Submit(j.Submit, job)
		return
	}
	if e.rigidOnly || len(j.Choices) == 0 {
		e.state.Submit(j.Submit, slot.job)
		return
	}
	job := slot.job
	job.Choices = j.Choices
	e.state.Submit(j.Submit, job)
}

// end ends the job that ends first.
func (e *engine) end() {
	last := len(e.ends) - 1
	first := e.ends[last]
	e.ends = e.ends[:last]
	e.leave(first.End, first.ID)
}

// leave removes a job that ends.
func (e *engine) leave(now core.Time, id core.JobID) {
	e.state.End(now, id)
	e.slots.leave(uint32(id))
	e.over++
	if e.watch != nil && e.over%watched == 0 {
		e.watch(e.over)
	}
}

// watched is the number of ended jobs between two calls of watch.
const watched = 1 << 10

// begin records a start, and computes when the job will end.
func (e *engine) begin(now core.Time, s *core.Start) {
	slot := uint32(s.Job)
	i := e.slots.at(slot).index
	j, o := &e.jobs[i], &e.outcomes[i]
	o.Start, o.End = now, now+j.Run
	switch {
	case len(j.Choices) == 0:
	case e.rigidOnly:
		o.Choice = AsRequested
	default:
		o.Choice = s.Choice
		e.choose(j, o, s.Job)
	}
	switch {
	case e.agenda == nil:
		e.ends.Add(sched.RunningJob{End: o.End, ID: s.Job})
	case j.Range != nil:
		e.beginMalleable(now, i, s)
	default:
		e.agenda.add(event{at: o.End, job: i, id: s.Job})
	}
	if e.begun != nil {
		e.begun(i)
	}
}

// choose computes when a job with choices ends in the choice that it got, and what it holds until then.
func (e *engine) choose(j *workload.Job, o *Outcome, id core.JobID) {
	run, requested := j.Run, j.Choices[o.Choice]
	if j.Runs != nil {
		run = j.Runs[o.Choice]
	}
	scheduled := requested
	if e.promiser != nil {
		if a, ok := e.promiser.Promise(id); ok {
			scheduled = a.EP
		}
	}
	length := runTime(requested, scheduled, run)
	o.End = o.Start + length
	if len(scheduled) > 1 {
		o.Held = prefix(scheduled, length)
	}
}

// runTime returns how long a job with this run time runs. Only the requested durations of its steps count as work, not the time by which they
// were expanded. If the scheduled profile has another number of steps (a rigid schedule), all seconds count.
func runTime(requested, scheduled core.EP, run core.Time) core.Time {
	if len(requested) != len(scheduled) {
		return run
	}
	var begin core.Time
	for i, s := range requested {
		if run <= s.Duration || i+1 == len(requested) {
			return begin + run
		}
		run -= s.Duration
		begin += scheduled[i].Duration
	}
	return run
}

// prefix returns the beginning of a profile.
func prefix(ep core.EP, length core.Time) core.EP {
	held := slices.Clone(ep)
	for i := range held {
		if length <= held[i].Duration {
			held[i].Duration = length
			return held[:i+1]
		}
		length -= held[i].Duration
	}
	return held
}
