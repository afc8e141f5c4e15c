package decide

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/core"
)

// A silent application never calls `accordion step`. It is resized at its planned seconds. The
// sidecar writes the job's hosts file again, and then signals its batch script. After a growth the
// application may use the new nodes. A shrink is announced some seconds in advance, because it
// immediately kills what runs on the released nodes.

// tell decides which message a job has to receive now about its nodes. `ok` is false if there is no
// message to send.
func (s Situation) tell(r *managed.Job) (d Decision, ok bool) {
	if len(r.EP()) < 2 && r.UntoldLosses == nil {
		return d, false
	}
	switch {
	case r.StepCalls == managed.StepCallsUnknown:
		return readVoice(r), true
	case r.UntoldLosses != nil:
		return s.tellLoss(r), true
	case r.StepCalls != managed.StepCallsNever && (r.HostsWritten == 0 || r.HostsWritten > r.Generation): // a job that calls `accordion step` gets a hosts file only after a loss of nodes
		return d, false
	case r.StepCalls != managed.StepCallsNever:
		return s.publish(r, message{nodes: r.Nodes, step: r.Step, generation: r.Generation}, managed.NodesTold{Generation: r.Generation}), true
	case r.HostsWritten <= r.Generation: // the job holds other nodes than its hosts file lists
		m := message{nodes: r.Nodes, step: r.Step, generation: r.Generation}
		if r.HostsWritten > 0 {
			m.says = fmt.Sprintf("step %d of %d: %d nodes, %s", r.Step+1, len(r.EP()), len(r.Nodes), nodesOf(r.Nodes))
			m.signal = r.Step > 0 && len(r.Nodes) > r.EP()[r.Step-1].Nodes // a shrink was already announced
		}
		return s.publish(r, m, managed.NodesTold{Generation: r.Generation}), true
	case !r.Final() && !r.ShrinkTold && r.EP()[r.Step+1].Nodes < len(r.Nodes) && s.World.Now >= r.Due()-s.World.Settings.Silent.Notice:
		return s.announceShrink(r), true
	}
	return d, false
}

// announceShrink informs a silent job which nodes it will release at the end of its step.
func (s Situation) announceShrink(r *managed.Job) Decision {
	keep, due := r.NodesKeptByShrink(r.EP()[r.Step+1].Nodes), r.Due()
	gone := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return contains(keep, n) })
	says := fmt.Sprintf("at %s this job gives back %s, and what runs there is killed; %s stays", adapter.Instant(due).Format(time.TimeOnly), nodesOf(gone), nodesOf(keep))
	d := s.publish(r, message{nodes: keep, step: r.Step + 1, generation: r.Generation + 1, says: says, signal: true}, managed.ShrinkTold{})
	d.Do.ShrinkAt = due
	d.Do.Then.Events = []Event{{"noticed", fmt.Sprintf("told that it shrinks to %d nodes", len(keep)), map[string]any{"keep": nodesOf(keep), "planned": due}}}
	return d
}

// tellMessage writes r.Message into the job's output. If the job has a hosts file, the file is
// written again, because it contains the end of the step, which may have changed. A file that
// already announces the next step is not written again.
func (s Situation) tellMessage(r *managed.Job) Decision {
	told := managed.MessageTold{Message: r.Message}
	if r.HostsWritten > r.Generation && !r.ShrinkTold {
		return s.publish(r, message{nodes: r.Nodes, step: r.Step, generation: r.Generation, says: r.Message}, told)
	}
	op := call("tell", actions.Tell{Job: r.Key, Text: r.Message})
	op.Talk, op.Then.Changes = true, []managed.Change{told}
	return Decision{Do: op}
}

// readVoice finds out whether the job calls `accordion step`. A job whose script cannot be read is
// assumed to call it.
func readVoice(r *managed.Job) Decision {
	op := call("listen", actions.ReadVoice{Job: r.Key})
	op.Talk = true
	return Decision{Do: op}
}

// A message informs a job about its nodes.
type message struct {
	nodes            []string // for its hosts file
	step, generation int
	says             string // for its output; "" means nothing
	signal           bool
}

// tries is how often the sidecar tries to write a hosts file. After that the job continues without
// the file, because the nodes that it will release are promised to other jobs. At each later change
// the sidecar tries once more.
const tries = 3

// leastNotice is the least number of seconds between the announcement of a shrink and the shrink.
// On a slow node the announcement may arrive late. With less notice, the shrink could kill programs
// in the moment in which they learn of it.
const leastNotice core.Time = 2

// publish writes the job's hosts file, and then sends the message. `told` has the changes that
// follow. They also follow if the file could not be written and is not tried again.
func (s Situation) publish(r *managed.Job, m message, told ...managed.Change) Decision {
	c := actions.Publish{Job: *r.Seen, Text: r.Hosts(m.nodes, m.step, m.generation), Generation: m.generation, Says: m.says}
	c.Job.Nodes = slices.Clone(m.nodes)
	if m.signal {
		c.Signal = s.World.Settings.Silent.Signal
	}
	switch failures := r.HostsFailures + 1; {
	case failures == tries:
		c.Unwritten = actions.TellAndGo
	case failures > tries:
		c.Unwritten = actions.GoOnAnyway
	}
	return Decision{Do: &Operation{Verb: "publish", Talk: true, Calls: []actions.Call{c}, Then: Outcome{Changes: told}}}
}

// afterPublish returns what follows from a call of actions.Publish.
func afterPublish(op *Operation, c actions.Publish, got actions.Result, now time.Time) Outcome {
	o := op.Then
	if got.Unwritten == "" {
		if o.Changes = slices.Concat([]managed.Change{managed.HostsWritten{}}, o.Changes); op.ShrinkAt > 0 && now.Unix()+leastNotice > op.ShrinkAt {
			o.Changes = append(o.Changes, managed.ShrinkNotBefore{At: now.Unix() + leastNotice})
		}
		if got.Elsewhere != "" {
			o.Notices = []string{fmt.Sprintf("the job's hosts file is %s: another user has the usual folder", got.Elsewhere)}
		}
		return o
	}
	notices := []string{"the job's hosts file cannot be written: " + got.Unwritten}
	if c.Unwritten == actions.StopThere {
		return Outcome{Notices: notices, Changes: []managed.Change{managed.HostsUnwritten{}}, Retry: 3 * time.Second}
	}
	o.Notices, o.Changes = notices, slices.Concat([]managed.Change{managed.HostsUnwritten{}}, o.Changes)
	o.Events = slices.Concat([]Event{{"untold", "its hosts file cannot be written: " + got.Unwritten, nil}}, o.Events)
	return o
}
