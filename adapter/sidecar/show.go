package sidecar

import (
	"encoding/json"
	"fmt"
	"time"

	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/view"
)

// heartbeat is how old the view that `accordion status` shows may be while nothing changes.
const heartbeat = 15 * time.Second

// show writes what `accordion status`, queue and explain show, when it changed.
func (s *Sidecar) show(v *plan.World) error {
	view := view.Status{Cluster: s.settings.Cluster, Soft: s.snapshot.Soft, Jobs: []view.Job{}}
	for _, r := range s.sorted() {
		view.Jobs = append(view.Jobs, viewOf(r))
	}
	if err := s.putQueue(v, view.Jobs); err != nil {
		return err
	}
	return s.putView(v, view)
}

func (s *Sidecar) putView(v *plan.World, view view.Status) error {
	data, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("journal: the view for status: %w", err)
	}
	now := s.clock.Now()
	if string(data) == s.shown && now.Before(s.shownAt.Add(heartbeat)) {
		return nil
	}
	s.shown, s.shownAt = string(data), now
	view.At = v.Now
	if data, err = json.Marshal(view); err != nil {
		return fmt.Errorf("journal: the view for status: %w", err)
	}
	return s.journal.PutView(data)
}

func viewOf(r *managed.Job) view.Job {
	j := view.Job{
		ID: r.ID, Submitted: r.Submitted, User: r.User, Name: r.Name, Kind: r.Kind(), Phase: r.Shown(), Request: r.Request,
		Steps: len(r.EP()), Nodes: names(r.Nodes), Size: len(r.Nodes), Why: r.Blocked,
	}
	if r.Why != "" {
		j.Why = r.Why
	}
	if r.Seen != nil {
		j.Grows, j.Limit = r.Seen.Grows, r.Limited()
		if r.Phase == managed.Waiting {
			j.Priority, j.Rank = r.Seen.Priority, r.Seen.Rank
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
