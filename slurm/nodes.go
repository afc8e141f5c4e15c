package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// This file sets free nodes that Slurm has lost, that it counts as used by no job, or shows as idle and never allocates; and wakes
// those that sleep.

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
// milliseconds; jobs do not notice). Once that has helped it waits no longer for jobs that end: one may do so for minutes.
func (s *System) Mend(ctx context.Context, nodes []string) error {
	mended := false
	for sightings := 0; ; {
		snapshot, err := s.Observe(ctx)
		if err != nil {
			return fmt.Errorf("looking for lost nodes: %w", err)
		}
		lost := Leaked(snapshot)
		if nodes != nil {
			lost = hostlist.Within(lost, hostlist.Set(nodes))
		}
		switch sightings++; {
		case len(lost) == 0 && (mended || !anyEnding(snapshot, nodes)):
			return nil
		case len(lost) == 0:
			sightings = 0
		case sightings == mendAfter:
			if err := s.reconfigure(ctx); err != nil {
				return fmt.Errorf("setting lost nodes %s free: %w", hostlist.Compact(lost), err)
			}
			mended = true
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

// reconfigure makes slurmctld rebuild its books, unless it was made to a short time ago: it reads its files again and forgets
// what scontrol changed about partitions. It also takes the first node of every job for the one that runs its script: it waits while a
// job runs of which that is not so.
func (s *System) reconfigure(ctx context.Context) error {
	s.mending.Lock()
	defer s.mending.Unlock()
	if wait := s.config.Reconfigure - time.Since(s.reconfigured); !s.reconfigured.IsZero() && wait > 0 {
		return fmt.Errorf("`scontrol reconfigure` was run a short time ago and is run again in %s at the earliest", wait.Round(time.Second))
	}
	jobs, err := s.Jobs.List(ctx)
	if err != nil {
		return err
	}
	if job := scriptElsewhere(jobs); job != 0 {
		return fmt.Errorf("`scontrol reconfigure` waits for the end of job %d: slurmctld would take another node for that of its script, and not believe that it ends", job)
	}
	if err := s.Run.Scontrol(ctx, "reconfigure"); err != nil {
		return err
	}
	s.reconfigured = time.Now()
	return nil
}

// scriptElsewhere is a job whose script runs on another node than the first of its own, as that of one which has grown may; 0: there is
// none. When slurmctld has taken the first for it already, there is no harm left to be done.
func scriptElsewhere(jobs []output.Record) core.JobID {
	for i := range jobs {
		r := &jobs[i]
		before := func(n string) bool { return hostlist.Compare(n, r.BatchHost) < 0 }
		if r.State == adapter.Running && r.BatchHost != "" && slices.ContainsFunc(r.Nodes, before) {
			return r.ID
		}
	}
	return 0
}

// anyEnding says whether a job that ends still holds one of the nodes: only after it can they be lost.
func anyEnding(snapshot *adapter.Snapshot, nodes []string) bool {
	wanted := hostlist.Set(nodes)
	return slices.ContainsFunc(snapshot.Jobs, func(j adapter.Job) bool {
		return j.State == adapter.Ending && slices.ContainsFunc(j.Nodes, func(n string) bool { return wanted[n] })
	})
}

// Repair gives nodes that are in use by no job to Mend. Of those that a fresh reading shows as idle and usable (so not of one
// that somebody drained meanwhile) it clears the drain flag, which they do not have: the update makes slurmctld set the
// node's bits anew, which cures a node that it shows as idle and never allocates (Slurm 22.05, after shrinks by NodeList=).
// Not of the lost ones: it cures none, and hides them from Mend as not responding.
func (s *System) Repair(ctx context.Context, nodes []string) error {
	doing := "nudging " + hostlist.Compact(nodes)
	snapshot, err := s.Observe(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	lost := hostlist.Within(Leaked(snapshot), hostlist.Set(nodes))
	var idle []string
	wanted := hostlist.Set(nodes)
	for _, n := range snapshot.Nodes {
		if wanted[n.Name] && n.Usable && n.Idle {
			idle = append(idle, n.Name)
		}
	}
	if len(idle) > 0 {
		if err := s.Run.Scontrol(ctx, "update", "NodeName="+hostlist.Compact(idle), "State=UNDRAIN"); err != nil {
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

// Slurm powers idle nodes down, and wakes them for jobs and not for reservations. An expander that is granted on such a node
// must not be merged before it has booted: it would never be woken.

var _ adapter.PowerManager = (*System)(nil)

// BootTime is how many seconds slurmctld gives a node to boot; 0 where it powers none down.
func (s *System) BootTime() core.Time {
	c := s.Known()
	t, _ := c.Number("ResumeTimeout")
	if c["ResumeProgram"] == "" || c["SuspendProgram"] == "" {
		return 0
	}
	return t
}

// Wake has nodes boot that are powered down. One that boots already is left alone: told again it would begin anew.
func (s *System) Wake(ctx context.Context, nodes []string) error {
	doing := "waking " + hostlist.Compact(nodes)
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "node", hostlist.Compact(nodes)}})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var down []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if p := output.PowerOf(output.Field(line, "State")); p == output.Asleep || p == output.FallAsleep {
			down = append(down, output.Field(line, "NodeName"))
		}
	}
	if len(down) == 0 {
		return nil
	}
	if err := s.Run.Scontrol(ctx, "update", "NodeName="+hostlist.Compact(down), "State=POWER_UP"); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
