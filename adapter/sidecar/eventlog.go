package sidecar

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
)

// eventLog is what is written down of all that happens: into the journal, and into the log for operators.
type eventLog struct {
	journal actions.Journal
	logger  hclog.Logger
	clock   adapter.Clock
	cluster string

	told    map[adapter.Key]string // what operators were last told of each job
	stirred time.Time              // when something last happened to a managed job, or was done
}

// stir notes that something happened to a managed job: more may follow.
func (n *eventLog) stir() { n.stirred = n.clock.Now() }

// Remark writes into the journal what concerns no single job, and explains why others came late.
func (n *eventLog) Remark(kind, text string, fields map[string]any) error {
	return n.journal.Event(journal.Event{At: n.clock.Now(), Kind: kind, Text: text, Fields: fields})
}

// event tells operators and the journal what happened to a job.
func (n *eventLog) event(r *managed.Job, kind, text string, fields map[string]any) error {
	return n.journal.Event(n.tell(r, decide.Event{Kind: kind, Text: text, Fields: fields}))
}

// events tells what happened to a job.
func (n *eventLog) events(r *managed.Job, all []decide.Event) error {
	for _, e := range all {
		if err := n.journal.Event(n.tell(r, e)); err != nil {
			return err
		}
	}
	return nil
}

// tell tells operators what happened to a job, and says what the journal is to be told.
func (n *eventLog) tell(r *managed.Job, e decide.Event) journal.Event {
	if e.Kind != "planned" && e.Kind != "replanned" {
		n.stir()
	}
	args := []any{"job", r.ID}
	for _, k := range slices.Sorted(maps.Keys(e.Fields)) {
		v := e.Fields[k]
		if f, ok := v.(float64); ok { // a Unix second would be written with an exponent
			v = fmt.Sprintf("%.3f", f)
		}
		args = append(args, k, v)
	}
	n.Info(e.Kind+": "+e.Text, args...)
	return journal.Event{At: n.clock.Now(), Job: int64(r.ID), Submitted: r.Submitted, Kind: e.Kind, Text: e.Text, Fields: e.Fields}
}

// notice logs what concerns no managed job, or is not worth an entry in the journal, once for each text.
func (n *eventLog) notice(key adapter.Key, text string) {
	if n.told[key] == text {
		return
	}
	n.told[key] = text
	n.Warn(text, "job", key.ID)
}

func (n *eventLog) Info(text string, args ...any) { n.logger.Info(text, n.of(args)...) }
func (n *eventLog) Warn(text string, args ...any) { n.logger.Warn(text, n.of(args)...) }

// of puts the cluster before what a line of the log says.
func (n *eventLog) of(args []any) []any { return append([]any{"cluster", n.cluster}, args...) }
