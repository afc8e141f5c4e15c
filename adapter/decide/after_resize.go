package decide

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/shim/wire"
)

// NextStep returns what follows when the job holds the nodes of its next step. That step begins,
// and the application continues. `fields` has additional fields for the event, and may be nil.
func NextStep(r *managed.Job, nodes []string, settings managed.Settings, fields map[string]any, now time.Time) Outcome {
	due, meant, before := r.Due(), r.PlannedEnd, r.EP()[r.Step].Nodes
	after := *r // a copy, which gets what is known now about the step that ends
	// Did the sidecar stand still for most of the delay?
	if late := now.Unix() - due; late > managed.Tolerance && 2*r.StandstillSeconds > late {
		after.Obstacle = managed.Standstill
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["planned"], fields["usable"], fields["nodes"], fields["step"] = meant, float64(now.UnixMilli())/1000, nodesOf(nodes), r.Step+2
	fields["lateness"] = now.Sub(adapter.Instant(meant)).Seconds()
	switch {
	case after.Obstacle != managed.Nobody:
		fields["cause"] = string(after.Obstacle)
	case due > meant && r.SlipCause != "": // the step was postponed, and nothing delayed it after that
		fields["cause"] = r.SlipCause
	}
	if !r.NodesReadyAt.IsZero() {
		fields["ready"] = float64(r.NodesReadyAt.UnixMilli()) / 1000
	}
	cause := after.Obstacle
	if r.Question != nil {
		if fields["asked"] = float64(r.Question.At.UnixMilli()) / 1000; r.Question.At.Unix() > meant+r.NotLateFor()+managed.Tolerance {
			cause = managed.LateApplication
		}
		after.OverrunUsed += max(0, r.Question.At.Unix()-r.LateFrom())
		if late := r.Question.At.Unix() - due - r.SidecarDelay; late > managed.Tolerance && r.OutageCost > 0 {
			after.PastOutageCost += min(late, r.OutageCost)
			if cause == managed.Nobody {
				cause, fields["cause"] = managed.Outaged, string(managed.Outaged)
			}
		}
	}
	if now.Unix() > due {
		if after.PromiseMovedBy = cause; cause == managed.Nobody {
			after.PromiseMovedBy = managed.BatchSystem
		}
	}
	settings.Limits.CountResize(&after, now.Unix())

	why := because(settings, &after, meant, now.Unix())
	o := Outcome{
		Changes: []managed.Change{managed.StepBegun{At: now.Unix(), Overran: after.OverrunUsed, Delayed: after.PastOutageCost, Paced: after.PacedUntil, MovedBy: after.PromiseMovedBy}},
		Reply:   &Reply{wire.Resized, why},
	}
	kind, text := "grew", fmt.Sprintf("from %d to %d nodes", before, len(nodes))
	if why != "" {
		text += "; " + why
	}
	if len(nodes) < before {
		kind = "shrank"
	}
	if len(nodes) > before {
		o.Grew = &Grew{now.Sub(adapter.Instant(meant)), string(cause)}
	}
	o.Events = []Event{{kind, text, fields}}
	return o
}
