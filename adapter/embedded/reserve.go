package embedded

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

type reservation struct {
	adapter.Reservation
	nodes      []int // ascending
	start, end time.Time
	begun      bool // the reservation's start has passed
}

func (s *System) reservation(name string) *reservation {
	if name == "" {
		return nil
	}
	for _, r := range s.reservations {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// reservedWithin reports whether any reservation contains the node at any time from `from` until
// `span` seconds later.
func (s *System) reservedWithin(node int, from time.Time, span core.Time) bool {
	for _, r := range s.reservations {
		if !r.end.After(from) {
			continue
		}
		if span < core.Forever && !r.start.Before(from.Add(seconds(span))) {
			continue
		}
		if _, has := slices.BinarySearch(r.nodes, node); has {
			return true
		}
	}
	return false
}

// reserve creates or changes a reservation by Slurm's rules.
func (s *System) reserve(want adapter.Reservation) error {
	r, err := s.readReservation(want)
	if err != nil {
		return err
	}
	old := s.reservation(want.Name)
	if old != nil && old.begun { // an active reservation keeps its start
		r.start, r.begun = old.start, true
		r.Start = old.Start
	} else if r.start.Before(s.now) {
		r.start = s.now
	}
	if err := s.busy(r, old); err != nil {
		return err
	}
	if old != nil {
		*old = *r
	} else {
		s.reservations = append(s.reservations, r)
	}
	s.turnReservations()
	s.callForPass()
	return nil
}

func (s *System) readReservation(want adapter.Reservation) (*reservation, error) {
	r := &reservation{Reservation: want, start: time.Unix(want.Start, 0), end: time.Unix(want.End, 0)}
	switch {
	case want.Name == "":
		return nil, errors.New("a reservation needs a name")
	case want.User == "":
		return nil, errors.New("a reservation needs a user")
	case want.Start < 0 || want.End <= want.Start || want.End > core.Forever:
		return nil, fmt.Errorf("it ends at %d and starts at %d", want.End, want.Start)
	case !r.end.After(s.now):
		return nil, fmt.Errorf("its end %d is past", want.End)
	}
	var err error
	r.nodes, err = s.indices(want.Nodes)
	r.Nodes = s.names(r.nodes)
	return r, err
}

// busy returns an error if the nodes of r are not free. A node is not free if another reservation
// contains it, unless both reservations are the sidecar's. Nor is it free if a running job may still
// hold it when r begins. Jobs in the reservation itself do not count, and managed jobs do not count
// if r.OverManaged is set. `old` is the reservation that r replaces.
func (s *System) busy(r, old *reservation) error {
	for _, other := range s.reservations {
		if other == old || other.Ours() && r.Ours() || !other.end.After(r.start) || !r.end.After(other.start) {
			continue
		}
		for _, i := range r.nodes {
			if _, has := slices.BinarySearch(other.nodes, i); has {
				return fmt.Errorf("%w: %s is in reservation %s", adapter.ErrBusy, s.nodes[i].name, other.Name)
			}
		}
	}
	for _, i := range r.nodes {
		h := s.nodes[i].holder
		if h == nil || h.state != adapter.Running || h.reservation == r.Name || r.OverManaged && h.managed() {
			continue
		}
		if end := h.limitEnd(); end.IsZero() || end.After(r.start) {
			return fmt.Errorf("%w: %s is held by job %d", adapter.ErrBusy, s.nodes[i].name, h.key.ID)
		}
	}
	return nil
}

// turnReservations begins reservations whose start has passed, and ends reservations whose end has passed.
func (s *System) turnReservations() {
	for _, r := range slices.Clone(s.reservations) {
		if !r.begun && !r.start.After(s.now) {
			r.begun = true
			s.callForPass()
		}
		if !r.end.After(s.now) {
			s.drop(r)
		}
	}
}

// drop removes a reservation. It holds the jobs that wait for the reservation. Jobs that run in the reservation end at the next sweep.
func (s *System) drop(r *reservation) {
	s.reservations = slices.DeleteFunc(s.reservations, func(other *reservation) bool { return other == r })
	for _, j := range s.jobs {
		if j.reservation != r.Name {
			continue
		}
		switch j.state {
		case adapter.Pending:
			j.held, j.byUser, j.reservation = true, false, ""
		case adapter.Running:
			j.orphaned = s.now
		}
	}
	s.callForPass()
}

// unreserve deletes a reservation, unless a job runs in it.
func (s *System) unreserve(name string) error {
	r := s.reservation(name)
	if r == nil {
		return nil
	}
	for _, j := range s.jobs {
		if j.state == adapter.Running && j.reservation == name {
			return fmt.Errorf("%w: job %d runs in it", adapter.ErrBusy, j.key.ID)
		}
	}
	s.drop(r)
	return nil
}

// indices returns the indices of the nodes with the given names, in ascending order.
func (s *System) indices(names []string) ([]int, error) {
	if len(names) == 0 {
		return nil, errors.New("no nodes are named")
	}
	var nodes []int
	for _, name := range names {
		i, known := s.index[name]
		if !known {
			return nil, fmt.Errorf("there is no node %q; they are n1 to n%d", name, len(s.nodes))
		}
		nodes = append(nodes, i)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}
