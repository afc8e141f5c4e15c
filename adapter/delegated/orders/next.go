package orders

import (
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/managed"
	"accordion/core"
)

// Sight is what is seen of a part.
type Sight struct {
	Now         core.Time
	Job         *adapter.Job         // nil: there is none, or it was not seen yet
	Gone        bool                 // there is none: a reading says so that began after the order came
	Ends        bool                 // it is Gone but for its last seconds, in which batch systems do not say yet how it ended
	Reservation *adapter.Reservation // of its start; nil: there is none
	Ghost       *adapter.Reservation // the same of its ghost
	Nodes       []string             // on which it may be prepared now; nil: Why not
	Why         string
}

// Memory is what a sidecar knows of a part that the batch system does not show. A sidecar that begins knows nothing, and finds out.
type Memory struct {
	Prepared int      // the try for which Nodes are reserved, and size and limit written
	Nodes    []string // of that try
	Refused  int      // the try that failed: Why
	Why      string
	Ran      []string    // where it ran
	Began    core.Time   // 0: it has not
	Ended    core.Time   // when it was seen to be over
	Failed   bool        // it was ended, or ended with a failure
	Frozen   core.Time   // since when the batch system does not change its job; 0: it does, for all that is known
	Stiff    bool        // that was so for long: another job must take its place
	Unsure   bool        // a call that releases its job is under way, or was given up and may still be carried out
	Gone     adapter.Key // it ends or has ended, and how is to be asked when no reading shows it any more. Zero: that is known
}

// Verb is an act.
type Verb string

// The acts. Each may be repeated.
const (
	Nothing Verb = ""
	Adopt   Verb = "adopt"
	Prepare Verb = "prepare" // on Nodes
	Start   Verb = "start"   // it is tied to its reservation and released
	Hold    Verb = "hold"
	Detach  Verb = "detach"
	End     Verb = "end" // with Why
	Ask     Verb = "ask" // how the job ended that is gone
)

// Step is what is to be done about a part now, and how far it has come.
type Step struct {
	Verb   Verb
	Nodes  []string // of Prepare
	Why    string   // of End, for its user
	Keep   bool     // the reservation of its start has to stay. One that has not goes
	Ghost  []string // nodes to be kept for nobody; nil: none
	Refuse string   // why this try has just failed: to be remembered. "": it has not

	Stand mailbox.Stand
	On    []string // nodes of Prepared and Running
	Note  string   // of Refused and Over
}

// Next says what is to be done about an order.
func Next(o mailbox.Order, s Sight, m Memory) Step {
	t := try{o, s, m}
	if s.Job == nil && !s.Gone && o.Want != mailbox.Ghost {
		return t.unknown()
	}
	if t.replaced() && t.pending() {
		return Step{Verb: End, Why: stiff, Stand: mailbox.Waiting}
	}
	if t.unsure() {
		return t.settles()
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

// Left says what is to be done about a job that no order names: none that waits for its application starts by itself, and one that the
// batch system made itself is wanted by nobody.
func Left(j *adapter.Job) Verb {
	application, _ := adapter.LaunchOf(j)
	switch {
	case j.State != adapter.Pending || j.Mark == "":
		return Nothing
	case adapter.Made(j):
		return End
	case mayStart(j, application):
		return Hold
	}
	return Nothing
}

// try is one order, and all that is known of it.
type try struct {
	o mailbox.Order
	s Sight
	m Memory
}

func (t try) pending() bool { return t.s.Job != nil && t.s.Job.State == adapter.Pending }
func (t try) running() bool { return t.s.Job != nil && t.s.Job.State == adapter.Running }

// made says whether the batch system makes the job itself.
func (t try) made() bool { return t.o.Job == 0 }

// mayStart says whether a job of an application that waits could start, or is tied to the reservation of its start. (Slurm's driver holds jobs by
// another one.)
func mayStart(j *adapter.Job, application int64) bool {
	return !j.Held || j.Reservation == managed.PartReservation(application)
}

func (t try) tied() bool { return mayStart(t.s.Job, t.o.Application) }

// ours says whether a job that waits is held by root, and marked.
func (t try) ours() bool { return t.s.Job.Mark != "" && !t.s.Job.HeldByUser }

// replaced says whether another job must take the place of this one. None can once its application runs.
func (t try) replaced() bool {
	switch t.o.Want {
	case mailbox.Wait, mailbox.Prepare, mailbox.Start, mailbox.Drop:
		return t.m.Stiff
	}
	return false
}

// stiff is why a job of a part ends that cannot be started: its launcher submits another one.
const stiff = "the batch system does not let this job be changed, and so not be started: another one takes its place"

// unsure reports whether the job may begin at any moment though its order does not, or no longer
// does, start it. Neither a hold nor another release prevents that, because the call that was given
// up may come after it.
func (t try) unsure() bool {
	switch t.o.Want {
	case mailbox.Wait, mailbox.Prepare, mailbox.Drop:
		return t.m.Unsure && t.pending() && !t.made() && (t.s.Job.Held || t.s.Job.Reservation == managed.PartReservation(t.o.Application))
	}
	return false
}

// settles leaves the job tied to its reservation, and leaves the reservation in place. Where the
// job begins after all, it begins on the nodes that were prepared, and ends.
func (t try) settles() Step {
	step := Step{Keep: true, Stand: mailbox.Waiting}
	if t.o.Want == mailbox.Drop {
		step.Stand = mailbox.Starting
	}
	return step
}

// unknown is what stands until a reading tells more.
func (t try) unknown() Step {
	if t.m.Ran != nil {
		return Step{Stand: mailbox.Running, On: t.m.Ran, Keep: true}
	}
	return Step{Stand: mailbox.Waiting, Keep: true}
}

func (t try) over() Step {
	note := ""
	switch {
	case t.replaced(): // and the try in which that was found was refused for the same cause, and said so
		note = stiff
	case t.m.Refused == t.o.Try:
		note = t.m.Why
	case t.m.Ended == 0:
		note = "there is no such job"
	}
	return Step{Stand: mailbox.Over, Note: note}
}

// astray ends a job that runs though nobody started it.
func (t try) astray() Step {
	return Step{Verb: End, Why: "it began though its application was not started: it starts when that does", Stand: mailbox.Running, On: t.s.Job.Nodes}
}

func (t try) wait() Step {
	switch {
	case t.running():
		return t.astray()
	case t.pending() && !t.ours():
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
		return t.astray()
	case t.pending() && !t.ours():
		return Step{Verb: Adopt, Stand: mailbox.Waiting}
	case t.pending() && t.tied():
		return Step{Verb: Hold, Stand: mailbox.Waiting}
	case !t.pending() && !t.made():
		return t.over()
	case t.m.Prepared == t.o.Try && !t.has(t.m.Nodes):
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

// has says whether exactly these nodes are reserved for its start.
func (t try) has(nodes []string) bool {
	return t.s.Reservation != nil && managed.SameNodes(t.s.Reservation.Nodes, nodes)
}

// refuse gives this try up.
func (t try) refuse(why string) Step {
	t.m.Refused, t.m.Why = t.o.Try, why
	step := t.refused()
	step.Refuse = why
	return step
}

// refused takes back what was done for a try that failed. It is said when nothing of it is left.
func (t try) refused() Step {
	step := Step{Stand: mailbox.Waiting, Note: t.m.Why}
	switch {
	case t.running():
		return t.astray()
	case t.pending() && t.made():
		step.Verb, step.Why, step.Keep = End, t.m.Why, t.m.Unsure
	case t.pending() && t.ours() && t.tied():
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
		return t.goesOn()
	case !t.pending():
		return t.over()
	case !t.ours():
		return Step{Verb: Adopt, Keep: true, Stand: mailbox.Prepared}
	case t.s.Reservation == nil || len(t.s.Reservation.Nodes) != t.o.Hosts || t.m.Prepared == t.o.Try && !t.has(t.m.Nodes):
		return t.refuse("its reservation is gone")
	case t.s.Job.Held:
		return Step{Verb: Start, Keep: true, Stand: mailbox.Prepared, On: t.s.Reservation.Nodes}
	case t.s.Job.Reservation != t.s.Reservation.Name: // it could start anywhere
		return Step{Verb: Hold, Keep: true, Stand: mailbox.Prepared, On: t.s.Reservation.Nodes}
	}
	return Step{Keep: true, Stand: mailbox.Starting}
}

// goesOn looks after a part that runs: it is untied from its reservation, which goes then.
func (t try) goesOn() Step {
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
		return t.goesOn()
	case t.pending():
		return Step{Verb: End, Why: "it was put back into the queue after its application had begun", Stand: mailbox.Starting}
	}
	return t.ended()
}

// ended is over, when it is known how: readings leave out what has ended, and do not say that it was cancelled.
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
	case t.pending() && t.ours() && t.tied():
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

// ghostNodes is where the part runs or ran.
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

// failures are in the words of batch systems for jobs that did not end by themselves, or not well.
var failures = []string{"FAIL", "CANCEL", "TIMEOUT", "DEADLINE", "MEMORY", "PREEMPT", "ERROR", "LOST", "REVOKED", "TO FRAG"}

// failed says whether a job ended otherwise than by itself and well, by the batch system's word.
func failed(why string) bool {
	for _, f := range failures {
		if strings.Contains(strings.ToUpper(why), f) {
			return true
		}
	}
	return false
}

// describe is an order in words, for the journal.
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
