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

// Config selects the managed part of a cluster and how to reach the cluster.
type Config struct {
	// Partitions names the partitions whose nodes are the pool. At least one is required. Jobs and reservations of
	// other partitions on these nodes are read, too.
	Partitions []string
	// Conf is the path of slurm.conf. "" means SLURM_CONF from the environment, or the clients' own default.
	Conf string
	// Bin is the directory of squeue, scontrol, salloc and scancel. "" means that PATH is searched.
	Bin string
	// Timeout limits each run of a client program; 0 means 20 s. slurmctld usually answers within milliseconds,
	// but takes 10 s and more while it saves its state to a slow disk.
	Timeout time.Duration
	// AtOnce limits the client programs that run at the same time; 0 means 6.
	AtOnce int
	// Reconfigure is the shortest pause between two runs of `scontrol reconfigure` (see Mend); 0 means a minute.
	Reconfigure time.Duration
	// Clients limits the client programs that begin in any minute; 0 means no limit. Other values
	// must be at least client.LeastClients.
	Clients int
	// Limits is the path of a file for job_submit.lua. The file has the node limits that associations and QOS set
	// for a job. In the same folder, accordion_nodes.lua lists the nodes that exist, and accordion_operators.lua
	// lists the users who may change managed jobs. If Limits is "", none of these files is written.
	Limits string
	// Growth is the way in which jobs grow; "" means growth.Auto.
	Growth growth.Kind
	// All means that the sidecar decides when every job of the partitions may start (manage = "all"). The
	// accordion.lua of job_submit.lua must have the same setting.
	All bool
}

// System is a Slurm cluster. Its methods may be called from several goroutines.
type System struct {
	config Config
	*resize.Resizer
	*leaseKeeper
	*holdReservation

	mu             sync.Mutex
	featureMatches map[featureMatch]bool // Slurm's answers to the question whether nodes of a kind match an expression

	rules         limits.Policies // associations and QOS, as last read
	rulesAt       time.Time
	rulesTook     time.Duration
	lastQualities map[string][]limits.Set // per-user and per-account limits of each QOS
	qualitiesAt   time.Time
	written       map[string]writtenFile // the files for job_submit.lua, by path
	operatorsAt   time.Time              // when the list of operators was last read
	operatorsTook time.Duration

	unwritten string // why a file for job_submit.lua could not be written; "" if all were written
	miscount  limits.Miscount

	since map[adapter.Key]core.Time // for each job that waits for the sidecar: the second from which it could have run

	splitting  sync.Mutex
	splitTasks map[core.JobID]map[int]bool // array tasks that became jobs of their own but that no list has shown yet
	throttles  map[core.JobID]int          // how many tasks of each pending or running array may run at the same time

	mending      sync.Mutex
	reconfigured time.Time // when Mend last ran `scontrol reconfigure`; the zero time if never
}

var (
	_ adapter.BatchSystem = (*System)(nil)
	_ adapter.Leaser      = (*System)(nil)
	_ adapter.Gatekeeper  = (*System)(nil)
	_ adapter.Ager        = (*System)(nil)
)

var partitionName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// New checks the configuration and returns a System. It does not contact the cluster.
func New(c Config) (*System, error) {
	if len(c.Partitions) == 0 {
		return nil, errors.New("slurm: no partition given: name the one whose nodes Accordion manages")
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

// systemOf returns a System that runs Slurm's programs with `run`.
func systemOf(c Config, run *client.Runner) *System {
	s := &System{config: c, since: map[adapter.Key]core.Time{}}
	all := cluster.New(run, c.Partitions, c.Growth)
	s.Resizer, s.leaseKeeper, s.holdReservation = resize.New(all), newLease(run), newHoldReservation(all)
	s.Lost, s.Limited = s.Mend, s.forgetRules
	return s
}

// forgetRules makes the next reading read associations and QOS again. Then the snapshot shows the limit that
// prevents a job from growing.
func (s *System) forgetRules() {
	s.mu.Lock()
	s.rulesAt = time.Time{}
	s.mu.Unlock()
}

// Close ends the live consoles. The System may be used after Close, and then starts new consoles.
func (s *System) Close() { s.Run.Close() }

// Inspect reads the current state of one job. It finds a finished job as long as Slurm remembers it (MinJobAge).
// The mark may be from the last reading.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.Jobs.Find(ctx, job)
	if err != nil {
		return nil, err
	}
	if r.State != adapter.Running || adapter.RequestOf(&r.Job) == "" {
		return &r.Job, nil
	}
	r, joined, err := s.Together(ctx, job)
	if errors.Is(err, adapter.ErrGone) { // the job ended between the two reads
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
	output.AddCompanions(r, parts)
	return &r.Job, nil
}

// ClusterName returns the cluster's name in slurmctld's configuration.
func (s *System) ClusterName(ctx context.Context) (string, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return "", err
	}
	return c["ClusterName"], nil
}

// Identity returns how slurmctld identifies itself to every client: the cluster, the controller's host and its port.
func (s *System) Identity(ctx context.Context) (string, error) {
	c, err := s.Configuration(ctx)
	if err != nil {
		return "", err
	}
	return c.Identity(), nil
}
