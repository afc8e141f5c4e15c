package observe

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
)

// Job is a job as OAR's and Accordion's tables describe it.
type Job struct {
	adapter.Job
	OARState string // in OAR's words
	queue    string
	Project  string
	message  string
	advance  bool  // an advance reservation
	Moldable int64 // the configuration in which it runs; 0 if there is none
	types    []string
	Holds    []string // hosts assigned to it, in OAR's order: its script runs on the first
	Places   []string // hosts that the job will get, in natural order

	Adopted    bool // it has a row in Accordion's table
	Released   bool
	BaseJob    int64    // the base of a companion; 0 if the job is no companion
	Joined     string   // of a companion: "" until its nodes are the job's, then AtStart or Grown
	With       string   // of a companion that is not merged: a mark that all companions of the same expansion have
	MadeIn     string   // of a companion: the reservation in which it was made
	Companions []*Job   // the companions of an evolving job whose nodes count for it
	Away       []string // hosts that are lost to the job, for a companion that counts for its base
}

// Marks of companions whose nodes belong to the job.
const (
	AtStart = "first" // made for the job's first step
	Grown   = "grown"
)

// JoiningMark is the prefix of the mark of companions whose nodes do not belong to the job yet. After the prefix comes
// the ID of the first companion of the same expansion. This ID excludes companions of an earlier, failed expansion,
// which may still exist and must not be merged.
const JoiningMark = "coming "

// stateOf returns the job's state in the sidecar's words. A job that is being launched holds nodes and counts as
// running. An evolving job counts as pending until OAR runs it, because it does not have all of its nodes earlier.
func (r *Job) stateOf() adapter.State {
	if r.queued() {
		return adapter.Pending
	}
	switch r.OARState {
	case "toLaunch", "Launching":
		if r.evolving() || r.BaseJob != 0 {
			return adapter.Pending
		}
		return adapter.Running
	case "Running", "Suspended", "Resuming":
		return adapter.Running
	case "Finishing", "toError":
		return adapter.Ending
	}
	return adapter.Done
}

// queued reports whether OAR has assigned nothing to the job yet (database.IsWaiting).
func (r *Job) queued() bool {
	return r.OARState == database.StateWaiting || r.OARState == database.StateHold || r.OARState == "toAckReservation"
}

// Over reports whether the job has ended.
func (r *Job) Over() bool { return r.State == adapter.Done }

// evolving reports whether the job has a profile or is managed.
func (r *Job) evolving() bool { return r.BaseJob == 0 && (r.Adopted || r.Comment != "") }

// Besteffort reports whether OAR ends the job when another needs its nodes.
func (r *Job) Besteffort() bool {
	return r.queue == "besteffort" || slices.ContainsFunc(r.types, func(t string) bool { return typeName(t) == "besteffort" })
}

func typeName(t string) string {
	name, _, _ := strings.Cut(t, "=")
	return strings.TrimSpace(name)
}

// Ends returns the second at which the job's walltime ends, for a job that holds nodes.
func (r *Job) Ends() core.Time { return r.Started + r.Limit }

// requestOf returns the request in a job's types: ep=…, where the profiles ep1=…, ep2=… are alternatives, or launch=….
func requestOf(types []string) string {
	var alternatives []string
	for _, t := range types {
		name, profile, _ := strings.Cut(t, "=")
		if strings.TrimSpace(name) == "launch" {
			return "launch=" + strings.TrimSpace(profile)
		}
		if number, ok := strings.CutPrefix(strings.TrimSpace(name), "ep"); ok && strings.Trim(number, "0123456789") == "" && profile != "" {
			alternatives = append(alternatives, strings.TrimSpace(profile))
		}
	}
	if len(alternatives) == 0 {
		return ""
	}
	return "ep=" + strings.Join(alternatives, "|")
}

// unfit returns the reason why an evolving job cannot be resized safely, or "" if it can.
func unfit(r *Job) string {
	if r.advance {
		return "an advance reservation cannot grow or shrink: submit it without -r"
	}
	for _, t := range r.types {
		switch name := typeName(t); name {
		case "besteffort", "container", "inner", "timesharing", "placeholder", "allowed", "deploy", "cosystem", "noop":
			return fmt.Sprintf("a job of type %s cannot grow or shrink: submit it without -t %s", name, name)
		}
	}
	return ""
}
