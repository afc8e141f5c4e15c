package slurm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// This file sets free nodes that Slurm has lost: that it counts as used by no job, or shows as idle and never allocates.

// Leaked lists nodes that are in use while no job of the snapshot holds them: what a merge that raced with its parent's
// end leaves behind. A single snapshot may show a node like that in passing.
func Leaked(s *adapter.Snapshot) []string {
	held := map[string]bool{}
	for _, j := range s.Jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	var leaked []string
	for _, n := range s.Nodes {
		if n.Usable && !n.Idle && !held[n.Name] {
			leaked = append(leaked, n.Name)
		}
	}
	return leaked
}

const (
	mendEvery = 500 * time.Millisecond
	mendAfter = 3 // sightings of a node in use by no job
)

// Mend waits until each of the nodes (nil: of the pool) is free or held by a job. A node that stays in use by nobody is set free by making
// slurmctld read its configuration again, which rebuilds its books from the jobs it has (`scontrol reconfigure`, some
// milliseconds; jobs do not notice).
func (s *System) Mend(ctx context.Context, nodes []string) error {
	for sightings := 0; ; {
		snapshot, err := s.Observe(ctx)
		if err != nil {
			return fmt.Errorf("looking for lost nodes: %w", err)
		}
		lost := Leaked(snapshot)
		if nodes != nil {
			lost = within(lost, toSet(nodes))
		}
		switch sightings++; {
		case len(lost) == 0 && !anyEnding(snapshot, nodes):
			return nil
		case len(lost) == 0:
			sightings = 0
		case sightings == mendAfter:
			if err := s.reconfigure(ctx); err != nil {
				return fmt.Errorf("setting lost nodes %s free: %w", hostlist.Compact(lost), err)
			}
		case sightings > 4*mendAfter:
			return fmt.Errorf("nodes %s are in use by no job, also after `scontrol reconfigure`", hostlist.Compact(lost))
		}
		select {
		case <-time.After(mendEvery):
		case <-ctx.Done():
			return fmt.Errorf("looking for lost nodes: %w", ctx.Err())
		}
	}
}

// reconfigure makes slurmctld rebuild its books, unless it was made to a short time ago: it reads its files again, forgets
// what scontrol changed about partitions, and takes the first node of every job that has grown for the node of its script.
func (s *System) reconfigure(ctx context.Context) error {
	s.mending.Lock()
	defer s.mending.Unlock()
	if wait := s.config.Reconfigure - time.Since(s.reconfigured); !s.reconfigured.IsZero() && wait > 0 {
		return fmt.Errorf("`scontrol reconfigure` was run a short time ago and is run again in %s at the earliest", wait.Round(time.Second))
	}
	if err := s.run.Scontrol(ctx, "reconfigure"); err != nil {
		return err
	}
	s.reconfigured = time.Now()
	return nil
}

// anyEnding says whether a job that ends still holds one of the nodes: only after it can they be lost.
func anyEnding(snapshot *adapter.Snapshot, nodes []string) bool {
	wanted := toSet(nodes)
	return slices.ContainsFunc(snapshot.Jobs, func(j adapter.Job) bool {
		return j.State == adapter.Ending && slices.ContainsFunc(j.Nodes, func(n string) bool { return wanted[n] })
	})
}

func toSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// Nudge gives nodes that are in use by no job to Mend. Of those that a fresh reading shows as idle and usable (so not of one
// that somebody drained meanwhile) it clears the drain flag, which they do not have: the update makes slurmctld set the
// node's bits anew, which cures a node that it shows as idle and never allocates (Slurm 22.05, after shrinks by NodeList=).
// Not of the lost ones: it cures none, and hides them from Mend as not responding.
func (s *System) Nudge(ctx context.Context, nodes []string) error {
	doing := "nudging " + hostlist.Compact(nodes)
	snapshot, err := s.Observe(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	lost := within(Leaked(snapshot), toSet(nodes))
	var idle []string
	wanted := toSet(nodes)
	for _, n := range snapshot.Nodes {
		if wanted[n.Name] && n.Usable && n.Idle {
			idle = append(idle, n.Name)
		}
	}
	if len(idle) > 0 {
		if err := s.run.Scontrol(ctx, "update", "NodeName="+hostlist.Compact(idle), "State=UNDRAIN"); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if len(lost) > 0 {
		if err := s.Mend(ctx, lost); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}
