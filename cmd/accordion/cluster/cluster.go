// Package cluster connects to the batch system of a configuration, and has the commands for its administrator:
// preflight, audit, release-all and config. accordion serve, setup and watch connect through it too.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/cmd/accordion/command"
	"accordion/slurm/growth"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/embedded"
	"accordion/adapter/lockfile"
	"accordion/adapter/release"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/shim/seal"
	"accordion/slurm"
	"accordion/slurm/output"
)

// Cluster is the batch system of a configuration, with additional functions for the commands.
type Cluster struct {
	System    adapter.BatchSystem
	Pool      string
	Preflight func(context.Context) []adapter.Finding
	Guard     func(context.Context) (core.Time, error)
	Round     func(context.Context) (core.Time, error) // see managed.Settings.Round
	Name      func(context.Context) (string, error)
	Identity  func(context.Context) (string, error)                              // the batch system's own, unique name; nil if no other program can reach the batch system
	try       func(context.Context, string, func(string)) ([]slurm.Trial, error) // nil if there is only one way to grow
	stopped   stopped                                                            // the batch system while no sidecar runs; nil if no other program can reach the batch system
	handBack  func(context.Context) (int, error)                                 // gives jobs that wait at the gate back to the batch system; nil if there is no gate
	dismantle func(context.Context) (deleted, used []string, err error)          // deletes reservations in which jobs wait; nil if handBack is nil
	Leaser    adapter.Leaser                                                     // nil if no other program can reach the batch system
	Passes    policy.Policy                                                      // the policy by which the batch system itself plans and sizes moldable jobs; zero if there is none
	Hides     func(context.Context) (adapter.Hidden, error)                      // returns what the batch system hides from other users; nil if it hides nothing
	Deadline  time.Duration                                                      // deadline of each call
	Close     func()
}

// stopped is a batch system in which no sidecar runs.
type stopped interface {
	adapter.LeaseReader
	release.System
}

// Connect connects to the batch system of a configuration. It changes nothing.
func Connect(ctx context.Context, conf config.Config, log hclog.Logger) (*Cluster, error) {
	switch conf.System {
	case config.SystemEmbedded:
		return connectEmbedded(conf)
	case config.SystemOAR:
		return connectOAR(ctx, conf, log)
	}
	return connectSlurm(conf)
}

func connectSlurm(conf config.Config) (*Cluster, error) {
	s, err := slurm.New(slurm.Config{Partitions: []string{conf.Slurm.Partition}, Conf: conf.Slurm.Conf, Bin: conf.Slurm.Bin,
		Timeout: conf.Slurm.Timeout, Clients: conf.Slurm.Clients, Growth: growth.Kind(conf.Slurm.Growth), Limits: conf.Slurm.Limits,
		All: conf.Slurm.Manage == config.ManageAll})
	if err != nil {
		return nil, err
	}
	preflight := func(ctx context.Context) []adapter.Finding {
		found := append(s.Preflight(ctx), checkSession(ctx, conf.Session)...)
		if config, err := s.Configuration(ctx); err == nil { // the findings already contain the error
			found = append(found, checkWeb(conf.Web, config["PrivateData"])...)
		}
		slices.SortStableFunc(found, adapter.ByGravity)
		return found
	}
	return &Cluster{System: s, Pool: "partition " + conf.Slurm.Partition, Preflight: preflight, Guard: s.Guard, Round: s.Round,
		Hides: func(ctx context.Context) (adapter.Hidden, error) {
			config, err := s.Configuration(ctx)
			return output.Hidden(config), err
		},
		Name: s.ClusterName, Identity: s.Identity, try: s.Try, stopped: s, handBack: s.HandBack, dismantle: s.Dismantle, Leaser: s, Deadline: conf.Slurm.Timeout, Close: s.Close}, nil
}

// checkSession checks whether jobs on other hosts can reach the sidecar.
func checkSession(ctx context.Context, conf config.Session) []adapter.Finding {
	if conf.Listen == "" {
		return []adapter.Finding{{Severity: adapter.Note, What: "[session] listen is empty: accordion step reaches the sidecar on this host only, " +
			"and jobs on other hosts are resized at their planned seconds"}}
	}
	if err := seal.NewMunge(conf.MungeSocket).Check(ctx); err != nil {
		return []adapter.Finding{{Severity: adapter.Fatal, What: fmt.Sprintf("jobs on other hosts cannot prove who they are: %v", err),
			Fix: "Start munged here, say [session] munge_socket, or take [session] listen out"}}
	}
	return nil
}

// checkWeb checks whether the page would show jobs that squeue hides, according to Slurm's PrivateData.
func checkWeb(conf config.Web, hidden string) []adapter.Finding {
	if conf.Listen == "" || conf.Private || !hidesJobs(hidden) {
		return nil
	}
	return []adapter.Finding{{Severity: adapter.Fatal, What: "PrivateData=" + hidden + " hides jobs from other users, and the page of [web] listen would show them to whoever reaches it",
		Fix: "Set [web] private = true, or take [web] listen out"}}
}

// hidesJobs reports whether Slurm's PrivateData hides jobs from other users.
func hidesJobs(private string) bool {
	words := strings.Split(private, ",")
	return slices.Contains(words, "jobs") || slices.Contains(words, "all")
}

// born is the time at which this process started. All accelerated clocks start to run faster at this time, so that the clocks of several
// clusters agree.
var born = time.Now()

// ClockOf returns the clock of a cluster, for its sidecar and its launchers.
func ClockOf(conf config.Config) adapter.Clock {
	if pace := conf.Pace(); pace > 1 {
		return adapter.Quick{Begin: born, Factor: pace}
	}
	return adapter.Wall{}
}

func connectEmbedded(conf config.Config) (*Cluster, error) {
	s, err := embedded.New(embedded.Options{Nodes: conf.Embedded.Nodes, Clock: ClockOf(conf)})
	if err != nil {
		return nil, err
	}
	atOnce := func(context.Context) (core.Time, error) { return 0, nil } // the embedded batch system enforces limits and starts jobs without delay
	return &Cluster{
		System:    s,
		Pool:      fmt.Sprintf("%d nodes in this process", conf.Embedded.Nodes),
		Preflight: func(context.Context) []adapter.Finding { return nil },
		Guard:     atOnce,
		Round:     atOnce,
		Name:      func(context.Context) (string, error) { return config.SystemEmbedded, nil },
		Deadline:  10 * time.Second, // a call never takes longer
		Close:     s.Close,
	}, nil
}

// OnlyOne locks the cluster, so that this host runs no second sidecar for it with another journal. A cluster that no other program can
// reach needs no lock.
func OnlyOne(ctx context.Context, c *Cluster, journal string) (*lockfile.Lock, error) {
	if c.Identity == nil {
		return &lockfile.Lock{}, nil
	}
	identity, err := c.Identity(ctx)
	if err != nil {
		return nil, &adapter.NoAnswerError{Err: err}
	}
	lock, err := lockfile.Beside(lockfile.Folder, identity, "its journal is "+journal)
	if taken := (*lockfile.HeldError)(nil); errors.As(err, &taken) {
		return nil, fmt.Errorf("another sidecar serves this cluster (%s): process %d, %s; stop that one first", identity, taken.PID, taken.Note)
	}
	if err != nil {
		return nil, fmt.Errorf("look for another sidecar of this cluster: %w; /run must be writable", err)
	}
	return lock, nil
}

// Planner returns the planning policy with its sizing rule. Its errors are usage errors.
func (c *Cluster) Planner(conf config.Plan) (sched.Policy, error) {
	if easy, few := policy.Patient(c.Passes); few {
		return easy, nil
	}
	planner, err := policy.Live(conf.Policy, conf.Fit())
	if err != nil {
		return nil, command.Usage(err)
	}
	if c.Passes.Policy != nil {
		return policy.SizedAs(planner, c.Passes), nil
	}
	if planner, err = policy.WithSizes(planner, conf.Sizes); err != nil || conf.Statistics == "" {
		return planner, err
	}
	if conf.Sizes != "load" {
		return nil, command.Usage(fmt.Errorf(`[plan] statistics is not in force: sizes = %q predicts nothing; leave it out, or say sizes = "load"`, conf.Sizes))
	}
	file, err := command.ReadStatistics(conf.Statistics)
	if err != nil {
		return nil, err
	}
	// No shift is needed, because the statistics and the sidecar's clock both count from midnight UTC.
	return policy.Policy{Policy: planner}.Knowing(&file.Statistics).Policy, nil
}
