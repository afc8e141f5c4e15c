// Package cluster is the subcommands that stand beside a batch system: serve, preflight and watch, and the configuration that
// names it.
package cluster

import (
	"accordion/slurm/growth"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/embedded"
	"accordion/adapter/release"
	"accordion/core"
	"accordion/core/policy"
	"accordion/shim/seal"
	"accordion/slurm"
	"accordion/slurm/output"
)

// Cluster is the batch system of a configuration, with what the commands need in addition.
type cluster struct {
	system    adapter.BatchSystem
	pool      string
	preflight func(context.Context) []adapter.Finding
	guard     func(context.Context) (core.Time, error)
	round     func(context.Context) (core.Time, error) // see managed.Settings.Round
	name      func(context.Context) (string, error)
	identity  func(context.Context) (string, error)                              // the batch system's own, unique name; nil: no other program can reach it
	try       func(context.Context, string, func(string)) ([]slurm.Trial, error) // nil: there is only one way to grow
	stopped   stopped                                                            // for the time when no sidecar runs; nil: no other program can reach it
	handBack  func(context.Context) (int, error)                                 // returns jobs that wait at the gate to the batch system; nil: there is no gate
	dismantle func(context.Context) (deleted, used []string, err error)          // deletes reservations in which jobs wait; nil if handBack is
	leaser    adapter.Leaser                                                     // nil: no other program can reach it
	passes    policy.Policy                                                      // the policy by which it plans itself and sizes moldable jobs; zero: none
	hides     func(context.Context) (adapter.Hidden, error)                      // what it hides from other users; nil: nothing
	deadline  time.Duration                                                      // of each call
	close     func()
}

// stopped is a batch system in which no sidecar runs.
type stopped interface {
	adapter.LeaseReader
	release.System
}

// connect connects to the batch system of a configuration. It changes nothing.
func connect(ctx context.Context, conf config.Config, log hclog.Logger) (*cluster, error) {
	switch conf.System {
	case config.SystemEmbedded:
		return connectEmbedded(conf)
	case config.SystemOAR:
		return connectOAR(ctx, conf, log)
	}
	return connectSlurm(conf)
}

func connectSlurm(conf config.Config) (*cluster, error) {
	s, err := slurm.New(slurm.Config{Partitions: []string{conf.Slurm.Partition}, Conf: conf.Slurm.Conf, Bin: conf.Slurm.Bin,
		Timeout: conf.Slurm.Timeout, Clients: conf.Slurm.Clients, Growth: growth.Kind(conf.Slurm.Growth), Limits: conf.Slurm.Limits,
		All: conf.Slurm.Manage == config.ManageAll})
	if err != nil {
		return nil, err
	}
	preflight := func(ctx context.Context) []adapter.Finding {
		found := append(s.Preflight(ctx), checkSession(ctx, conf.Session)...)
		if config, err := s.Configuration(ctx); err == nil { // an error is already among the findings
			found = append(found, checkWeb(conf.Web, config["PrivateData"])...)
		}
		slices.SortStableFunc(found, adapter.ByGravity)
		return found
	}
	return &cluster{system: s, pool: "partition " + conf.Slurm.Partition, preflight: preflight, guard: s.Guard, round: s.Round,
		hides: func(ctx context.Context) (adapter.Hidden, error) {
			config, err := s.Configuration(ctx)
			return output.Hidden(config), err
		},
		name: s.ClusterName, identity: s.Identity, try: s.Try, stopped: s, handBack: s.HandBack, dismantle: s.Dismantle, leaser: s, deadline: conf.Slurm.Timeout, close: s.Close}, nil
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

// born is the start of this process. Accelerated clocks run faster from then on, so that those of several clusters
// agree.
var born = time.Now()

// clockOf returns the clock of a cluster, for its sidecar and its launchers.
func clockOf(conf config.Config) adapter.Clock {
	if pace := conf.Pace(); pace > 1 {
		return adapter.Quick{Begin: born, Factor: pace}
	}
	return adapter.Wall{}
}

func connectEmbedded(conf config.Config) (*cluster, error) {
	s, err := embedded.New(embedded.Options{Nodes: conf.Embedded.Nodes, Clock: clockOf(conf)})
	if err != nil {
		return nil, err
	}
	atOnce := func(context.Context) (core.Time, error) { return 0, nil } // it enforces limits and starts jobs without delay
	return &cluster{
		system:    s,
		pool:      fmt.Sprintf("%d nodes in this process", conf.Embedded.Nodes),
		preflight: func(context.Context) []adapter.Finding { return nil },
		guard:     atOnce,
		round:     atOnce,
		name:      func(context.Context) (string, error) { return config.SystemEmbedded, nil },
		deadline:  10 * time.Second, // it never takes longer
		close:     s.Close,
	}, nil
}
