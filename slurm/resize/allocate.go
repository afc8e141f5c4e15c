package resize

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// allocateNow makes the allocation immediately or not at all. After an error it leaves nothing behind. The
// allocation belongs to the job's owner from the beginning, so that the owner's limits, account and QOS apply.
//
// Slurm makes no immediate allocation in a reservation while a job of higher priority is about to start in another
// reservation (`Immediate execution impossible, insufficient priority`). That can last seconds. Therefore this
// allocation has the highest priority. If root allocates as the owner, root sets that priority. If the owner
// allocates, job_submit.lua sets it.
//
// salloc itself would wait until the nodes are ready, which takes seconds after the allocation. So allocateNow ends
// salloc before that. If allocations wait for Slurm's next scheduling pass (defer), the owner must run salloc,
// because only the owner can query whether the job was granted. A salloc of root cannot, and cancels the job.
func (s *Resizer) allocateNow(ctx context.Context, site growth.Site, a growth.Allocation) (*output.Record, error) {
	c := client.Call{Program: "salloc", Args: a.Arguments(), Until: granted.MatchString}
	if site.Release < growth.OwnerAllocates && !site.Deferred {
		c.Args = append(c.Args, "--priority=TOP", fmt.Sprintf("--uid=%d", a.Parent.UID), fmt.Sprintf("--gid=%d", a.Parent.GID))
	} else {
		c.As = &client.User{Uid: a.Parent.UID, Gid: a.Parent.GID}
	}
	if !site.Deferred {
		c.Args = append(c.Args, "--immediate")
	}
	out, err := s.Run.Run(ctx, c)
	if err != nil {
		return nil, errors.Join(s.notAllocated(ctx, a, err), s.unqueue(ctx, out.Stderr))
	}
	m := granted.FindStringSubmatch(out.Stderr)
	if m == nil {
		return nil, fmt.Errorf("salloc did not print the job it created: %q: %w", out.Stderr, output.ErrForm)
	}
	id, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return nil, err
	}
	r, err := s.Jobs.Job(ctx, core.JobID(id))
	if err != nil {
		return nil, fmt.Errorf("job %d was created, but cannot be read: %w", id, err)
	}
	return r, nil
}

// granted matches salloc's line about a job that was allocated.
var granted = regexp.MustCompile(`(?m)^salloc: Granted job allocation (\d+)$`)

// queued matches salloc's line about a job that was not allocated immediately.
var queued = regexp.MustCompile(`(?m)^salloc: Pending job allocation (\d+)$`)

// unqueue cancels the job that a failed or timed-out salloc may have left pending.
func (s *Resizer) unqueue(ctx context.Context, said string) error {
	m := queued.FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Run.Timeout)
	defer cancel()
	_, err := s.Run.Run(ctx, client.Call{Program: "scancel", Args: []string{m[1]}})
	if err != nil && !cluster.Over(err) {
		return fmt.Errorf("allocation %s, which waits: %w", m[1], err)
	}
	return nil
}

// notFree lists the refusals that mean that nodes are not free at the moment, or are not free for this allocation.
var notFree = []client.Refusal{
	client.NodesBusy, client.NodeUnavailable, client.NodesUnfit, client.PartitionUnfit, client.NotFirst, client.Fragmented, client.NotImmediately, client.Queued,
	client.ReservationInvalid, client.ReservationDenied, client.ReservationUnusable, client.ReservationInUse,
}

// notAllocated converts salloc's refusal into an error of the adapter.
func (s *Resizer) notAllocated(ctx context.Context, a growth.Allocation, err error) error {
	if why := refusalMeaning(err, s.shut(ctx, a.Parent)); why != nil {
		return fmt.Errorf("%w (%w)", why, err)
	}
	switch {
	case client.Refused(err, client.DependencyProblem):
		if _, gone := s.Jobs.Running(ctx, a.Parent.Key); gone != nil {
			return fmt.Errorf("%w (%w)", gone, err)
		}
		return fmt.Errorf("%w; is permit_job_expansion in SchedulerParameters? `accordion preflight` tells", err)
	case client.Refused(err, client.LimitExceeded):
		s.Limited()
		return fmt.Errorf("%w (%w)", adapter.ErrLimit, err)
	case client.Refused(err, client.NotForUsers):
		return fmt.Errorf("%w: slurmctld has a job_submit.lua of an older Accordion: put the current one next to slurm.conf", err)
	}
	return err
}

// refusalMeaning returns ErrBusy, ErrReserved or ErrShut for a refusal of nodes, and nil for any other refusal. If
// a partition does not suit the job at the moment, Slurm's message does not show whether the partition is down.
// `shut` reports whether it is.
func refusalMeaning(err error, shut bool) error {
	switch {
	case client.Refused(err, client.PartitionUnavailable, client.PartitionDown), shut && client.Refused(err, client.PartitionUnfit):
		return adapter.ErrShut
	case client.Refused(err, client.ReservedMaintenance):
		return adapter.ErrReserved
	case client.Refused(err, notFree...):
		return adapter.ErrBusy
	}
	return nil
}

// shut reports whether the job's partition, as last read, accepts no new allocations.
func (s *Resizer) shut(ctx context.Context, job *output.Record) bool {
	in, err := s.Ground(ctx)
	return err == nil && in.ClosedReason(job, s.Pool, true) != ""
}

// preemptionWait is how long allocate waits for preempted jobs to end. Slurm begins to end them when it first
// refuses the allocation.
const preemptionWait = 10 * time.Second

// allocate makes the allocation immediately or not at all. The only exception is that it waits for jobs that Slurm
// preempts.
func (s *Resizer) allocate(ctx context.Context, site growth.Site, a growth.Allocation) (*output.Record, error) {
	r, err := s.allocateNow(ctx, site, a)
	if !s.Yields(a.Nodes) {
		return r, err
	}
	for end := time.Now().Add(preemptionWait); errors.Is(err, adapter.ErrBusy) && time.Now().Before(end); {
		if Pause(ctx, 5*PollInterval) != nil {
			break
		}
		r, err = s.allocateNow(ctx, site, a)
	}
	return r, err
}
