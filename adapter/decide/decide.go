// Package decide says what is to be done about one job now, as a value: what it waits for, or an operation with its acts and
// its end. Nothing is done here: the loop (adapter/sidecar) carries decisions out, and tells operations how they ended.
//
//	decision := decide.About(job, decide.Situation{Now: now, World: world})
//	if decision.Do == nil {
//		fmt.Println(decision.Waits) // "nodes of ordinary job 5"
//	}
package decide

import (
	"context"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/shim/wire"
)

// Situation is what a decision goes by, besides the job.
type Situation struct {
	Now     time.Time
	World   *plan.World
	Trapped time.Time // no resize before
	// Awaited says whether the job's nodes were waited for in the last cycle.
	Awaited func(core.JobID) bool
	// Outages says when the batch system did not answer.
	Outages managed.Outages
	// Reserved is our reservation of the name as the batch system has it now; Tending says whether a call for it is under way.
	Reserved func(name string) (adapter.Reservation, bool)
	Tending  func(name string) bool
}

// Decision is what is to be done about one job. The zero one: nothing, and it waits for nothing.
type Decision struct {
	Waits    string           // what the next operation waits for, in words
	Obstacle managed.Obstacle // the same of a due growth, in the words of the lateness table
	Limit    string           // of Accordion's own, which it waits for or is refused for (actions.Limits); "": none
	For      core.JobID       // the managed job for whose nodes it waits; 0: none
	Again    time.Time        // nothing new is decided before; zero: at any time

	Notice   string               // for operators
	Change   func(*managed.Job)   // durable before anything is done; nil: nothing changes
	Events   []Event              // told then
	Reserves *adapter.Reservation // the one that the operation writes itself
	Takes    []string             // nodes that nothing else decided in this cycle may have
	Do       *Operation
	Done     func(now time.Time) Outcome // of what needs no operation
}

// Event is what happened to a job, for operators and the journal.
type Event struct {
	Kind, Text string
	Fields     map[string]any
}

// Operation is acts for one job, beside the loop, and what is true of it after them. Its functions but Acts are called by the loop.
type Operation struct {
	Verb string // as people read it
	// Talk: nothing changes at the batch system. What it shows is as true as before.
	Talk bool
	// Resize: one of the few that may be under way at once. Uses is the verbs that it is likely to need.
	Resize bool
	// Starts: the job is to begin. One that is refused again and again is set aside (managed.Rejection).
	Starts bool
	Uses   []string
	Shrink bool                                       // it gives nodes back
	Acts   func(context.Context, *actions.Acts) error // it has copies, no job
	// Launch is the end of a start, by which the job begins; nil: Acts are all. Tasks of one array are
	// launched in the order in which their operations began.
	Launch func(context.Context, *actions.Acts) error
	Done   func(now time.Time) Outcome // nil: nothing but that it ended
	Undo   func(*managed.Job)          // takes back what Change did, where the acts failed; durable. nil: there is nothing
}

// Outcome is what follows from an operation that is over.
type Outcome struct {
	Notice   string        // for operators
	Save     bool          // the job changed
	Reply    *Reply        // to the application that waits
	Grew     *Grew         // for the meter
	GaveBack bool          // the job gave nodes back
	Events   []Event       // told then
	Retry    time.Duration // nothing new is decided for so long
}

// Reply lets a waiting application go on.
type Reply struct {
	Status wire.Status
	Why    string
}

// Grew is a growth that is done: how late, and what it waited for.
type Grew struct {
	Late  time.Duration
	Cause string
}

// About says what is to be done about the job.
func About(r *managed.Job, s Situation) Decision {
	switch r.Phase {
	case managed.Waiting:
		if r.Rigid() {
			return s.rigid(r)
		}
		return s.waiting(r)
	case managed.Starting:
		return s.starting(r)
	case managed.Running:
		return s.running(r)
	default: // ending: the first try failed, or we died in it
		return s.end(r, r.Why)
	}
}

// Booting is what a job waits for whose nodes were powered down.
const Booting = "nodes that boot"

// EndAgain is the pause before a job that was told to end and still runs is told again.
const EndAgain = 40 * time.Second

// tellEnd is for how many seconds of answers a job is not ended whose output does not say why yet.
const tellEnd core.Time = 30

// end ends a job for a reason that its user can read. The batch system does not end a job that it
// could not tell why; the operation fails then, and is tried again, also after a restart. After a
// while the job ends without that.
func (s Situation) end(r *managed.Job, why string) Decision {
	key, said, now := r.Key, why, s.World.Now
	outcome := Outcome{Retry: EndAgain}
	if r.Phase == managed.Ending && r.Ends > 0 && r.Failures > 0 && now-r.Ends-s.Outages.Within(r.Ends, now) > tellEnd {
		said = ""
		outcome.Events = []Event{{"untold", "ended; its output may not say why: " + why, nil}}
	}
	d := Decision{Do: &Operation{
		Verb: "end",
		Acts: func(ctx context.Context, a *actions.Acts) error { return a.End(ctx, key, said) },
		Done: func(time.Time) Outcome { return outcome },
	}}
	if r.Phase != managed.Ending {
		d.Change = func(r *managed.Job) { r.Phase, r.Why, r.Ends = managed.Ending, why, now }
		d.Events = []Event{{"ending", why, nil}}
	}
	return d
}

// anyAsleep says whether one of the nodes does not run, by the newest reading.
func (s Situation) anyAsleep(nodes []string) bool {
	for _, n := range s.World.Snapshot.Nodes {
		if n.Asleep && contains(nodes, n.Name) {
			return true
		}
	}
	return false
}
