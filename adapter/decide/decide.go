// Package decide decides about one job: what the job waits for, or which calls are made for it. A
// decision is plain data, and making it changes nothing. The loop (adapter/sidecar) carries the
// decision out. When the calls have ended, Succeeded and Failed return what follows.
//
//	d := decide.About(job, decide.Situation{Now: now, World: world})
//	if d.Do == nil {
//		fmt.Println(d.Waits) // "nodes of ordinary job 5"
//	}
//
// The files in testdata/decisions show what is decided in each situation.
package decide

import (
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/shim/wire"
)

// A Situation has everything on which a decision depends, except the job.
type Situation struct {
	Now     time.Time
	World   *plan.World
	Trapped time.Time // no job is resized before this instant
	// Awaited maps each job for whose nodes another job waited in the last cycle to the user ID of
	// the other job.
	Awaited map[core.JobID]uint32
	// Outages has the times in which the batch system did not answer.
	Outages managed.Outages
	// Reserved returns the sidecar's reservation of that name, as the batch system has it now.
	// Tending reports whether a call for the reservation of that name is under way.
	Reserved func(name string) (adapter.Reservation, bool)
	Tending  func(name string) bool
}

// A Decision is what is done about one job now. The zero Decision does nothing, and means that the
// job waits for nothing.
type Decision struct {
	Waits    string           // what the next operation waits for, in words
	Obstacle managed.Obstacle // what a due growth waits for, as a label of the lateness metric
	Limit    string           // the limit, one of actions.Limits, because of which the job waits or is refused; "" if there is none
	For      core.JobID       // the managed job for whose nodes the job waits; 0 if there is none
	Again    time.Time        // no other decision about the job is made before this instant; zero if one may be made at any time

	Notice   string               // for operators
	Changes  []managed.Change     // changes of the job, which are saved before anything is done
	Events   []Event              // events, written after the changes
	Reserves *adapter.Reservation // the reservation that the operation writes itself
	Takes    []string             // nodes that no other decision of this planning cycle may use
	Do       *Operation
	AtOnce   *Outcome // the outcome, if the decision needs no operation
}

// An Event is what happened to a job, for operators and the journal.
type Event struct {
	Kind, Text string
	Fields     map[string]any
}

// An Operation is a list of calls for one job, which are made in another goroutine than the loop.
// Succeeded and Failed return what follows from the result of the calls.
type Operation struct {
	Verb string // name of the operation in messages
	// Talk means that the calls change nothing at the batch system, so that the newest reading
	// stays valid.
	Talk bool
	// Resize means that the job is resized. Few resizes may be under way at the same time. Uses has
	// the verbs of the calls that the resize may need.
	Resize bool
	Uses   []string
	Nodes  []string // what the job holds after the resize
	Next   bool     // the job's next step begins with the resize
	Shrink bool     // the job releases nodes
	// Starts means that the operation starts the job, and that the last call is actions.Launch.
	// Tasks of one array are launched in the order in which their operations began. A job whose
	// start is refused again and again is set aside (managed.Rejection).
	Starts bool
	Calls  []actions.Call // made in this order until one fails
	Then   Outcome        // what follows from success, as far as it does not depend on the results of the calls
	// ShrinkAt is the second of the shrink that the calls announce, and 0 if the calls announce no
	// shrink.
	ShrinkAt core.Time
}

// An Outcome is what follows from an operation that has ended.
type Outcome struct {
	Notices  []string         // for operators
	Changes  []managed.Change // of the job
	Events   []Event          // written with them
	Reply    *Reply           // to the application that waits
	Grew     *Grew            // for the meter
	GaveBack bool             // the job released nodes
	Retry    time.Duration    // no decision is made about the job for this time
	Trapped  time.Duration    // no job is resized for this time
}

// A Reply answers an application that waits, so that it goes on.
type Reply struct {
	Status wire.Status
	Why    string
}

// Grew describes a growth that has succeeded: how late it was, and what it waited for.
type Grew struct {
	Late  time.Duration
	Cause string
}

// About decides about the job. It changes nothing.
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
	default: // the phase is Ending: the call that ends the job failed, or the sidecar ended in the meantime
		return s.end(r, r.EndReason)
	}
}

// endAgain is the pause until the batch system is asked again to end a job that still runs.
const endAgain = 40 * time.Second

// tellsFor is for how many seconds the end of a job is postponed while the reason cannot be written
// into its output. Seconds in which the batch system did not answer do not count.
const tellsFor core.Time = 30

// end ends a job, and writes the reason into the job's output first. If the reason cannot be
// written, the call fails and is repeated, even after a restart of the sidecar. After tellsFor
// seconds the job is ended without a reason in its output.
func (s Situation) end(r *managed.Job, why string) Decision {
	now := s.World.Now
	op := &Operation{Verb: "end", Calls: []actions.Call{actions.End{Job: r.Key, Why: why}}, Then: Outcome{Retry: endAgain}}
	if r.Phase != managed.Ending {
		return Decision{
			Changes: []managed.Change{managed.EndDecided{Why: why, At: now}}, Events: []Event{{"ending", why, nil}}, Do: op,
		}
	}
	if r.EndDecidedAt > 0 && r.Failures > 0 && now-r.EndDecidedAt-s.Outages.Within(r.EndDecidedAt, now) > tellsFor {
		op.Calls = []actions.Call{actions.End{Job: r.Key}}
		op.Then.Events = []Event{{"untold", "ended; its output may not say why: " + why, nil}}
	}
	return Decision{Do: op}
}

// call returns an operation of one call, from which nothing follows.
func call(verb string, c actions.Call) *Operation {
	return &Operation{Verb: verb, Calls: []actions.Call{c}}
}

// `booting` returns the reason to wait if some of the nodes are powered down or boot in the newest
// reading, and "" if none do.
func (s Situation) booting(nodes []string) string {
	var asleep []adapter.Node
	for _, n := range s.World.Snapshot.Nodes {
		if n.Asleep && contains(nodes, n.Name) {
			asleep = append(asleep, n)
		}
	}
	switch {
	case asleep == nil:
		return ""
	case s.World.Snapshot.Hidden.Nodes:
		return view.Booting
	}
	return view.Booting + ": " + s.withStates(asleep)
}
