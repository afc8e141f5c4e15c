package observe

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
)

// Job is one as OAR and Accordion's tables have it.
type Job struct {
	adapter.Job
	OARState string // in OAR's words
	queue    string
	Project  string
	message  string
	advance  bool  // an advance reservation
	Moldable int64 // the configuration that it runs in; 0: none
	types    []string
	Holds    []string // hosts assigned to it, in the order of OAR: its script runs on the first
	Places   []string // hosts that it is to have, in natural order

	Adopted    bool // it is in Accordion's table
	Released   bool
	Whole      int64    // the job that it makes larger; 0: it is no companion
	Joined     string   // of a companion: "" until its nodes are the job's, then AtStart or Grown
	With       string   // of a companion that has not joined: those that were made with it have the same
	MadeIn     string   // of a companion: the reservation in which it was made
	Companions []*Job   // the companions of an evolving job, as far as they count
	Away       []string // of a companion that counts: its hosts that the job no longer has
}

// Marks of companions whose nodes are the job's.
const (
	AtStart = "first" // made with it
	Grown   = "grown"
)

// Coming begins the mark of companions whose nodes are not yet the job's, before the number of the first of those made together: others of
// the same growth may still be there, which has failed, and must not become the job's with them.
const Coming = "coming "

// stand is OAR's state in the sidecar's words. A job that is being launched holds nodes and runs, but for one of ours,
// which has its nodes together only when it really runs.
func (r *Job) stand() adapter.State {
	if r.queued() {
		return adapter.Pending
	}
	switch r.OARState {
	case "toLaunch", "Launching":
		if r.evolving() || r.Whole != 0 {
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

// queued says whether OAR has given the job nothing yet (database.IsWaiting).
func (r *Job) queued() bool {
	return r.OARState == database.StateWaiting || r.OARState == database.StateHold || r.OARState == "toAckReservation"
}

// Over says whether nothing of the job is left.
func (r *Job) Over() bool { return r.State == adapter.Done }

// evolving says whether the job has a profile, or is ours.
func (r *Job) evolving() bool { return r.Whole == 0 && (r.Adopted || r.Comment != "") }

// Besteffort says whether OAR ends the job where another wants its nodes.
func (r *Job) Besteffort() bool {
	return r.queue == "besteffort" || slices.ContainsFunc(r.types, func(t string) bool { return typeName(t) == "besteffort" })
}

func typeName(t string) string {
	name, _, _ := strings.Cut(t, "=")
	return strings.TrimSpace(name)
}

// Ends is the second of its walltime, of a job that holds nodes.
func (r *Job) Ends() core.Time { return r.Started + r.Limit }

// wishes is what the types of a job ask of the sidecar: ep=…, or the profiles ep1=…, ep2=… as alternatives of each other; launch=….
func wishes(types []string) string {
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

// unfit says why an evolving job cannot be resized soundly.
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
