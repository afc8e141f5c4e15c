package audit

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// promises finds unexplained delays: steps that began late or never without a cause in the journal, broken promises without a cause, and
// jobs that were ended without a reason.
func (j *judge) promises() {
	for _, r := range j.history.runs {
		j.late(r)
		j.broken(r)
		j.missed(r)
		j.unexplained(r)
	}
}

// late finds resizes that came later than planned without a cause. If a step began a little late, its
// end may be late by the same number of seconds.
func (j *judge) late(r *run) {
	carried := 0.0
	for _, c := range r.changes {
		if c.verb != "grew" && c.verb != "shrank" {
			continue
		}
		late, ok := number(c.entry, "lateness")
		before := carried
		if carried = late; ok && late <= j.Prompt+min(max(before, 0), j.Prompt) || c.entry.Args["cause"] != nil || c.entry.Args["after"] != nil {
			continue
		}
		planned, _ := number(c.entry, "planned")
		if asked, ok := number(c.entry, "asked"); ok && asked > planned {
			continue // the application was late
		}
		if !j.excused(r, c.entry, planned) {
			j.find(Finding{Kind: Late, Job: c.entry.Job, At: c.entry.At.Unix(), Do: seeJournal(r),
				Text: fmt.Sprintf("it %s %.1f s after the planned second, and nothing says why", c.verb, late)})
		}
	}
}

// troubles lists the events that explain a delay of any job.
var troubles = []string{"ready", "unreadable", "readable", "slow", "prompt", "outage", "unleased", "leased", "clock"}

// excused reports whether the journal explains a delay. The cause may be trouble of the sidecar or the batch system at about the planned
// second. It may also be something that happened to the job after its previous resize.
func (j *judge) excused(r *run, late journal.Entry, planned float64) bool {
	from := adapter.Instant(second(planned)).Add(-20 * 1e9)
	why := false
	for _, e := range j.history.entries {
		if e.ID >= late.ID {
			break
		}
		around, own := !e.At.Before(from), keyOf(e) == r.key
		switch {
		case e.Kind == journal.KindIntent:
			why = why || around && (e.Outcome != journal.Done || e.Took.Seconds() > 1)
		case around && slices.Contains(troubles, e.Verb):
			why = true
		case own && slices.Contains([]string{"promise broken", "changed", "requeued", "forgotten", "shortened", "capped", "restored", "excused", "suspended", "resumed"}, e.Verb):
			why = true
		case own && (e.Verb == "grew" || e.Verb == "shrank"):
			why = false
		}
	}
	return why
}

// broken finds broken promises without a cause.
func (j *judge) broken(r *run) {
	for _, e := range r.entries {
		if e.Kind == journal.KindEvent && e.Verb == "promise broken" && text(e, "cause") == "" {
			j.find(Finding{Kind: Broken, Job: e.Job, At: e.At.Unix(), Do: seeJournal(r),
				Text: "its promise was broken, and the journal has no cause"})
		}
	}
}

// patience is the number of seconds after its planned start after which a step counts as missed.
const patience = 120

// explains lists the events of a job after which the job's next step may begin late or never.
var explains = []string{"warned", "promise broken", "changed", "forgotten", "shortened", "capped", "restored", "requeued", "escaped", "ending", "damaged", "excused", "suspended"}

// missed finds a promised step that never began although the job continued to run for minutes.
func (j *judge) missed(r *run) {
	if r.rigid || len(r.profile) == 0 || len(r.changes) == 0 || r.has(explains...) {
		return
	}
	step := 0
	at := r.changes[0].at
	for _, c := range r.changes[1:] {
		if s, ok := number(c.entry, "step"); ok {
			step, at = int(s)-1, c.at
		}
	}
	if step < 0 || step+1 >= len(r.profile) {
		return
	}
	due, until := second(at)+r.profile[step].Duration, j.Now
	if !r.ended.IsZero() {
		until = min(until, r.ended.Unix())
	}
	if until <= due+patience || j.troubled(due-patience, until) {
		return
	}
	j.find(Finding{Kind: Missed, Job: int64(r.key.ID), At: due, Do: seeJournal(r),
		Text: fmt.Sprintf("step %d of %d was due, it ran on for %s, and nothing says why it stayed on %s", step+2, len(r.profile), core.FormatDuration(until-due), counted(len(r.changes[len(r.changes)-1].nodes), "node"))})
}

// troubled reports whether the sidecar or the batch system had trouble between two Unix seconds.
func (j *judge) troubled(from, to core.Time) bool {
	return slices.ContainsFunc(j.history.entries, func(e journal.Entry) bool {
		return e.Kind == journal.KindEvent && slices.Contains(troubles, e.Verb) && e.At.Unix() >= from && e.At.Unix() <= to
	})
}

// unexplained finds jobs that the sidecar or the batch system's time limit ended, but for which the
// journal has no reason.
func (j *judge) unexplained(r *run) {
	do := seeJournal(r)
	for _, e := range r.entries {
		if e.Kind == journal.KindIntent && e.Verb == "end" && e.Args["expander"] == nil && text(e, "why") == "" {
			j.find(Finding{Kind: Unexplained, Job: e.Job, At: e.At.Unix(), Do: do, Text: "the sidecar ended it, and the journal does not say why"})
			return
		}
	}
	if strings.HasPrefix(j.stateOf(r), "TIMEOUT") && !r.rigid && r.planned && !r.has(append([]string{"noticed"}, explains...)...) &&
		!j.troubled(r.began, r.ended.Unix()) && !strings.Contains(r.text, ": ") {
		j.find(Finding{Kind: Unexplained, Job: int64(r.key.ID), At: r.ended.Unix(), Do: do, Text: "its limit ended it, and the journal has no reason why its steps took longer than they were planned"})
	}
}

// stateOf returns the state in which a run ended, and "" if the state is not known.
func (j *judge) stateOf(r *run) string {
	if r.ended.IsZero() || r.again {
		return ""
	}
	if b := j.booked(r); b != nil && !b.Open {
		return b.State
	}
	return r.state
}

// seeJournal returns the command that shows what happened to a job.
func seeJournal(r *run) string {
	return fmt.Sprintf("see `accordion journal --job %d` around that second, and the sidecar's log", r.key.ID)
}
