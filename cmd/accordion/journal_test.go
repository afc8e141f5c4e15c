package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

func init() {
	for name, make := range map[string]func(string) error{"past-sidecar": pastSidecar, "quiet-sidecar": quietSidecar} {
		programs[name] = func() {
			if err := make(os.Args[1]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// quietSidecar writes the journal of a sidecar that had nothing to do.
func quietSidecar(path string) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	return j.Event(journal.Event{At: time.Now(), Kind: "ready", Text: "the sidecar begins"})
}

// pastSidecar writes the journal of a sidecar that grew one job and was killed during the second growth.
func pastSidecar(path string) error {
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	t := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	expand, err1 := j.Begin(journal.Intent{At: t, Cluster: "lab", Job: 7, Submitted: 1772362800, Verb: "expand",
		Args: map[string]any{"nodes": "n[3-5]"}})
	err2 := j.Finish(expand, t.Add(12*time.Millisecond), nil)
	merge, err3 := j.Begin(journal.Intent{At: t.Add(time.Second), Cluster: "lab", Job: 7, Submitted: 1772362800, Verb: "merge"})
	err4 := j.Finish(merge, t.Add(1400*time.Millisecond), nil)
	err5 := j.Event(journal.Event{At: t.Add(2 * time.Second), Job: 7, Submitted: 1772362800, Kind: "grew", Text: "from 2 to 5 nodes"})
	_, err6 := j.Begin(journal.Intent{At: t.Add(3 * time.Second), Cluster: "lab", Job: 8, Submitted: 1772362900, Verb: "expand"})
	view, err7 := json.Marshal(view.Status{At: t.Unix(), Cluster: "lab", Jobs: []view.Job{{
		ID: 7, Submitted: 1772362800, User: "ann", Name: "cfd", Kind: "evolving", Phase: "running", Request: "ep=2x20s,5x20s",
		Step: 2, Steps: 2, Nodes: "n[1-5]", Size: 5, Start: t.Unix() - 20, Plan: core.EP{{Duration: 20, Nodes: 2}, {Duration: 20, Nodes: 5}},
		Promised: t.Unix() + 20}}})
	return errors.Join(err1, err2, err3, err4, err5, err6, err7, j.PutView(view))
}
