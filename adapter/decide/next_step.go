package decide

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/shim/wire"
)

// NextStep returns what follows when the job holds the nodes of its next step: that step begins, and the application goes on. fields has more
// fields for the event; nil: none.
func NextStep(r *managed.Job, nodes []string, settings managed.Settings, fields map[string]any, now time.Time) Outcome {
	due, meant, before := r.Due(), r.Meant, r.EP()[r.Step].Nodes
	after := *r // a copy that has what is known now of the step that ends
	// Did the sidecar stand still for most of the delay?
	if late := now.Unix() - due; late > managed.Tolerance && 2*r.Missed > late {
		after.WaitsFor = managed.Standstill
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["planned"], fields["usable"], fields["nodes"], fields["step"] = meant, float64(now.UnixMilli())/1000, nodesOf(nodes), r.Step+2
	fields["lateness"] = now.Sub(adapter.Instant(meant)).Seconds()
	switch {
	case after.WaitsFor != managed.Nobody:
		fields["cause"] = string(after.WaitsFor)
	case due > meant && r.Broke != "": // the step was postponed, and then waited for nothing
		fields["cause"] = r.Broke
	}
	if !r.Ready.IsZero() {
		fields["ready"] = float64(r.Ready.UnixMilli()) / 1000
	}
	cause := after.WaitsFor
	if r.Asks != nil {
		if fields["asked"] = float64(r.Asks.At.UnixMilli()) / 1000; r.Asks.At.Unix() > meant+r.Forgiven()+managed.Tolerance {
			cause = managed.LateApplication
		}
		after.Overran += max(0, r.Asks.At.Unix()-r.LateFrom())
		if late := r.Asks.At.Unix() - due - r.Owed; late > managed.Tolerance && r.Stalled > 0 {
			after.Delayed += min(late, r.Stalled)
			if cause == managed.Nobody {
				cause, fields["cause"] = managed.Outaged, string(managed.Outaged)
			}
		}
	}
	if now.Unix() > due {
		if after.MovedBy = cause; cause == managed.Nobody {
			after.MovedBy = managed.BatchSystem
		}
	}
	settings.Limits.Pace(&after, now.Unix())

	why := because(settings, &after, meant, now.Unix())
	o := Outcome{
		Changes: []managed.Change{managed.StepBegun{At: now.Unix(), Overran: after.Overran, Delayed: after.Delayed, Paced: after.Paced, MovedBy: after.MovedBy}},
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
