// Package serve has the command "accordion serve". It opens everything that the sidecars of one or several clusters
// need, runs them in one process, and notifies systemd.
package serve

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/journald"
	"accordion/adapter/managed"
	"accordion/adapter/systemd"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// Command returns the command "accordion serve".
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the sidecar",
		Long: `Run the sidecar next to the batch system, until SIGTERM or SIGINT. It first runs the checks of "accordion preflight", and does not
start if one of them fails. It logs to standard error.

Each cluster has one sidecar, which holds a lease in the batch system. A second sidecar, on any host, is refused with the name of the
first. If a sidecar crashes, its lease lasts for another minute ([lease] length). --take-over does not wait for the end of the lease.
Use it only if you know that the other sidecar is dead.

If the configuration lists several clusters, this process runs one sidecar for each, and each log line begins with the cluster's name.
It starts only if preflight accepts all of them. If a cluster does not answer, or cannot be served any more, the sidecar tries again
every 10 seconds, and the other clusters are not affected.

Under systemd, it reports when it is ready (Type=notify), and feeds the watchdog (WatchdogSec=) while all of its loops work.`,
		Args: command.NoArguments,
	}
	file := command.ConfigFlag(c)
	force := c.Flags().Bool("force", false, "start even if a preflight check fails")
	takeOver := c.Flags().Bool("take-over", false, "take the cluster's lease from a sidecar that you know to be dead")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		conf, err := file.Load()
		if err != nil {
			return err
		}
		insist := insistence{force: *force, takeOver: *takeOver}
		if len(conf.All) > 1 {
			return serveAll(cmd.Context(), conf, instancesOf(conf.All, insist, cmd.ErrOrStderr()))
		}
		one := conf.All[0].Config
		return serve(cmd.Context(), conf, &instance{conf: one, insist: insist, log: newLogger(one.Log, cmd.ErrOrStderr(), nil), connect: cluster.Connect})
	}
	return c
}

// insistence has the flags that override checks.
type insistence struct {
	force    bool // serve a cluster that preflight refuses
	takeOver bool // take the lease from another sidecar
}

// launchers serves the launchers of applications over the clusters of a process (delegated scheduling).
type launchers interface {
	// run serves launchers until ctx ends. The clusters' names are known by then.
	run(ctx context.Context, conf config.Clusters, instances []*instance) error
	// leave releases what was opened.
	leave()
}

// openLaunchers opens what launchers need, and prepares the instances for them. launchers.go sets it. Without that
// file the program serves no launchers.
var openLaunchers func(ctx context.Context, settings config.Delegate, instances []*instance, log hclog.Logger) (launchers, error)

// launchersOf returns the service for launchers. Without a section [delegate] in the configuration, it returns noLaunchers.
func launchersOf(ctx context.Context, conf config.Clusters, instances []*instance, log hclog.Logger) (launchers, error) {
	if conf.Delegate == nil {
		return noLaunchers{}, nil
	}
	if openLaunchers == nil {
		return nil, command.Usage(errors.New("the configuration has a section [delegate], but this program was built without delegated scheduling"))
	}
	for _, p := range instances {
		p.delegate = conf.Delegate
	}
	return openLaunchers(ctx, *conf.Delegate, instances, log)
}

// noLaunchers serves no launchers.
type noLaunchers struct{}

func (noLaunchers) leave() {}
func (noLaunchers) run(ctx context.Context, _ config.Clusters, _ []*instance) error {
	<-ctx.Done()
	return nil
}

// serve runs the sidecar of one cluster until ctx ends. It also serves launchers if that is configured.
func serve(ctx context.Context, conf config.Clusters, p *instance) error {
	o, err := launchersOf(ctx, conf, []*instance{p}, p.log.Named("launchers"))
	if err != nil {
		return err
	}
	defer o.leave()
	defer p.leave()
	p.service = systemd.New(p.log)
	s, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	limitHeap()
	return together(ctx, s.run, func(ctx context.Context) error { return o.run(ctx, conf, []*instance{p}) }, p.service.Run)
}

func settingsOf(ctx context.Context, conf config.Config, c *cluster.Cluster) (managed.Settings, error) {
	name, guard := conf.Cluster, core.Time(conf.Plan.Guard/time.Second)
	var err1, err2 error
	round, err3 := c.Round(ctx)
	if name == "" {
		name, err1 = c.Name(ctx)
	}
	if guard == 0 {
		guard, err2 = c.Guard(ctx)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return managed.Settings{}, &adapter.NoAnswerError{Err: err}
	}
	planner, err := c.Planner(conf.Plan)
	if err != nil {
		return managed.Settings{}, err
	}
	settings := managed.Settings{
		Cluster:   name,
		Interval:  conf.Plan.Interval,
		Rest:      conf.Plan.Rest,
		Policy:    planner,
		StartLead: core.Time(conf.Plan.StartLead / time.Second),
		Protect:   conf.Plan.Protect,
		All:       conf.System == config.SystemSlurm && conf.Slurm.Manage == config.ManageAll,
		Guard:     guard,
		Round:     round,
		Overrun: managed.Overrun{
			Share: conf.Overrun.Share, Least: core.Time(conf.Overrun.Least / time.Second),
			Grace: core.Time(conf.Overrun.Grace / time.Second), Signal: conf.Overrun.Signal,
		},
		Advance:  conf.Early.Advance,
		Silent:   managed.Silent{Notice: core.Time(conf.Silent.Notice / time.Second), Signal: conf.Silent.Signal},
		Deadline: c.Deadline,
		Unused:   managed.Unused{Pool: core.Time(conf.Limits.Unused / time.Second), HalfLife: core.Time(conf.Limits.HalfLife / time.Second)},
		Limits:   managed.Limits{ShortestStep: core.Time(conf.ShortestStep() / time.Second), ResizesPerHour: conf.Limits.ResizesPerHour},
	}
	if c.Passes.Policy != nil {
		settings.Passes = c.Passes
	}
	return settings, nil
}

// together runs all parts until ctx ends or one of them returns, then ends the others.
func together(ctx context.Context, parts ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(parts))
	var running sync.WaitGroup
	for i, part := range parts {
		running.Go(func() {
			defer cancel()
			errs[i] = part(ctx)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// newLogger returns a logger. Loggers with the same output share the lock `shared`, which is nil for a single logger. If systemd's journal
// reads the output, the logger writes entries with fields.
func newLogger(conf config.Log, w io.Writer, shared hclog.Locker) hclog.Logger {
	options := hclog.LoggerOptions{
		Name: "accordion", Level: hclog.LevelFromString(conf.Level), JSONFormat: conf.Format == "json", Output: w, Mutex: shared,
	}
	if journald.Reads(w) {
		return journald.New(options)
	}
	return hclog.New(&options)
}

// gcPercent is the percentage by which the heap may grow before a garbage collection; Go's default is 100. A process on the host of a batch
// system's daemons should use little memory. With 2,000 launchers this costs a tenth more processor time.
const gcPercent = 50

// limitHeap reduces the memory of a serving process, unless its operator set GOGC or GOMEMLIMIT.
func limitHeap() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
