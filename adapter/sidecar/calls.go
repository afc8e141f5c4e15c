package sidecar

import (
	"fmt"
	"slices"
	"time"

	"accordion/adapter/session"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// question is an application that stands at the end of its step and waits for the next.
type question struct {
	call  session.Call
	at    time.Time // since when
	until time.Time // when its shim gives up; zero: never
}

// hear takes in what a shim asks. Nothing it says is believed before it is known to speak for the job's owner.
func (s *Sidecar) hear(call session.Call) {
	r := s.find(core.JobID(call.Request.Job))
	switch {
	case s.snapshot == nil:
		call.Answer(wire.Reply{Status: wire.Busy, Why: "the sidecar has not read the batch system yet: ask again"})
		return
	case r == nil:
		call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf(
			"job %d is not a running job that Accordion manages on cluster %s: submit it with an evolution profile (#EP 2x20s,5x20s)", call.Request.Job, s.settings.Cluster)})
		return
	case call.UID != 0 && call.UID != r.UID:
		s.log.Warn("refused: speaks for another user's job", "cluster", s.settings.Cluster, "job", r.ID, "uid", call.UID, "pid", call.PID)
		call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf("job %d is not yours", r.ID)})
		return
	}
	switch over := call.Request.Step; {
	case over != 0 && over <= r.Step: // asked again after the answer was lost
		call.Answer(s.reply(r, wire.Resized, ""))
		return
	case over > r.Step+1:
		call.Answer(s.reply(r, wire.Refused, fmt.Sprintf("step %d cannot be over: job %d is in step %d", over, r.ID, r.Step+1)))
		return
	case r.final():
		call.Answer(s.reply(r, wire.Over, "the profile has no further step"))
		return
	}
	if r.Phase != starting { // else when it is seen to run: which nodes it has, and which runs its script, is not known before
		if why := s.choose(r, call.Request); why != "" {
			call.Answer(s.reply(r, wire.Refused, why))
			return
		}
	}
	at := s.clock.Now()
	if r.ask != nil {
		at = r.ask.at // the same boundary, asked again
		r.ask.call.Answer(s.reply(r, wire.Late, "asked again by another process of the job"))
	}
	r.ask = &question{call: call, at: at}
	if call.Request.Waits > 0 {
		r.ask.until = s.clock.Now().Add(time.Duration(call.Request.Waits) * time.Second)
	}
}

// find is the running job of the id. One whose start was decided may run already, before a reading shows it.
func (s *Sidecar) find(id core.JobID) *record {
	for _, r := range s.records {
		if r.ID == id && r.Phase != waiting {
			return r
		}
	}
	return nil
}

// choose orders the job's nodes as the application wishes for its next shrink: what it keeps comes first, those that
// it can never give back before all. It returns why the wish cannot be had.
func (s *Sidecar) choose(r *record, q wire.Request) string {
	if q.Keep == "" && q.Release == "" {
		return ""
	}
	next := r.ep()[r.Step+1].Nodes
	text, keeps := q.Keep, true
	if text == "" {
		text, keeps = q.Release, false
	}
	list, err := hostlist.Expand(text)
	if err != nil {
		return err.Error()
	}
	for _, n := range list {
		if !slices.Contains(r.Nodes, n) {
			return fmt.Sprintf("node %s is not one of the job's: %s", n, names(r.Nodes))
		}
	}
	var keep, leave []string
	for _, n := range r.Nodes {
		if slices.Contains(list, n) == keeps {
			keep = append(keep, n)
		} else {
			leave = append(leave, n)
		}
	}
	stays := r.stays()
	stuck := slices.DeleteFunc(slices.Clone(leave), func(n string) bool { return !slices.Contains(stays, n) })
	switch {
	case next >= len(r.Nodes):
		return "" // nothing leaves
	case keeps && len(keep) > next:
		return fmt.Sprintf("%d nodes to keep, but step %d has %d", len(keep), r.Step+2, next)
	case !keeps && len(leave) > len(r.Nodes)-next:
		return fmt.Sprintf("%d nodes to release, but only %d leave at step %d", len(leave), len(r.Nodes)-next, r.Step+2)
	case len(stuck) > 0 && (!keeps || len(keep)+len(stuck) > next):
		if stuck[0] == r.Nodes[0] {
			return fmt.Sprintf("node %s runs the job script and always stays", stuck[0])
		}
		return fmt.Sprintf("node %s belongs to the job's base and always stays (with %s)", stuck[0], names(stays))
	}
	order := stays
	for _, n := range append(keep, leave...) {
		if !slices.Contains(stays, n) {
			order = append(order, n)
		}
	}
	r.Nodes = order
	r.dirty = true
	return ""
}

// hang takes back a question whose shim went away or lost its patience: the application goes on with its step.
func (s *Sidecar) hang(r *record) {
	if r.ask == nil {
		return
	}
	select {
	case <-r.ask.call.Gone:
		r.ask = nil
		return
	default:
	}
	if !r.ask.until.IsZero() && !s.clock.Now().Before(r.ask.until) {
		s.answer(r, wire.Late, "not yet: "+r.blocked)
	}
}

// answer lets the waiting application go on.
func (s *Sidecar) answer(r *record, status wire.Status, why string) {
	if r.ask != nil {
		r.ask.call.Answer(s.reply(r, status, why))
		r.ask = nil
	}
}

func (s *Sidecar) reply(r *record, status wire.Status, why string) wire.Reply {
	p := wire.Reply{Status: status, Why: why, Nodes: names(r.Nodes), Count: len(r.Nodes), Step: r.Step + 1, Steps: len(r.ep()), Generation: r.Resizes}
	if len(r.Promise) > r.Step {
		p.Until = r.due()
	}
	for _, part := range r.parts {
		p.Allocations = append(p.Allocations, wire.Allocation{Job: int64(part.Job), Nodes: names(part.Nodes)})
	}
	return p
}
