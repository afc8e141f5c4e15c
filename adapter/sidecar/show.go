package sidecar

import (
	"encoding/json"
	"fmt"
	"time"

	"accordion/adapter/view"
	"accordion/core"
)

// heartbeat is how old the view that `accordion status` shows may be while nothing changes.
const heartbeat = 15 * time.Second

// show writes what `accordion status`, queue and explain show, when it changed.
func (s *Sidecar) show(v *sight) error {
	view := view.Status{Cluster: s.settings.Cluster, Soft: s.snapshot.Soft, Jobs: []view.Job{}}
	for _, r := range s.sorted() {
		view.Jobs = append(view.Jobs, r.view())
	}
	if err := s.putQueue(v, view.Jobs); err != nil {
		return err
	}
	return s.putView(v, view)
}

func (s *Sidecar) putView(v *sight, view view.Status) error {
	data, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("journal: the view for status: %w", err)
	}
	now := s.clock.Now()
	if string(data) == s.shown && now.Before(s.shownAt.Add(heartbeat)) {
		return nil
	}
	s.shown, s.shownAt = string(data), now
	view.At = v.now
	if data, err = json.Marshal(view); err != nil {
		return fmt.Errorf("journal: the view for status: %w", err)
	}
	return s.journal.PutView(data)
}

func (r *record) view() view.Job {
	j := view.Job{
		ID: r.ID, Submitted: r.Submitted, User: r.User, Name: r.Name, Kind: r.kind(), Phase: r.shown(), Request: r.Request,
		Steps: len(r.ep()), Nodes: names(r.Nodes), Size: len(r.Nodes), Why: r.blocked,
	}
	if r.Why != "" {
		j.Why = r.Why
	}
	if r.seen != nil {
		j.Grows, j.Limit = r.seen.Grows, r.limited()
		if r.Phase == waiting {
			j.Priority, j.Rank = r.seen.Priority, r.seen.Rank
		}
	}
	switch {
	case r.Phase != waiting:
		j.Start, j.Promised, j.Plan = r.Planned, r.end(), r.scheduled()
		if r.Began > 0 {
			j.Start, j.Step = r.Began, r.Step+1
		}
	case r.course != nil:
		j.Start, j.Plan = r.course.start, r.course.ep
	}
	return j
}

// scheduled is the whole scheduled profile of a job that has a promise, from its beginning.
func (r *record) scheduled() core.EP {
	from := r.Planned
	if r.Began > 0 {
		from = r.Began
	}
	ep := make(core.EP, len(r.Promise))
	for i, end := range r.Promise {
		ep[i] = core.Step{Duration: max(end-from, 0), Nodes: r.ep()[i].Nodes}
		from = end
	}
	return ep
}

// shown is the job's phase as people read it.
func (r *record) shown() string {
	switch {
	case r.Phase == running && r.resizing() && r.ep()[r.Target].Nodes > len(r.Nodes):
		return "growing"
	case r.Phase == running && r.resizing():
		return "shrinking"
	case r.Phase == running && r.late:
		return "late"
	default:
		return string(r.Phase)
	}
}

// limited is what the site allows the job now, where one of its steps to come needs more.
func (r *record) limited() *view.Limit {
	for _, step := range r.ep()[r.Step:] {
		if !r.seen.MostNow.Allows(step.Nodes) {
			return &view.Limit{Nodes: r.seen.MostNow.Nodes, Why: r.seen.MostNow.Why}
		}
	}
	return nil
}
