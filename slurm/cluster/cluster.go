// Package cluster caches what the sidecar knows of its part of a Slurm cluster: the settings, the inventory, and
// the way in which jobs grow. It also runs single commands on a job, and turns their failures into errors of the
// adapter. Operations of several commands are in slurm/resize and slurm.
package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/slurm/client"
	"accordion/slurm/growth"
	"accordion/slurm/jobs"
	"accordion/slurm/output"
)

// A Cluster is the part of a Slurm cluster whose nodes are the pool. Its methods may be called from several
// goroutines.
type Cluster struct {
	Run    *client.Runner
	Jobs   *jobs.Reader
	Pool   []string    // partitions
	Growth growth.Kind // as configured

	mu       sync.Mutex
	recently output.Configuration // as last read; replaced as a whole, never modified
	readAt   time.Time
	last     output.Inventory // as last observed; replaced as a whole, never modified
	yielding map[string]bool  // nodes of jobs that Slurm preempts for managed ones
}

// New returns a Cluster that runs client programs with `run`.
func New(run *client.Runner, pool []string, growth growth.Kind) *Cluster {
	return &Cluster{Run: run, Jobs: jobs.New(run), Pool: pool, Growth: growth}
}

// Known returns the configuration as it was last read, however long ago, or nil if it was never read.
func (s *Cluster) Known() output.Configuration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recently
}

// Remember stores the last inventory.
func (s *Cluster) Remember(in output.Inventory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = in
}

// GiveWay stores which nodes are held by jobs that Slurm preempts for managed ones.
func (s *Cluster) GiveWay(nodes map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.yielding = nodes
}

// Yields reports whether preemptible jobs hold one of the nodes.
func (s *Cluster) Yields(nodes []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(nodes, func(n string) bool { return s.yielding[n] })
}

// Terms decides how a job grows that holds `nodes` or will start on them. The way of growth stays the same for the
// job's whole life, unless the cluster's settings change.
func (s *Cluster) Terms(ctx context.Context, r *output.Record, nodes []string) (growth.Terms, error) {
	c, err := s.Recent(ctx)
	if err != nil {
		return growth.Terms{}, err
	}
	in, err := s.Ground(ctx)
	if err != nil {
		return growth.Terms{}, err
	}
	p := in.Partition(r.Partition, s.Pool)
	if p == nil {
		return growth.Terms{}, fmt.Errorf("its partition %s is not one of %s", r.Partition, strings.Join(s.Pool, ", "))
	}
	t := growth.Terms{Site: growth.SiteOf(c), In: p.Sharing(), Node: in.Least(nodes)}
	t.Way, err = t.Site.WayOf(s.Growth, p.Sharing(), r.WantsGRES())
	return t, err
}

// Ground returns the nodes and partitions as last read, however long ago. Its callers may use only fields that
// change only with a new configuration of Slurm.
func (s *Cluster) Ground(ctx context.Context) (output.Inventory, error) {
	s.mu.Lock()
	known := s.last
	s.mu.Unlock()
	if len(known.Partitions) > 0 {
		return known, nil
	}
	return s.Inventory(ctx)
}

// Inventory reads nodes, reservations and partitions.
func (s *Cluster) Inventory(ctx context.Context) (output.Inventory, error) {
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all"}, Input: output.InventoryCommands, Kind: client.Listing})
	if err != nil {
		return output.Inventory{}, err
	}
	return output.ParseInventory(out.Stdout)
}

// Update changes one job by one command. It returns ErrGone when Slurm refuses the change because the job has ended.
func (s *Cluster) Update(ctx context.Context, job adapter.Key, settings ...string) error {
	args := append([]string{"update", "JobId=" + s.Jobs.Name(job)}, settings...)
	_, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: args})
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf("job %d: setting %s", job.ID, strings.Join(settings, " "))
	if Over(err) {
		return fmt.Errorf("%s: %w (%w)", doing, adapter.ErrGone, err)
	}
	return fmt.Errorf("%s: %w", doing, s.frozen(ctx, err))
}

// Command runs the scontrol command for the job.
func (s *Cluster) Command(ctx context.Context, job adapter.Key, command string) error {
	err := s.Run.Scontrol(ctx, command, s.Jobs.Name(job))
	if Over(err) {
		return fmt.Errorf("job %d: %s: %w (%w)", job.ID, command, adapter.ErrGone, err)
	}
	if err != nil {
		return fmt.Errorf("job %d: %s: %w", job.ID, command, s.frozen(ctx, err))
	}
	return nil
}

// Cancel runs scancel. It returns nil if the job has already ended.
func (s *Cluster) Cancel(ctx context.Context, job adapter.Key) error {
	_, err := s.Run.Run(ctx, client.Call{Program: "scancel", Args: []string{s.Jobs.Name(job)}})
	if err != nil && !Over(err) {
		return fmt.Errorf("job %d: %w", job.ID, err)
	}
	return nil
}

// frozen adds adapter.ErrFrozen to the error by which Slurm reports that the job has no number in the accounting
// database yet. Until the job has that number, Slurm waits five seconds at each change of the job and then refuses
// the change. If slurmctld ended while it waited for the number, the job never gets one (22.05), and only scancel
// helps.
//
// The error is the same while slurmdbd does not answer. Then a resize of other jobs would fail as well, and frozen
// also adds adapter.ErrTrap.
func (s *Cluster) frozen(ctx context.Context, err error) error {
	if !client.Refused(err, client.NumberAwaited) {
		return err
	}
	err = fmt.Errorf("%w: Slurm waits for slurmdbd to number the job (%w)", adapter.ErrFrozen, err)
	c, away := s.Recent(ctx)
	if away == nil {
		away = absent(ctx, c)
	}
	if away != nil {
		return fmt.Errorf("%w (%w: %w)", err, adapter.ErrTrap, away)
	}
	return err
}

// Over reports whether Slurm refused a command because the job has ended or is unknown.
func Over(err error) bool {
	return client.Refused(err, client.InvalidJob, client.JobFinished, client.JobCompleting, client.JobNotPending)
}

// Stepless reports whether err is scontrol's message that a job has no steps. A console prints that message but
// returns no error.
func Stepless(err error) bool { return client.Says(err, "job step ") && client.Says(err, " not found") }
