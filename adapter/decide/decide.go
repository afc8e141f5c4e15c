// Package decide says what is to be done about one job now, as a value: what it waits for, or an operation with its acts and
// its end. Nothing is done here: the loop (adapter/sidecar) carries decisions out, and tells operations how they ended.
//
//	decision := decide.About(job, decide.Situation{Now: now, World: world})
//	if decision.Do == nil {
//		fmt.Println(decision.Waits) // "nodes of ordinary job 5"
//	}
package decide

import (
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

// Decision is what is to be done about one job, as plain values. The zero value: nothing is done, and the job waits for nothing.
type Decision struct {
	Waits    string           // what the next operation waits for, in words
	Obstacle managed.Obstacle // what a due growth waits for, in the words of the lateness table
	Limit    string           // the limit of Accordion's own that the job waits for or is refused for (actions.Limits); "": none
	For      core.JobID       // the managed job for whose nodes it waits; 0: none
	Again    time.Time        // nothing new is decided before; zero: at any time

	Notice   string               // for operators
	Changes  []managed.Change     // of the job; durable before anything is done
	Events   []Event              // written after that
	Reserves *adapter.Reservation // the reservation that the operation writes itself
	Takes    []string             // nodes that nothing else decided in this cycle may have
	Do       *Operation
	AtOnce   *Outcome // what follows without an operation
}

// Event is what happened to a job, for operators and the journal.
type Event struct {
	Kind, Text string
	Fields     map[string]any
}

// Operation is the calls for one job that are made next to the loop. Succeeded and Failed return what follows from its result.
type Operation struct {
	Verb string // as people read it
	// Talk: nothing changes at the batch system. What it shows is as true as before.
	Talk bool
	// Resize: one of the few that may be under way at once. Uses is the verbs that it is likely to need.
	Resize bool
	Uses   []string
	Nodes  []string // what the job holds after the resize
	Next   bool     // the job's next step begins with the resize
	Shrink bool     // it releases nodes
	// Starts: the job is to start, and the last call is actions.Launch. Tasks of one array are launched in the order in which
	// their operations began. A job whose start is refused again and again is set aside (managed.Rejection).
	Starts bool
	Calls  []actions.Call // made in this order until one fails
	Then   Outcome        // what follows from success, as far as no result of the calls is needed for it
	// ShrinkAt is the second of the shrink that the calls announce; 0: they announce none.
	ShrinkAt core.Time
}

// Outcome is what follows from an operation that has ended.
type Outcome struct {
	Notices  []string         // for operators
	Changes  []managed.Change // of the job
	Events   []Event          // written with them
	Reply    *Reply           // to the application that waits
	Grew     *Grew            // for the meter
	GaveBack bool             // the job released nodes
	Retry    time.Duration    // nothing new is decided about the job for so long
	Trapped  time.Duration    // no job is resized for so long
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
	now := s.World.Now
	op := &Operation{Verb: "end", Calls: []actions.Call{actions.End{Job: r.Key, Why: why}}, Then: Outcome{Retry: EndAgain}}
	if r.Phase != managed.Ending {
		return Decision{
			Changes: []managed.Change{managed.EndDecided{Why: why, At: now}}, Events: []Event{{"ending", why, nil}}, Do: op,
		}
	}
	if r.Ends > 0 && r.Failures > 0 && now-r.Ends-s.Outages.Within(r.Ends, now) > tellEnd {
		op.Calls = []actions.Call{actions.End{Job: r.Key}}
		op.Then.Events = []Event{{"untold", "ended; its output may not say why: " + why, nil}}
	}
	return Decision{Do: op}
}

// call returns an operation of one call, of which nothing follows.
func call(verb string, c actions.Call) *Operation {
	return &Operation{Verb: verb, Calls: []actions.Call{c}}
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
