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

// This file frees nodes that Slurm has lost: nodes that are in use although no job holds them, and idle nodes that
// Slurm never allocates. It also wakes nodes that are powered down.

// Leaked returns the nodes that are in use although no job of the snapshot holds them. A merge that races with the
// end of the parent job leaves such nodes. A single snapshot may also show such a node for a moment without a
// fault.
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
	mendAfter = 3 // Mend acts if a node is in use by no job in this number of consecutive readings
)

// Mend waits until each of the nodes is free or held by a job. If `nodes` is nil, it waits for all nodes of the
// pool. If a node stays in use by no job, Mend frees it with `scontrol reconfigure`: slurmctld reads its
// configuration again and rebuilds its node counts from its jobs. That takes milliseconds and does not affect jobs.
// After a successful reconfigure Mend no longer waits for ending jobs, because an ending job may take minutes.
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
				return fmt.Errorf("freeing lost nodes %s: %w", hostlist.Compact(lost), err)
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

// reconfigure makes slurmctld rebuild its node counts, unless that was done a short time ago. It has two side
// effects. slurmctld reads its files again, so changes of partitions made with scontrol are lost. slurmctld then
// also assumes that the script of every job runs on the job's first node. Therefore reconfigure fails if the script
// of a running job runs on another node.
func (s *System) reconfigure(ctx context.Context) error {
	s.mending.Lock()
	defer s.mending.Unlock()
	if wait := s.config.Reconfigure - time.Since(s.reconfigured); !s.reconfigured.IsZero() && wait > 0 {
		return fmt.Errorf("`scontrol reconfigure` ran a short time ago and will run again in %s at the earliest", wait.Round(time.Second))
	}
	jobs, err := s.Jobs.List(ctx)
	if err != nil {
		return err
	}
	if job := scriptElsewhere(jobs); job != 0 {
		return fmt.Errorf("`scontrol reconfigure` waits for the end of job %d: slurmctld would take another node for that of its script, and ignore its end", job)
	}
	if err := s.Run.Scontrol(ctx, "reconfigure"); err != nil {
		return err
	}
	s.reconfigured = time.Now()
	return nil
}

// scriptElsewhere returns a job whose script does not run on its first node, as can happen after a growth. It
// returns 0 if there is no such job. It omits jobs for which slurmctld already assumes that the script runs on the
// first node, because a reconfigure does them no further harm.
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

// anyEnding reports whether an ending job still holds one of the nodes. Nodes can be lost only after such a job has
// ended.
func anyEnding(snapshot *adapter.Snapshot, nodes []string) bool {
	wanted := hostlist.Set(nodes)
	return slices.ContainsFunc(snapshot.Jobs, func(j adapter.Job) bool {
		return j.State == adapter.Ending && slices.ContainsFunc(j.Nodes, func(n string) bool { return wanted[n] })
	})
}

// Repair calls Mend for the nodes that are in use by no job. It clears the drain flag of the nodes that a new
// reading shows as idle and usable. These nodes do not have the flag, but the update makes slurmctld rebuild their
// allocation state. That repairs nodes that Slurm 22.05 shows as idle but never allocates (after shrinks by
// NodeList=).
//
// Repair does not clear the flag of lost nodes, because that does not help, and Mend would then find the nodes
// unresponsive. It also leaves nodes alone that an administrator has drained meanwhile.
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

// Slurm powers idle nodes down. It wakes them for jobs, but not for reservations. An expander may be granted on a
// node that is powered down. It must not be merged before the node has booted, because then Slurm would never wake
// the node.

var _ adapter.PowerManager = (*System)(nil)

// BootTime returns how many seconds slurmctld allows a node for its boot, or 0 if slurmctld powers no nodes down.
func (s *System) BootTime() core.Time {
	c := s.Known()
	t, _ := c.Number("ResumeTimeout")
	if c["ResumeProgram"] == "" || c["SuspendProgram"] == "" {
		return 0
	}
	return t
}

// Wake powers up the nodes that are powered down. It leaves booting nodes alone, because a second request would
// restart their boot.
func (s *System) Wake(ctx context.Context, nodes []string) error {
	doing := "waking " + hostlist.Compact(nodes)
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "node", hostlist.Compact(nodes)}})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var down []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if p := output.PowerOf(output.Field(line, "State")); p == output.Asleep || p == output.FallingAsleep {
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
