package sim

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/audit"
	"accordion/adapter/embedded"
	"accordion/core"
)

// audited returns the data that `accordion audit` would judge after the scenario.
func (w *world) audited() (in audit.Input, err error) {
	in = audit.Input{From: w.begin.Unix(), Now: time.Now().Unix(), Entries: w.entries(), Alive: true, Prompt: w.punctuality()}
	if in.Records, err = w.journal.Records(); err != nil {
		return in, err
	}
	snapshot, err := w.system.Observe(context.Background())
	if err != nil {
		return in, err
	}
	in.Current = &adapter.CurrentState{At: time.Now(), Jobs: snapshot.Jobs, Nodes: snapshot.Nodes, Reservations: snapshot.Reservations}
	if len(w.restarts) > 0 { // after a restart, accounting does not have everything that jobs held, so the audit would find differences; judgeNodes checks the nodes instead
		return in, nil
	}
	in.Accounting = &adapter.Accounting{Grain: 1}
	for _, r := range w.system.Jobs() {
		in.Accounting.Jobs = append(in.Accounting.Jobs, runsOf(bookedOf(r))...)
	}
	return in, nil
}

// bookedOf converts a record into the form that accounting would have, in whole seconds.
func bookedOf(r embedded.Record) adapter.AccountedRun {
	b := adapter.AccountedRun{Key: r.Key, Name: r.Name, User: r.User, Alone: true, Expands: r.Expands, Merged: r.MergedInto.ID != 0, State: r.Why, Open: r.End.IsZero()}
	at := map[core.Time]bool{}
	for _, s := range r.Spans {
		at[s.From.Unix()], at[s.To.Unix()] = true, true
	}
	var seconds []core.Time
	for s := range at {
		seconds = append(seconds, s)
	}
	slices.Sort(seconds)
	for i := range len(seconds) - 1 {
		h := adapter.Hold{From: seconds[i], To: seconds[i+1]}
		for _, s := range r.Spans {
			if s.From.Unix() <= h.From && h.From < s.To.Unix() {
				h.Nodes = append(h.Nodes, s.Node)
			}
		}
		if len(h.Nodes) > 0 {
			b.Holds = append(b.Holds, h)
		}
	}
	return b
}

// runsOf divides a job into its runs, as accounting does. A job has several runs if the batch system
// requeued it or, after a restart, forgot its start.
func runsOf(b adapter.AccountedRun) []adapter.AccountedRun {
	for i := 1; i < len(b.Holds); i++ {
		if b.Holds[i].From > b.Holds[i-1].To {
			first, rest := b, b
			first.Holds, first.State, first.Open = b.Holds[:i:i], "REQUEUED", false
			rest.Holds, rest.Submitted = b.Holds[i:], b.Holds[i].From
			return append([]adapter.AccountedRun{first}, runsOf(rest)...)
		}
	}
	return []adapter.AccountedRun{b}
}

// judgeAudit checks that `accordion audit` finds nothing.
func (w *world) judgeAudit() {
	in, err := w.audited()
	if err != nil {
		w.violation("reading what the audit judges: %v", err)
		return
	}
	for _, f := range audit.Judge(in).Findings {
		w.violation("audit: %s", f.Line(time.UTC))
	}
}
