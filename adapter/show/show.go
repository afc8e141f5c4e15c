// Package show is what people are shown and told of a cluster: the documents of status, queue and explain, why a planned
// start moved, why a step came when it did, and who broke a promise. It decides nothing and acts on nothing.
//
//	err := show.Account(world)  // promises that were broken
//	err = show.Estimate(world)  // starts that moved
//	err = show.Write(world)     // status and queue, where they changed
package show

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// heartbeat is how old the view that `accordion status` shows may be while nothing changes.
const heartbeat = 15 * time.Second

// Show is what people are shown and told of one cluster: it remembers what it showed last.
type Show struct {
	Journal  actions.Journal
	Meter    actions.Meter
	Clock    adapter.Clock
	Settings managed.Settings
	// Event tells what happened to a job.
	Event func(job *managed.Job, kind, text string, fields map[string]any) error
	// Told is what was logged of a job last; "": nothing.
	Told func(adapter.Key) string
	// Audience is who looks at it in a browser; nil: nobody.
	Subscriber Subscriber
	// Usage is what users' jobs used and left unused; nil: nothing is counted.
	Usage func() view.Usage
	// Outages returns the outages of the batch system, and the second in which its controller started; nil: not known.
	Outages func() (known []view.Outage, booted core.Time)
	// GoneSince says whether a node that is away now went away at that second or later.
	GoneSince func(second core.Time) bool

	shown   view.Status // the view as last written
	shownAt time.Time
	past    past // what was shown and counted before
}

// Write writes what `accordion status`, queue and explain show, when it changed.
func (s *Show) Write(v *plan.World) error {
	view := view.Status{Cluster: s.Settings.Cluster, Soft: v.Snapshot.Soft, Jobs: make([]view.Job, 0, len(v.Jobs)+len(v.Parts))}
	if s.Settings.All {
		view.Manage = "all"
	}
	if s.Outages != nil {
		view.Outages, view.Booted = s.Outages()
	}
	for _, r := range slices.Concat(v.Jobs, v.Parts) {
		if r.Part != nil && r.Part.Unmade {
			continue
		}
		j := JobOf(r)
		j.Unreserved = v.Unreserved(r) && managed.Grows(either(r), r.Step)
		view.Jobs = append(view.Jobs, j)
	}
	if err := s.PutQueue(v, view.Jobs); err != nil {
		return err
	}
	if err := s.putView(v, view); err != nil {
		return err
	}
	s.handOver(v, &view)
	return nil
}

// either returns the profile that a job runs, or is planned to run.
func either(r *managed.Job) core.EP {
	if r.Phase == managed.Waiting && r.Course != nil {
		return r.Course.EP
	}
	return r.EP()
}

func (s *Show) putView(v *plan.World, view view.Status) error {
	now := s.Clock.Now()
	if view.Same(&s.shown) && now.Before(s.shownAt.Add(heartbeat)) {
		return nil
	}
	view.At = v.Now
	data, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("journal: the view for status: %w", err)
	}
	s.shown, s.shownAt = view, now
	return s.Journal.PutView(data)
}

// JobOf is a managed job as people are shown it.
func JobOf(r *managed.Job) view.Job {
	j := view.Job{
		ID: r.ID, Submitted: r.Submitted, User: r.User, Name: r.Name, Kind: r.Kind(), Phase: r.Shown(), Request: r.Request,
		Steps: len(r.EP()), Nodes: hostlist.Compact(r.Nodes), Size: len(r.Nodes), Why: r.Blocked,
	}
	if r.Why != "" {
		j.Why = r.Why
	}
	if r.Seen != nil {
		j.Grows, j.Limit = r.Seen.Grows, r.Limited()
		if r.Phase == managed.Waiting {
			j.Priority, j.Rank = r.Seen.Priority, r.Seen.Rank
			if r.Seen.Latest > 0 {
				j.Deadline, j.Latest = r.Seen.Deadline, r.Seen.Latest
			}
		}
	}
	switch {
	case r.Phase != managed.Waiting:
		j.Start, j.Promised, j.Plan = r.Planned, r.End(), r.Scheduled()
		if r.Began > 0 {
			j.Start, j.Step = r.Began, r.Step+1
		}
	case r.Course != nil:
		j.Start, j.Plan = r.Course.Start, r.Course.EP
	}
	return j
}
