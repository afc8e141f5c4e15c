package managed

import (
	"time"

	"accordion/adapter/hosts"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// Question is an application that stands at the end of its step and waits for the next.
type Question struct {
	Request wire.Request
	Reply   func(wire.Reply)
	Gone    <-chan struct{} // closed when its shim went away
	At      time.Time       // since when
	Until   time.Time       // when its shim gives up; zero: never
}

// DropQuestion takes back a question whose shim went away or lost its patience: the application goes on with its step.
func (r *Job) DropQuestion(now time.Time) {
	if r.Asks == nil {
		return
	}
	select {
	case <-r.Asks.Gone:
		r.Asks = nil
		return
	default:
	}
	if !r.Asks.Until.IsZero() && !now.Before(r.Asks.Until) {
		r.Answer(wire.Late, "not yet: "+r.Blocked)
	}
}

// Answer lets the waiting application go on.
func (r *Job) Answer(status wire.Status, why string) {
	if r.Asks != nil {
		r.Asks.Reply(r.Reply(status, why))
		r.Asks = nil
	}
}

// Reply is what the application is told: with the status, what it holds and where it stands.
func (r *Job) Reply(status wire.Status, why string) wire.Reply {
	p := wire.Reply{Status: status, Why: why, Nodes: hostlist.Compact(r.Nodes), Count: len(r.Nodes), Step: r.Step + 1, Steps: len(r.EP()), Generation: r.Resizes}
	if len(r.Promise) > r.Step {
		p.Until = r.Due()
	}
	for _, part := range r.Parts {
		p.Allocations = append(p.Allocations, wire.Allocation{Job: int64(part.Job), Nodes: hostlist.Compact(part.Nodes)})
	}
	return p
}

// Hosts is the text of the job's hosts file: a line of what it is, the allocations where there are several, then a node a line, the
// batch host first.
func (r *Job) Hosts(nodes []string, step, generation int) string {
	from := r.Began
	if step > 0 {
		from = r.Promise[step-1]
	}
	return hosts.File{
		Generation: generation, Step: step + 1, Steps: len(r.EP()), From: from, Until: r.Promise[step], Nodes: nodes, Parts: r.Parts,
	}.Text()
}
