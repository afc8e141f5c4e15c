package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// entries is the whole journal.
func (w *world) entries() []journal.Entry {
	var all []journal.Entry
	for e, err := range w.book.Entries(0) {
		if err != nil {
			w.blame("reading the journal: %v", err)
			break
		}
		if e.Verb == "damaged" {
			w.blame("a record that the sidecar wrote is taken for damaged: %s", e.Text)
		}
		all = append(all, e)
	}
	return all
}

func keyOf(e journal.Entry) adapter.Key {
	return adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
}

// happened says whether the journal has an event of one of the kinds for the job.
func (w *world) happened(key adapter.Key, kinds ...string) bool {
	return slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Kind == journal.KindEvent && keyOf(e) == key && slices.Contains(kinds, e.Verb)
	})
}

// explained says whether the journal tells the user of a job why it was ended.
func (w *world) explained(key adapter.Key) bool {
	return w.happened(key, "ending", "refused") || slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Verb == "ended" && keyOf(e) == key && strings.Contains(e.Text, ": ")
	})
}

// escaped reports whether the sidecar never had the job: its user released it before it was seen, or before it could be held.
func (w *world) escaped(key adapter.Key) bool {
	return !w.happened(key, "accepted") || w.happened(key, "escaped")
}

// number is a field of an event, as seconds.
func number(v any) (float64, bool) {
	data, err := json.Marshal(v)
	var f float64
	if err != nil || json.Unmarshal(data, &f) != nil {
		return 0, false
	}
	return f, true
}

// punctuality is how late a resize may be without a cause: the sidecar looks once each re-scheduling timer, and Slurm's
// resizes take their time.
func (w *world) punctuality() float64 {
	return (w.story.interval + w.story.epilog + 3*time.Second).Seconds()
}

// judgePromises: a resize comes at its planned second, or the journal says why not. What the calls out did wrong is in the
// journal as well, as the outcomes of the intents.
func (w *world) judgePromises() {
	entries, carried := w.entries(), map[adapter.Key]float64{}
	for _, e := range entries {
		if e.Kind != journal.KindEvent || e.Verb != "grew" && e.Verb != "shrank" {
			continue
		}
		late, ok := number(e.Args["lateness"])
		if !ok {
			w.blame("event %d %s of job %d has no lateness: %v", e.ID, e.Verb, e.Job, e.Args)
			continue
		}
		// A step lasts as long as promised: the little by which it began late, it ends late.
		before := carried[keyOf(e)]
		if carried[keyOf(e)] = late; late <= w.punctuality()+max(0, min(before, w.punctuality())) || e.Args["cause"] != nil || e.Args["after"] != nil {
			continue
		}
		planned, _ := number(e.Args["planned"])
		if asked, ok := number(e.Args["asked"]); ok && asked > planned {
			continue // the application was late
		}
		if why := w.excuse(entries, e, planned); why == "" {
			w.blame("job %d %s %.1f s late, and nothing says why: %v", e.Job, e.Verb, late, e.Args)
		}
	}
}

// excuse is what else the journal has that explains a delay: what happened to the job since it was last resized, and what
// went wrong with the sidecar around the planned second.
func (w *world) excuse(entries []journal.Entry, late journal.Entry, planned float64) string {
	from := time.Unix(int64(planned), 0).Add(-2 * deadline)
	why := ""
	for _, e := range entries {
		if e.ID >= late.ID {
			break
		}
		switch around := !e.At.Before(from); {
		case e.Kind == journal.KindIntent && around && e.Outcome != journal.Done:
			why = fmt.Sprint(e.Verb, " ", e.Outcome)
		case e.Kind == journal.KindIntent && around && e.Took > time.Second:
			why = fmt.Sprint(e.Verb, " took ", e.Took)
		case e.Kind != journal.KindEvent:
		case around && (slices.Contains([]string{"ready", "unreadable", "readable", "slow", "prompt"}, e.Verb)):
			why = e.Text
		case keyOf(e) != keyOf(late):
		case e.Verb == "promise broken" || e.Verb == "changed" || e.Verb == "requeued":
			why = e.Verb
		case e.Verb == "grew" || e.Verb == "shrank":
			why = ""
		}
	}
	return why
}
