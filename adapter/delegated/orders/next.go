package orders

import (
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/core"
)

// Observation is what is known about a part from the newest reading.
type Observation struct {
	Now         core.Time
	Job         *adapter.Job         // the part's job; nil if there is none, or no reading has shown it yet
	Gone        bool                 // a reading that began after the order arrived shows no job
	Ends        bool                 // set in addition to Gone while the job is ending, so that the batch system does not show yet how it ended
	Reservation *adapter.Reservation // the reservation for the part's start; nil if there is none
	Ghost       *adapter.Reservation // the reservation for the part's ghost; nil if there is none
	Nodes       []string             // nodes on which the part may be prepared now; nil means that it may not be prepared now
	Why         string               // why the part may not be prepared now
}

// Memory is what the sidecar knows about a part and the batch system does not show. After a restart of the sidecar it is empty.
type Memory struct {
	Prepared int         // number of the try for which the nodes in Nodes are reserved, and the job's size and limit are set
	Nodes    []string    // nodes of that try
	Refused  int         // number of the last try that failed; 0 if none has failed
	Why      string      // why that try failed
	Ran      []string    // the nodes on which the part ran
	Began    core.Time   // second at which the part began; 0 if it has not begun
	Ended    core.Time   // second at which a reading showed that the part has ended; 0 if it has not
	Failed   bool        // the part's job was ended, or failed
	Frozen   core.Time   // second since which the batch system refuses to change the job; 0 if it does not
	Stiff    bool        // the batch system has refused that for so long that another job must replace the job
	Unsure   bool        // a call that releases the job is in progress, or timed out and may still be carried out
	Gone     adapter.Key // the job that ran: when readings no longer show it, the batch system must be asked how it ended; zero if that is known
}

// Verb is the call that a step needs.
type Verb string

// The verbs. Each may be repeated without harm.
const (
	Nothing Verb = ""
	Adopt   Verb = "adopt"
	Prepare Verb = "prepare" // reserve Step.Nodes for the part, and set the job's size and time limit
	Start   Verb = "start"   // tie the job to the part's reservation, and release it
	Hold    Verb = "hold"
	Detach  Verb = "detach"
	End     Verb = "end" // end the job, for the reason Step.Why
	Ask     Verb = "ask" // ask the batch system how the job ended
)

// Step is the call that a part needs now, and the part's progress.
type Step struct {
	Verb   Verb
	Nodes  []string // for Prepare: the nodes to reserve
	Why    string   // for End: the reason for the user
	Keep   bool     // keep the reservation for the part's start; if it is false, the reservation is deleted
	Ghost  []string // nodes to reserve for the part's ghost; nil if there is none
	Refuse string   // why the present try has just failed, so that the Keeper remembers it; "" if it has not failed

	Stand mailbox.Stand
	On    []string // if Stand is Prepared or Running: the nodes
	Note  string   // if Stand is Refused or Over: the reason
}

// Next returns the step that an order needs.
func Next(o mailbox.Order, s Observation, m Memory) Step {
	t := try{o, s, m}
	if s.Job == nil && !s.Gone && o.Want != mailbox.Ghost {
		return t.unknown()
	}
	if t.replaced() && t.pending() {
		return Step{Verb: End, Why: stiff, Stand: mailbox.Waiting}
	}
	if t.unsure() {
		return t.waitUntilSettled()
	}
	switch o.Want {
	case mailbox.Wait:
		return t.wait()
	case mailbox.Prepare:
		return t.prepare()
	case mailbox.Start:
		return t.start()
	case mailbox.Run:
		return t.run()
	case mailbox.Drop:
		return t.drop()
	case mailbox.End:
		return t.end()
	case mailbox.Ghost:
		return t.ghost()
	}
	return Step{Stand: mailbox.Waiting}
}

// Left returns the call for a job that no order names. A job that waits must not start, because its application was not started. If the
// batch system itself made a waiting job, the job is ended.
func Left(j *adapter.Job) Verb {
	application, _ := adapter.LaunchOf(j)
	switch {
	case j.State != adapter.Pending || j.Mark == "":
		return Nothing
	case adapter.MadeByBatchSystem(j):
		return End
	case mayStart(j, application):
		return Hold
	}
	return Nothing
}

// try is an order with everything that is known about its part.
type try struct {
	o mailbox.Order
	s Observation
	m Memory
}

func (t try) pending() bool { return t.s.Job != nil && t.s.Job.State == adapter.Pending }
func (t try) running() bool { return t.s.Job != nil && t.s.Job.State == adapter.Running }

// made reports whether the batch system itself makes the job.
func (t try) made() bool { return t.o.Job == 0 }

// mayStart reports whether a waiting job of an application is not held, or is tied to the reservation for its start. Package slurm holds
// jobs by tying them to another reservation, so that a job with another reservation cannot start.
func mayStart(j *adapter.Job, application int64) bool {
	return !j.Held || j.Reservation == managed.PartReservation(application)
}

func (t try) tied() bool { return mayStart(t.s.Job, t.o.Application) }

// adopted reports whether the job, which waits, has a mark and is held by root.
func (t try) adopted() bool { return t.s.Job.Mark != "" && !t.s.Job.HeldByUser }

// replaced reports whether another job must replace the part's job. A job can be replaced only before the application runs.
func (t try) replaced() bool {
	switch t.o.Want {
	case mailbox.Wait, mailbox.Prepare, mailbox.Start, mailbox.Drop:
		return t.m.Stiff
	}
	return false
}

// stiff is the message to the user if the job of a part is ended because it cannot be started. The launcher then submits another job.
const stiff = "the batch system does not let this job be changed, and so not be started: another one takes its place"

// unsure reports whether the job may begin at any moment although the order is not to start it. The cause is a release that timed out and
// may still be carried out. Holding the job would not help, because the batch system may carry out the release after the hold.
func (t try) unsure() bool {
	switch t.o.Want {
	case mailbox.Wait, mailbox.Prepare, mailbox.Drop:
		return t.m.Unsure && t.pending() && !t.made() && (t.s.Job.Held || t.s.Job.Reservation == managed.PartReservation(t.o.Application))
	}
	return false
}

// waitUntilSettled returns a step that leaves the job tied to its reservation, and keeps the reservation. If the job begins after all, it
// begins on the prepared nodes, and is then ended.
func (t try) waitUntilSettled() Step {
	step := Step{Keep: true, Stand: mailbox.Waiting}
	if t.o.Want == mailbox.Drop {
		step.Stand = mailbox.Starting
	}
	return step
}

// unknown returns the step for a part whose job no reading has shown yet.
func (t try) unknown() Step {
	if t.m.Ran != nil {
		return Step{Stand: mailbox.Running, On: t.m.Ran, Keep: true}
	}
	return Step{Stand: mailbox.Waiting, Keep: true}
}

func (t try) over() Step {
	note := ""
	switch {
	case t.replaced(): // the try in which the job could not be changed was refused for the same reason
		note = stiff
	case t.m.Refused == t.o.Try:
		note = t.m.Why
	case t.m.Ended == 0:
		note = "there is no such job"
	}
	return Step{Stand: mailbox.Over, Note: note}
}

// endUnstarted returns the step that ends a job which runs although its application was not started.
func (t try) endUnstarted() Step {
	return Step{Verb: End, Why: "it began though its application was not started: it starts when that does", Stand: mailbox.Running, On: t.s.Job.Nodes}
}

func (t try) wait() Step {
	switch {
	case t.running():
		return t.endUnstarted()
	case t.pending() && !t.adopted():
		return Step{Verb: Adopt, Stand: mailbox.Waiting}
	case t.pending() && t.tied():
		return Step{Verb: Hold, Stand: mailbox.Waiting}
	case t.pending() || t.made():
		return Step{Stand: mailbox.Waiting}
	}
	return t.over()
}

func (t try) prepare() Step {
	switch {
	case t.m.Refused == t.o.Try:
		return t.refused()
	case t.running():
		return t.endUnstarted()
	case t.pending() && !t.adopted():
		return Step{Verb: Adopt, Stand: mailbox.Waiting}
	case t.pending() && t.tied():
		return Step{Verb: Hold, Stand: mailbox.Waiting}
	case !t.pending() && !t.made():
		return t.over()
	case t.m.Prepared == t.o.Try && !t.isReserved(t.m.Nodes):
		return t.refuse("its reservation is gone")
	case t.m.Prepared == t.o.Try && !t.pending():
		return t.refuse("its job is gone")
	case t.m.Prepared == t.o.Try:
		return Step{Keep: true, Stand: mailbox.Prepared, On: t.m.Nodes}
	case t.s.Nodes == nil:
		return t.refuse(t.s.Why)
	}
	return Step{Verb: Prepare, Nodes: t.s.Nodes, Keep: true, Stand: mailbox.Waiting}
}

// isReserved reports whether exactly these nodes are reserved for the part's start.
func (t try) isReserved(nodes []string) bool {
	return t.s.Reservation != nil && managed.SameNodes(t.s.Reservation.Nodes, nodes)
}

// refuse gives up the try for the given reason.
func (t try) refuse(why string) Step {
	t.m.Refused, t.m.Why = t.o.Try, why
	step := t.refused()
	step.Refuse = why
	return step
}

// refused returns the step that undoes what was done for a failed try. When nothing of the try is left, the stand of the part is Refused.
func (t try) refused() Step {
	step := Step{Stand: mailbox.Waiting, Note: t.m.Why}
	switch {
	case t.running():
		return t.endUnstarted()
	case t.pending() && t.made():
		step.Verb, step.Why, step.Keep = End, t.m.Why, t.m.Unsure
	case t.pending() && t.adopted() && t.tied():
		step.Verb = Hold
	case t.s.Reservation == nil:
		step.Stand = mailbox.Refused
	}
	return step
}

func (t try) start() Step {
	switch {
	case t.m.Refused == t.o.Try:
		return t.refused()
	case t.running():
		return t.untie()
	case !t.pending():
		return t.over()
	case !t.adopted():
		return Step{Verb: Adopt, Keep: true, Stand: mailbox.Prepared}
	case t.s.Reservation == nil || len(t.s.Reservation.Nodes) != t.o.Hosts || t.m.Prepared == t.o.Try && !t.isReserved(t.m.Nodes):
		return t.refuse("its reservation is gone")
	case t.s.Job.Held:
		return Step{Verb: Start, Keep: true, Stand: mailbox.Prepared, On: t.s.Reservation.Nodes}
	case t.s.Job.Reservation != t.s.Reservation.Name: // the job could start on any nodes
		return Step{Verb: Hold, Keep: true, Stand: mailbox.Prepared, On: t.s.Reservation.Nodes}
	}
	return Step{Keep: true, Stand: mailbox.Starting}
}

// untie returns the step that unties a running part from its reservation, which is then deleted. If the part runs on wrong nodes, the
// step ends it.
func (t try) untie() Step {
	step := Step{Stand: mailbox.Running, On: t.s.Job.Nodes}
	switch {
	case t.m.Prepared == t.o.Try && !managed.SameNodes(t.s.Job.Nodes, t.m.Nodes):
		step.Verb, step.Why = End, "it began on other nodes than those that were prepared for it"
	case t.s.Job.Reservation != "":
		step.Verb, step.Keep = Detach, true
	}
	return step
}

func (t try) run() Step {
	switch {
	case t.running():
		return t.untie()
	case t.pending():
		return Step{Verb: End, Why: "it was put back into the queue after its application had begun", Stand: mailbox.Starting}
	}
	return t.ended()
}

// ended returns the step for a part whose job has ended. Readings do not show jobs that have ended, so the batch system must first be
// asked how the job ended. After that, the step has the stand Over.
func (t try) ended() Step {
	switch {
	case t.m.Failed || t.m.Gone == (adapter.Key{}):
		return t.over()
	case t.s.Ends:
		return Step{Stand: mailbox.Running, On: t.m.Ran}
	}
	return Step{Verb: Ask, Stand: mailbox.Running, On: t.m.Ran}
}

func (t try) drop() Step {
	switch {
	case t.running():
		return Step{Verb: End, Why: t.o.Why, Stand: mailbox.Running, On: t.s.Job.Nodes}
	case t.pending() && t.made():
		return Step{Verb: End, Why: t.o.Why, Stand: mailbox.Prepared, Keep: t.m.Unsure}
	case t.pending() && t.adopted() && t.tied():
		return Step{Verb: Hold, Stand: mailbox.Starting}
	case t.s.Reservation != nil:
		return Step{Stand: mailbox.Prepared, On: t.s.Reservation.Nodes}
	case t.pending() || t.made():
		return Step{Stand: mailbox.Waiting}
	}
	return t.over()
}

func (t try) end() Step {
	switch {
	case t.running():
		return Step{Verb: End, Why: t.o.Why, Stand: mailbox.Running, On: t.s.Job.Nodes}
	case t.pending():
		return Step{Verb: End, Why: t.o.Why, Stand: mailbox.Waiting}
	}
	return t.over()
}

func (t try) ghost() Step {
	step := t.run()
	nodes := t.ghostNodes()
	if nodes == nil || t.s.Now >= t.o.Until {
		return step
	}
	step.Ghost = nodes
	if t.running() && t.s.Ghost != nil && managed.SameNodes(t.s.Ghost.Nodes, nodes) {
		step.Stand, step.On = mailbox.Ghosted, nodes
	}
	return step
}

// ghostNodes returns the nodes on which the part runs or ran, or nil if they are not known.
func (t try) ghostNodes() []string {
	switch {
	case t.running():
		return t.s.Job.Nodes
	case t.m.Ran != nil:
		return t.m.Ran
	case t.s.Ghost != nil:
		return t.s.Ghost.Nodes
	}
	return nil
}

// failures lists texts. A job was ended or failed if its state or reason, as the batch system names it, contains one of them.
var failures = []string{"FAIL", "CANCEL", "TIMEOUT", "DEADLINE", "MEMORY", "PREEMPT", "ERROR", "LOST", "REVOKED", "TO FRAG"}

// failed reports whether a job was ended or failed, according to the batch system's reason `why`.
func failed(why string) bool {
	for _, f := range failures {
		if strings.Contains(strings.ToUpper(why), f) {
			return true
		}
	}
	return false
}

// describe formats an order for the journal.
func describe(o mailbox.Order) string {
	return fmt.Sprintf("application %d, job %d, %s, try %d", o.Application, o.Job, wants[o.Want], o.Try)
}

var wants = map[mailbox.Want]string{
	mailbox.Wait: "wait", mailbox.Prepare: "prepare", mailbox.Start: "start", mailbox.Run: "run", mailbox.Drop: "drop", mailbox.End: "end", mailbox.Ghost: "ghost",
}

var stands = map[mailbox.Stand]string{
	mailbox.Waiting: "waits", mailbox.Prepared: "is prepared", mailbox.Refused: "was refused", mailbox.Starting: "is being started",
	mailbox.Running: "runs", mailbox.Over: "is over", mailbox.Ghosted: "is done, its nodes are kept",
}
