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

// An eventLog writes what happens into the journal, and into the log for operators.
type eventLog struct {
	journal actions.Journal
	logger  hclog.Logger
	clock   adapter.Clock
	cluster string

	lastNotice   map[adapter.Key]string // the last notice in the log about each job
	lastActivity time.Time              // when something last happened to a managed job
}

// active records that something happened to a managed job, because more may soon follow.
func (n *eventLog) active() { n.lastActivity = n.clock.Now() }

// Remark writes into the journal an event that does not concern a single job.
func (n *eventLog) Remark(kind, text string, fields map[string]any) error {
	return n.journal.Event(journal.Event{At: n.clock.Now(), Kind: kind, Text: text, Fields: fields})
}

// event writes an event of a job into the log and the journal.
func (n *eventLog) event(r *managed.Job, kind, text string, fields map[string]any) error {
	return n.journal.Event(n.logEvent(r, decide.Event{Kind: kind, Text: text, Fields: fields}))
}

// events writes events of a job into the log and the journal.
func (n *eventLog) events(r *managed.Job, all []decide.Event) error {
	for _, e := range all {
		if err := n.journal.Event(n.logEvent(r, e)); err != nil {
			return err
		}
	}
	return nil
}

// logEvent writes an event of a job into the log, and returns it for the journal.
func (n *eventLog) logEvent(r *managed.Job, e decide.Event) journal.Event {
	if e.Kind != "planned" && e.Kind != "replanned" {
		n.active()
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

// notice writes a text only into the log, without an entry in the journal. It does not repeat the
// last notice about the job.
func (n *eventLog) notice(key adapter.Key, text string) {
	if n.lastNotice[key] == text {
		return
	}
	n.lastNotice[key] = text
	n.Warn(text, "job", key.ID)
}

func (n *eventLog) Info(text string, args ...any) { n.logger.Info(text, n.withCluster(args)...) }
func (n *eventLog) Warn(text string, args ...any) { n.logger.Warn(text, n.withCluster(args)...) }

// withCluster returns the fields of a line of the log, with the cluster first.
func (n *eventLog) withCluster(args []any) []any { return append([]any{"cluster", n.cluster}, args...) }
