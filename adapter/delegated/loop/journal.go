package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"accordion/adapter/delegated/apps"
	"accordion/adapter/journal"
	"accordion/adapter/view"
)

// Journal is the journal of applications, delegate.db. It has the format of a cluster's journal, but its records and entries are about
// applications instead of jobs. One process writes the file, and any number of processes may read it.
type Journal struct{ *journal.Journal }

// Open opens the journal for the loop, and creates the file if it does not exist. It returns the errors of journal.Open.
func Open(path string) (*Journal, error) {
	j, err := journal.Open(path)
	if err != nil {
		return nil, err
	}
	return &Journal{j}, nil
}

// records returns the records of applications.
func (j *Journal) records() ([]apps.Record, error) {
	all, err := j.Records()
	if err != nil {
		return nil, err
	}
	out := make([]apps.Record, len(all))
	for i, r := range all {
		out[i] = apps.Record{ID: r.Job, Data: r.Data, Damaged: r.Damaged}
	}
	return out, nil
}

// keep writes the records and notes in e, in one transaction. They must be on the disk before the other effects are carried out.
func (j *Journal) keep(e apps.Effects) error {
	if len(e.Stored)+len(e.Deleted)+len(e.Notes) == 0 {
		return nil
	}
	records, gone, events := make([]journal.Record, len(e.Stored)), make([]journal.Record, len(e.Deleted)), make([]journal.Event, len(e.Notes))
	for i, r := range e.Stored {
		records[i] = journal.Record{Job: r.ID, Data: r.Data}
	}
	for i, id := range e.Deleted {
		gone[i].Job = id
	}
	for i, n := range e.Notes {
		events[i] = journal.Event{At: time.Unix(n.At, 0), Job: n.Application, Kind: n.Verb, Text: n.Text}
	}
	return j.PutWhole(records, gone, events)
}

// show writes the view of applications.
func (j *Journal) show(s view.Applications) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("the snapshot of applications: %w", err)
	}
	return j.PutView(data)
}
