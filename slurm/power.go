package slurm

import (
	"context"
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/client"
)

// Slurm powers idle nodes down, and wakes them for jobs and not for reservations. An expander that is granted on such a node
// must not be merged before it has booted: it would never be woken.

var _ adapter.Waker = (*System)(nil)

// BootTime is how many seconds slurmctld gives a node to boot; 0 where it powers none down.
func (s *System) BootTime() core.Time {
	s.mu.Lock()
	c := s.recently
	s.mu.Unlock()
	t, _ := c.number("ResumeTimeout")
	if c["ResumeProgram"] == "" || c["SuspendProgram"] == "" {
		return 0
	}
	return t
}

// Wake has nodes boot that are powered down. One that boots already is left alone: told again it would begin anew.
func (s *System) Wake(ctx context.Context, nodes []string) error {
	doing := "waking " + hostlist.Compact(nodes)
	out, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "node", hostlist.Compact(nodes)}})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	var down []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		if p := nodePower(field(line, "State")); p == asleep || p == fallAsleep {
			down = append(down, field(line, "NodeName"))
		}
	}
	if len(down) == 0 {
		return nil
	}
	if err := s.run.Scontrol(ctx, "update", "NodeName="+hostlist.Compact(down), "State=POWER_UP"); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
