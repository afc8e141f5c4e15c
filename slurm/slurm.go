package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/limits"
	"accordion/slurm/output"
	"accordion/slurm/resize"
)

// Config says which part of which cluster is ours, and how to reach it.
type Config struct {
	// Partitions whose nodes are the pool. At least one. Jobs and reservations of every other partition on these
	// nodes are read too.
	Partitions []string
	// Conf is the path of slurm.conf; "" takes SLURM_CONF from the environment, or else the clients' own default.
	Conf string
	// Bin is the directory of squeue, scontrol, salloc, scancel; "" looks them up in PATH.
	Bin string
	// Timeout bounds each run of a client program. 0: 20 s. slurmctld answers within milliseconds, but takes 10 s and
	// more while it saves its state on a slow disk.
	Timeout time.Duration
	// AtOnce bounds the client programs that run at the same time. 0: 6.
	AtOnce int
	// Reconfigure is the least pause between two `scontrol reconfigure`, see Mend. 0: a minute.
	Reconfigure time.Duration
	// Clients bounds the client programs that begin in any minute, whatever happens. 0: no bound; at least LeastClients.
	Clients int
	// Limits is the path of a file for job_submit.lua, with how many nodes associations and QOS
	// allow a job. accordion_nodes.lua next to it lists which nodes exist, accordion_operators.lua
	// who may change managed jobs. "": none of them is written.
	Limits string
	// Growth is how jobs are made larger. "": Auto.
	Growth growth.Kind
	// All: every job of the partitions is the sidecar's to let in, as job_submit.lua is told by its accordion.lua.
	All bool
}

// System is a Slurm cluster. Its methods may be called from several goroutines.
type System struct {
	config Config
	*resize.Resizer
	*leaseKeeper
	*holdReservation

	mu       sync.Mutex
	meanings map[featureMeaning]bool // of features, as Slurm said

	rules         limits.Policies // associations and QOS, as last read
	rulesAt       time.Time
	rulesTook     time.Duration
	each          map[string][]limits.Set // what each QOS allows every user and account
	eachAt        time.Time
	written       map[string]writtenFile // for job_submit.lua, by path
	operatorsAt   time.Time              // when operators were read last
	operatorsTook time.Duration

	unwritten string // why one of these files could not be written last; "": all were
	miscount  limits.Miscount

	since map[adapter.Key]core.Time // second since which each job could have run that waits for the sidecar

	splitting   sync.Mutex
	partedTasks map[core.JobID]map[int]bool // tasks of arrays that were made jobs and were not read as such yet
	throttles   map[core.JobID]int          // of arrays that wait or run: how many of their tasks may run at a time

	mending      sync.Mutex
	reconfigured time.Time // when Mend last ran `scontrol reconfigure`; zero: never
}

var (
	_ adapter.BatchSystem = (*System)(nil)
	_ adapter.Leaser      = (*System)(nil)
	_ adapter.Gatekeeper  = (*System)(nil)
	_ adapter.Ager        = (*System)(nil)
)

var partitionName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// New checks the configuration; it does not touch the cluster.
func New(c Config) (*System, error) {
	if len(c.Partitions) == 0 {
		return nil, errors.New("slurm: no partition given: name the one whose nodes Accordion shall manage")
	}
	for _, p := range c.Partitions {
		if !partitionName.MatchString(p) {
			return nil, fmt.Errorf("slurm: %q is not the name of a partition (`sinfo -h -o %%R` lists them)", p)
		}
	}
	if c.Timeout < 0 || c.AtOnce < 0 || c.Reconfigure < 0 {
		return nil, errors.New("slurm: a timeout, a pause and a number of programs at once must not be negative")
	}
	if c.Clients < 0 || c.Clients > 0 && c.Clients < client.LeastClients {
		return nil, fmt.Errorf("slurm: %d client programs a minute: give 0 for no bound, or at least %d", c.Clients, client.LeastClients)
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	if c.AtOnce == 0 {
		c.AtOnce = 6
	}
	if c.Reconfigure == 0 {
		c.Reconfigure = time.Minute
	}
	if c.Growth == "" {
		c.Growth = growth.Auto
	}
	if _, err := growth.Parse(string(c.Growth)); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	run := client.New(client.Config{Bin: c.Bin, Conf: c.Conf, Timeout: c.Timeout, AtOnce: c.AtOnce, Clients: c.Clients})
	return systemOf(c, run), nil
}

// systemOf is a system that runs Slurm's programs by run.
func systemOf(c Config, run *client.Runner) *System {
	s := &System{config: c, since: map[adapter.Key]core.Time{}}
	all := cluster.New(run, c.Partitions, c.Growth)
	s.Resizer, s.leaseKeeper, s.holdReservation = resize.New(all), newLease(run), newHoldReservation(all)
	s.Lost, s.Limited = s.Mend, s.forgetRules
	return s
}

// forgetRules has associations and QOS read anew: the next reading says which limit keeps a job from growing.
func (s *System) forgetRules() {
	s.mu.Lock()
	s.rulesAt = time.Time{}
	s.mu.Unlock()
}

// Close ends the programs that wait for commands. The system may be used again: it starts others.
func (s *System) Close() { s.Run.Close() }

// Inspect reads one job as it is now, finished ones included as long as Slurm remembers them (MinJobAge). Its mark may be
// that of the last reading.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.Jobs.Find(ctx, job)
	if err != nil {
		return nil, err
	}
	if r.State != adapter.Running || adapter.RequestOf(&r.Job) == "" {
		return &r.Job, nil
	}
	r, joined, err := s.Together(ctx, job)
	if errors.Is(err, adapter.ErrGone) { // it ended between the two looks at it
		if r, err = s.Jobs.Find(ctx, job); err == nil {
			return &r.Job, nil
		}
	}
	if err != nil {
		return nil, err
	}
	var parts []adapter.Part
	for _, c := range joined {
		parts = append(parts, adapter.Part{Job: c.ID, Nodes: c.Nodes})
	}
	output.Combine(r, parts)
	return &r.Job, nil
}

// ClusterName is the cluster's name as slurmctld knows it.
func (s *System) ClusterName(ctx context.Context) (string, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return "", err
	}
	return c["ClusterName"], nil
}

// Identity is how slurmctld names itself, the same for whoever asks: the cluster, the controller's host and its port.
func (s *System) Identity(ctx context.Context) (string, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return "", err
	}
	return c.Identity(), nil
}
