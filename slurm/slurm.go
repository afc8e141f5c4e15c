package slurm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
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
	// Limits is the path of a file into which is written, for job_submit.lua, how many nodes associations and QOS allow a
	// job. "": none is written.
	Limits string
	// Growth is how jobs are made larger. "": Auto.
	Growth Growth
}

// System is a Slurm cluster. Its methods may be called from several goroutines.
type System struct {
	config Config
	run    *client.Runner

	mu       sync.Mutex
	recently configuration // as last read for a resize; never changed
	readAt   time.Time
	last     inventory        // as last observed; never changed
	meanings map[meaning]bool // of features, as Slurm said

	yielding map[string]bool // nodes of jobs that make room for managed ones

	rules     policies // associations and QOS, as last read
	rulesAt   time.Time
	rulesTook time.Duration
	each      map[string][]limits // what each QOS allows every user and account
	eachAt    time.Time
	written   string // into Config.Limits
	miscount  miscount
	known     testimony

	splitting sync.Mutex
	throttles map[int64]int // of arrays that wait or run: how many of their tasks may run at a time

	mending      sync.Mutex
	reconfigured time.Time // when Mend last ran `scontrol reconfigure`; zero: never
}

var _ adapter.BatchSystem = (*System)(nil)

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
		c.Growth = Auto
	}
	if _, err := ParseGrowth(string(c.Growth)); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	return &System{config: c, run: client.New(client.Config{Bin: c.Bin, Conf: c.Conf, Timeout: c.Timeout, AtOnce: c.AtOnce, Clients: c.Clients})}, nil
}

// Close ends the programs that wait for commands. The system may be used again: it starts others.
func (s *System) Close() { s.run.Close() }

// squeue lists jobs; more are arguments that choose them.
func (s *System) squeue(ctx context.Context, more ...string) ([]record, error) {
	word := "x" + rand.Text() // a letter first: a digit would be the width of the column
	out, err := s.run.Run(ctx, client.Call{
		Program: "squeue",
		Args:    append([]string{"--all", "--local", "--noheader", "--noconvert"}, more...),
		Env:     []string{"SQUEUE_FORMAT2=" + format(word), "SQUEUE_ARRAY_UNIQUE=1"}, // without it 20.11 hides single tasks in what is left of their array
	})
	if err != nil {
		return nil, err
	}
	return parseSqueue(out.Stdout, word)
}

// lookup reads one job, in whatever state. ErrGone when Slurm does not know it, or knows another by its id.
func (s *System) lookup(ctx context.Context, job adapter.Key) (*record, error) {
	return byNumber(ctx, job, s.job)
}

// byNumber is the job of the key, as read by its number.
func byNumber(ctx context.Context, job adapter.Key, read func(context.Context, core.JobID) (*record, error)) (*record, error) {
	if job.ID <= 0 || job.ID >= 1<<32 {
		return nil, fmt.Errorf("job %d: no job of Slurm's has such an id: %w", job.ID, adapter.ErrGone)
	}
	r, err := read(ctx, job.ID)
	if err != nil {
		return nil, err
	}
	if r.Submitted != job.Submitted {
		return nil, fmt.Errorf("job %d: submitted at %d, not at %d: another job has its number now: %w",
			job.ID, r.Submitted, job.Submitted, adapter.ErrGone)
	}
	return r, nil
}

// Inspect reads one job as it is now, finished ones included as long as Slurm remembers them (MinJobAge). Its mark may be
// that of the last reading.
func (s *System) Inspect(ctx context.Context, job adapter.Key) (*adapter.Job, error) {
	r, err := s.lookup(ctx, job)
	if err != nil {
		return nil, err
	}
	if r.State != adapter.Running || adapter.RequestOf(&r.Job) == "" {
		return &r.Job, nil
	}
	r, joined, err := s.together(ctx, job)
	if err != nil {
		return nil, err
	}
	var parts []adapter.Part
	for _, c := range joined {
		parts = append(parts, adapter.Part{Job: c.ID, Nodes: c.Nodes})
	}
	r.count(parts)
	return &r.Job, nil
}

// pending reads a job that must be waiting.
func (s *System) pending(ctx context.Context, job adapter.Key) (*record, error) {
	r, err := s.lookup(ctx, job)
	return r, waits(r, err)
}

// candidate is pending with the mark as it is at this instant.
func (s *System) candidate(ctx context.Context, job adapter.Key) (*record, error) {
	r, err := byNumber(ctx, job, s.sworn)
	return r, waits(r, err)
}

// waits is ErrGone for a job that was read and does not wait.
func waits(r *record, err error) error {
	if err == nil && r.State != adapter.Pending {
		return fmt.Errorf("job %d is %s, not pending any more: %w", r.ID, r.State, adapter.ErrGone)
	}
	return err
}

// running reads a job that must be running.
func (s *System) running(ctx context.Context, job adapter.Key) (*record, error) {
	r, err := s.lookup(ctx, job)
	if err == nil && r.State != adapter.Running {
		return r, fmt.Errorf("job %d is %s, not running: %w", job.ID, r.State, adapter.ErrGone)
	}
	return r, err
}

// update changes one job by one command. What Slurm refuses because the job is over is ErrGone.
func (s *System) update(ctx context.Context, job adapter.Key, settings ...string) error {
	args := append([]string{"update", "JobId=" + s.name(job)}, settings...)
	_, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: args})
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf("job %d: setting %s", job.ID, strings.Join(settings, " "))
	if over(err) {
		return fmt.Errorf("%s: %w (%w)", doing, adapter.ErrGone, err)
	}
	return fmt.Errorf("%s: %w", doing, frozen(err))
}

// frozen is an error that is adapter.ErrFrozen as well when Slurm says that the job has no number in the accounting
// database yet. It refuses every change of the job then, after five seconds; also for ever, when slurmctld ended in the
// moment in which it waited for the number (22.05). Nothing but scancel helps then.
func frozen(err error) error {
	if client.Says(err, "DB index is being set") {
		return fmt.Errorf("%w: Slurm waits for slurmdbd to number the job (%w)", adapter.ErrFrozen, err)
	}
	return err
}

// over is true when Slurm says that a job is finished or unknown.
func over(err error) bool {
	return client.Says(err, "invalid job id", "already finished", "already completing", "job is no longer pending")
}
