package sim

import (
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// entries returns all entries of the journal.
func (w *world) entries() []journal.Entry {
	var all []journal.Entry
	for e, err := range w.journal.Entries(0) {
		if err != nil {
			w.violation("reading the journal: %v", err)
			break
		}
		if e.Verb == "damaged" {
			w.violation("a record that the sidecar wrote is taken for damaged: %s", e.Text)
		}
		all = append(all, e)
	}
	return all
}

func keyOf(e journal.Entry) adapter.Key {
	return adapter.Key{ID: core.JobID(e.Job), Submitted: e.Submitted}
}

// happened reports whether the journal has an event of one of the kinds for the job.
func (w *world) happened(key adapter.Key, kinds ...string) bool {
	return slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Kind == journal.KindEvent && keyOf(e) == key && slices.Contains(kinds, e.Verb)
	})
}

// explained reports whether the journal has an event with the reason why a job was ended.
func (w *world) explained(key adapter.Key) bool {
	return w.happened(key, "ending", "refused") || slices.ContainsFunc(w.entries(), func(e journal.Entry) bool {
		return e.Verb == "ended" && keyOf(e) == key && strings.Contains(e.Text, ": ")
	})
}

// escaped reports whether the sidecar never held the job, because the user released the job before the
// sidecar saw it or could hold it.
func (w *world) escaped(key adapter.Key) bool {
	return !w.happened(key, "accepted") || w.happened(key, "escaped")
}

// punctuality returns the number of seconds by which a resize may be late without a cause. The sidecar
// plans only once in each interval, and resizes take some time.
func (w *world) punctuality() float64 {
	return (w.scenario.interval + w.scenario.epilog + 3*time.Second).Seconds()
}
