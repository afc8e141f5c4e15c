package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
	"accordion/slurm/setup"
)

// Preflight checks everything on which the sidecar depends in the cluster, and changes nothing. It returns findings
// with their remedies, fatal ones first. It returns none if there are no problems.
func (s *System) Preflight(ctx context.Context) []adapter.Finding {
	var found []adapter.Finding
	if found = s.checkHost(); len(found) > 0 && found[0].Severity == adapter.Fatal {
		return found
	}
	c, err := s.Configuration(ctx)
	if err != nil {
		return append(found, adapter.Finding{Severity: adapter.Unanswered, What: err.Error(),
			Fix: "Is slurmctld up, and is SLURM_CONF right? `scontrol ping` tells"})
	}
	in, err := s.Inventory(ctx)
	if err != nil {
		return append(found, adapter.Finding{Severity: adapter.Unanswered, What: err.Error(),
			Fix: "Is slurmctld up? `scontrol ping` tells"})
	}
	if !s.Run.Consoles.Speaks() {
		found = append(found, adapter.Finding{Severity: adapter.Note, What: "this scontrol does not carry out commands of its standard input as they come (it was built without readline): " +
			"each command is a program of its own, a start some 13 of them, and with few of them a minute ([slurm] clients_per_minute) changes come late"})
	}
	found = append(found, setup.Check(ctx, c, in, s.Pool, s.Growth)...)
	found = append(found, setup.CheckManage(c, in, s.Pool, s.config.All)...)
	slices.SortStableFunc(found, adapter.ByGravity)
	return found
}

// checkHost checks this process and this machine.
func (s *System) checkHost() []adapter.Finding {
	var found []adapter.Finding
	for _, program := range []string{"squeue", "scontrol", "salloc", "scancel", "srun"} {
		if _, err := exec.LookPath(s.Run.Path(program)); err != nil {
			found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("Slurm's %s is not here (%v)", program, err),
				Fix: "Install Slurm's clients (Debian: slurm-client), or say in which directory they are"})
		}
	}
	if os.Geteuid() != 0 {
		found = append(found, adapter.Finding{Severity: adapter.Fatal, What: fmt.Sprintf("user %d is not root: only root may make allocations for others", os.Geteuid()), Fix: "Run the sidecar as root"})
	}
	return found
}

// Round returns how many seconds an ordinary job that could start may wait until Slurm's backfill scheduler
// considers it.
func (s *System) Round(ctx context.Context) (core.Time, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return 0, err
	}
	return c.BackfillWait(), nil
}

// Guard returns for how many seconds after its limit an ordinary job of the pool may hold its nodes: 30 s +
// OverTimeLimit + KillWait. It returns core.Forever if Slurm does not enforce limits.
func (s *System) Guard(ctx context.Context) (core.Time, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return 0, err
	}
	in, err := s.Inventory(ctx)
	if err != nil {
		return 0, err
	}
	nodes, err := output.PoolNodes(in, s.Pool)
	if err != nil {
		return 0, fmt.Errorf("the pool's guard: %w", err)
	}
	reaching := slices.DeleteFunc(in.Partitions, func(p output.Partition) bool { return len(hostlist.Within(p.Nodes, nodes)) == 0 })
	return c.Grace(reaching), nil
}
