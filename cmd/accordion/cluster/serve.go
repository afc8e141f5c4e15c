package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/adapter/alone"
	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/queue"
	"accordion/shim/seal"
)

// Serve is "accordion serve".
func Serve() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the sidecar",
		Long: `Run the sidecar beside the batch system, until it is told to end (SIGTERM, SIGINT). It first does what "accordion
preflight" does, and does not start on a cluster that is not fit. It logs to standard error.

One sidecar serves a cluster: it holds a lease in the batch system, and a second one, on whatever host, is refused with the
name of the first. A sidecar that died without a word has the lease for another minute ([lease] length); --take-over does not wait
for that. Give it only when that sidecar is known to be dead.`,
		Args: command.NoArguments,
	}
	file := command.ConfigFlag(c)
	force := c.Flags().Bool("force", false, "start in spite of what preflight finds")
	takeOver := c.Flags().Bool("take-over", false, "take the cluster's lease from a sidecar that is known to be dead")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		conf, err := file.Load()
		if err != nil {
			return err
		}
		return serve(cmd.Context(), conf, insistence{force: *force, takeOver: *takeOver}, cmd.ErrOrStderr())
	}
	return c
}

// insistence is what serve is to do in spite of what it finds.
type insistence struct {
	force    bool // serve a cluster that is not fit
	takeOver bool // take the lease from another sidecar
}

// serve wires the sidecar's parts and runs them until ctx ends.
func serve(ctx context.Context, conf config.Config, insist insistence, w io.Writer) error {
	log := newLogger(conf.Log, w)
	// The journal first: it keeps a second sidecar with it away before anything else is touched.
	j, err := journal.Open(conf.Journal.Path)
	if err != nil {
		return err
	}
	defer j.Close()
	c, err := connect(ctx, conf, log)
	if err != nil {
		return err
	}
	defer c.close()
	if err := fit(ctx, c, log, insist.force); err != nil {
		return err
	}
	lock, err := onlyOne(ctx, c, j.Path())
	if err != nil {
		return err
	}
	defer lock.Release()
	settings, err := settingsOf(ctx, conf, c)
	if err != nil {
		return err
	}
	server, err := listen(conf.Session, log.Named("session"))
	if err != nil {
		return err
	}
	instruments, err := openInstruments(conf, j, log)
	if err != nil {
		return err
	}
	defer instruments.close()
	lease, err := c.leaseFor(j.Path(), conf.Lease.Length)
	if err != nil {
		return err
	}
	lease.Claim.Over = insist.takeOver
	sidecar := sidecar.New(sidecar.Options{System: c.system, Journal: j, Calls: server.Calls(), Log: log, Meter: instruments.meter, Lease: lease, Settings: settings})
	log.Info("accordion serves", "version", command.Version(), "cluster", settings.Cluster, "pool", c.pool, "sizes", policy.SizesOf(settings.Policy), "journal", j.Path(),
		"socket", conf.Session.Socket, "addresses", server.Addresses())
	err = together(ctx, append(instruments.parts, server.Serve, sidecar.Run,
		func(ctx context.Context) error { return j.KeepFor(ctx, conf.Journal.Keep, time.Hour) })...)
	if err != nil {
		return err
	}
	log.Info("accordion ended as it was told to; running jobs run on")
	return nil
}

// onlyOne keeps away a second sidecar for the same cluster that has a journal of its own. A cluster that nobody else can reach
// needs no lock.
func onlyOne(ctx context.Context, c *cluster, journal string) (*alone.Lock, error) {
	if c.identity == nil {
		return &alone.Lock{}, nil
	}
	identity, err := c.identity(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := alone.Beside(alone.Folder, identity, "its journal is "+journal)
	if taken := (*alone.Taken)(nil); errors.As(err, &taken) {
		return nil, fmt.Errorf("another sidecar serves this cluster (%s): process %d, %s; stop that one first", identity, taken.PID, taken.Note)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for another sidecar of this cluster: %w; /run must be writable", err)
	}
	return lock, nil
}

// listen opens what jobs reach the sidecar by.
func listen(conf config.Session, log hclog.Logger) (*session.Server, error) {
	return session.Listen(session.Options{Path: conf.Socket, MaxSessions: conf.MaxSessions, Address: conf.Listen,
		Authority: seal.NewMunge(conf.MungeSocket), Log: log})
}

// fit lets nobody serve a cluster that preflight refuses, unless he insists.
func fit(ctx context.Context, c *cluster, log hclog.Logger, force bool) error {
	found := c.preflight(ctx)
	for _, f := range found {
		switch f.Severity {
		case adapter.Fatal:
			log.Error("preflight: "+f.What, "do", f.Fix)
		case adapter.Warning:
			log.Warn("preflight: "+f.What, "do", f.Fix)
		default:
			log.Info("preflight: " + f.What)
		}
	}
	failed := failures(found)
	switch {
	case failed == 0:
		return nil
	case force:
		log.Warn("serving all the same, for --force was given", "failed", failed)
		return nil
	}
	return errors.New("this cluster is not fit: mend what preflight found (above), or insist with --force")
}

func settingsOf(ctx context.Context, conf config.Config, c *cluster) (managed.Settings, error) {
	name, guard := conf.Cluster, core.Time(conf.Plan.Guard/time.Second)
	var err1, err2 error
	if name == "" {
		name, err1 = c.name(ctx)
	}
	if guard == 0 {
		guard, err2 = c.guard(ctx)
	}
	if err := errors.Join(err1, err2); err != nil {
		return managed.Settings{}, err
	}
	planner, err := c.planner(conf.Plan)
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
		Guard:     guard,
		Overrun: managed.Overrun{
			Share: conf.Overrun.Share, Least: core.Time(conf.Overrun.Least / time.Second),
			Grace: core.Time(conf.Overrun.Grace / time.Second), Signal: conf.Overrun.Signal,
		},
		Advance:  conf.Early.Advance,
		Silent:   managed.Silent{Notice: core.Time(conf.Silent.Notice / time.Second), Signal: conf.Silent.Signal},
		Deadline: c.deadline,
	}
	if c.passes.Policy != nil {
		settings.Passes = c.passes
	}
	return settings, nil
}

// planner is the planning policy with its sizes. What is wrong with it is the user's.
func (c *cluster) planner(conf config.Plan) (queue.Policy, error) {
	planner, err := policy.Live(conf.Policy, conf.Fit())
	if err != nil {
		return nil, command.Usage(err)
	}
	if c.passes.Policy != nil {
		return policy.SizedAs(planner, c.passes), nil
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
	// Both clocks count from midnight UTC.
	return policy.Policy{Policy: planner}.Knowing(&file.Statistics).Policy, nil
}

// together runs all parts until ctx ends or one of them does, then ends the others.
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

func newLogger(conf config.Log, w io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "accordion", Level: hclog.LevelFromString(conf.Level), JSONFormat: conf.Format == "json", Output: w,
	})
}
