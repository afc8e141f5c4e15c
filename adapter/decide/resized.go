package decide

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/shim/wire"
)

// Resized makes the next step the present one, and lets the application go on. More fields of the event may be given.
func Resized(r *managed.Job, settings managed.Settings, fields map[string]any, now time.Time) Outcome {
	due, meant, before := r.Due(), r.Meant, r.EP()[r.Step].Nodes
	if late := now.Unix() - due; late > managed.Tolerance && 2*r.Missed > late { // most of it
		r.WaitsFor = managed.Standstill
	}
	if fields == nil {
		fields = map[string]any{}
	}
	fields["planned"], fields["usable"], fields["nodes"], fields["step"] = meant, float64(now.UnixMilli())/1000, nodesOf(r.Nodes), r.Target+1
	fields["lateness"] = now.Sub(adapter.Instant(meant)).Seconds()
	switch {
	case r.WaitsFor != managed.Nobody:
		fields["cause"] = string(r.WaitsFor)
	case due > meant && r.Broke != "": // it was put off, and waited for nothing when its second came
		fields["cause"] = r.Broke
	}
	if !r.Ready.IsZero() {
		fields["ready"] = float64(r.Ready.UnixMilli()) / 1000
	}
	cause := r.WaitsFor
	if r.Asks != nil {
		if fields["asked"] = float64(r.Asks.At.UnixMilli()) / 1000; r.Asks.At.Unix() > meant+r.Forgiven()+managed.Tolerance {
			cause = managed.LateApplication
		}
		r.Overran += max(0, r.Asks.At.Unix()-r.LateFrom())
		if late := r.Asks.At.Unix() - due - r.Owed; late > managed.Tolerance && r.Stalled > 0 {
			r.Delayed += min(late, r.Stalled)
			if cause == managed.Nobody {
				cause, fields["cause"] = managed.Outaged, string(managed.Outaged)
			}
		}
	}
	why := because(settings, r, meant, now.Unix())
	if now.Unix() > due {
		if r.MovedBy = cause; cause == managed.Nobody {
			r.MovedBy = managed.BatchSystem
		}
	}
	r.GoOn(now.Unix())
	r.NextNodes, r.Again = nil, nil // what the step before lacked is not this one's
	r.ForgetStall()
	r.Meant, r.Warned, r.Noticed, r.Heeds, r.Untold, r.Owed, r.Regained = r.Due(), 0, false, 0, nil, 0, false
	r.Resizes++
	settings.Limits.Pace(r, now.Unix())
	r.Resized = now.Unix()
	r.WaitsFor, r.Missed, r.Ready = managed.Nobody, 0, time.Time{}

	o := Outcome{Save: true, Reply: &Reply{wire.Resized, why}}
	kind, text := "grew", fmt.Sprintf("from %d to %d nodes", before, len(r.Nodes))
	if why != "" {
		text += "; " + why
	}
	if len(r.Nodes) < before {
		kind = "shrank"
	}
	if len(r.Nodes) > before {
		o.Grew = &Grew{now.Sub(adapter.Instant(meant)), string(cause)}
	}
	o.Events = []Event{{kind, text, fields}}
	return o
}
