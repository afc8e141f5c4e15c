package serve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/metrics"
	"accordion/adapter/readers"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/adapter/status"
	"accordion/adapter/systemd"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	statuscommand "accordion/cmd/accordion/status"
	"accordion/core"
	"accordion/core/policy"
	"accordion/shim/seal"
)

// instance is one cluster that is served.
type instance struct {
	conf    config.Config
	insist  insistence
	log     hclog.Logger
	connect func(context.Context, config.Config, hclog.Logger) (*cluster.Cluster, error) // cluster.Connect, or a replacement in tests
	among   *clusterSet                                                                  // the other clusters; nil if there are none

	delegate  *config.Delegate                       // nil if no launchers are served
	launchers func(cluster string) session.Launchers // serves launchers' sessions on this cluster; nil if none are served
	parts     func(sidecar.PartsHost) sidecar.Parts  // schedules the jobs of launchers' applications; nil if none are served
	counted   *metrics.Applications                  // served with the cluster's own metrics; nil if there is none
	service   *systemd.Service                       // nil if systemd is not notified

	journal *journal.Journal  // nil if not open
	cluster string            // its name, as the batch system returned it
	logged  []adapter.Finding // findings that are already in the log
}

// prepared is a sidecar that is ready to run. Everything that it owns is open.
type prepared struct {
	parts  []func(context.Context) error
	ends   []func()
	begins func() // logs that the sidecar starts
	log    hclog.Logger
}

// begin opens everything that is needed to serve. Its error is an *adapter.NoAnswerError if the batch system does not
// answer.
func (p *instance) begin(ctx context.Context) (*prepared, error) {
	// The journal comes first, because its lock excludes a second sidecar with the same journal before anything else
	// is changed.
	if p.journal == nil {
		j, err := journal.Open(p.conf.Journal.Path)
		if err != nil {
			return nil, err
		}
		p.journal = j
	}
	s := &prepared{}
	if err := p.prepare(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// leave closes the journal.
func (p *instance) leave() {
	if p.journal != nil {
		p.journal.Close()
		p.journal = nil
	}
}

// prepare opens the sidecar's parts and connects them to each other.
func (p *instance) prepare(ctx context.Context, s *prepared) error {
	c, err := p.connect(ctx, p.conf, p.log)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, c.Close)
	if err := p.check(ctx, c); err != nil {
		return err
	}
	lock, err := cluster.OnlyOne(ctx, c, p.journal.Path())
	if err != nil {
		return err
	}
	s.ends = append(s.ends, func() { lock.Release() })
	settings, err := settingsOf(ctx, p.conf, c)
	if err != nil {
		return err
	}
	if p.parts != nil {
		if err := cluster.LaunchersBeside(c.Passes); err != nil {
			return command.Usage(err)
		}
	}
	p.cluster = settings.Cluster
	if err := p.among.enter(p, settings.Cluster); err != nil {
		return err
	}
	lease, err := c.LeaseFor(p.journal.Path(), p.conf.Lease.Length)
	if err != nil {
		return err
	}
	lease.Claim.Over = p.insist.takeOver
	return s.wire(p, sidecar.Options{System: c.System, Clock: cluster.ClockOf(p.conf), Journal: p.journal, Log: p.log, Lease: lease, Settings: settings, Parts: p.parts}, c.Pool, c.Hides)
}

// wire connects a new sidecar and its servers.
func (s *prepared) wire(p *instance, o sidecar.Options, pool string, hides func(context.Context) (adapter.Hidden, error)) error {
	var loop *sidecar.Sidecar // set before any session is served
	reading := p.reading(hides)
	reading.Reset = func(ctx context.Context, user string) (bool, error) { return loop.ResetUnused(ctx, user) }
	answers := readers.New(reading)
	s.ends = append(s.ends, answers.Close)
	server, err := p.listen(answers)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, server.Close)
	instruments, err := openInstruments(p.conf, p.journal, p.counted, p.delegate, p.applicationOf, p.log)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, func() { instruments.close() })
	o.Calls, o.Meter, o.Subscriber = server.Calls(), instruments.meter, instruments.subscriber
	loop = sidecar.New(o)
	s.log, s.parts = o.Log, append(instruments.parts, server.Serve, p.service.Watch("the sidecar of cluster "+o.Settings.Cluster, loop.Alive, loop.Run),
		func(ctx context.Context) error { return p.journal.KeepFor(ctx, p.conf.Journal.Keep, time.Hour) },
		func(ctx context.Context) error { return p.journal.WatchWAL(ctx, walPause, reportWAL(o.Log)) },
		func(ctx context.Context) error {
			return readers.KeepState(ctx, p.conf.Session.Socket, o.Settings.Cluster, loop.Alive, func(err error) {
				o.Log.Error("write sidecar state for users failed", "error", err)
			})
		})
	s.begins = func() {
		o.Log.Info("accordion serves", "version", command.Version(), "cluster", o.Settings.Cluster, "pool", pool, "sizes", policy.SizesOf(o.Settings.Policy), "journal", p.journal.Path(),
			"socket", p.conf.Session.Socket, "addresses", server.Addresses())
	}
	return nil
}

// run runs the sidecar until ctx ends.
func (s *prepared) run(ctx context.Context) error {
	s.begins()
	if err := together(ctx, s.parts...); err != nil {
		return err
	}
	s.log.Info("accordion stopped; running jobs continue")
	return nil
}

// close closes everything in reverse order.
func (s *prepared) close() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}

// clusterName returns the cluster's name in the configuration, otherwise its name in the batch system.
func (p *instance) clusterName() string { return cmp.Or(p.conf.Cluster, p.cluster) }

// applicationOf returns the application to which a job belongs, or nil if there is none.
func (p *instance) applicationOf(job core.JobID, request string) (*status.ApplicationExplanation, error) {
	return statuscommand.ApplicationOf(p.delegate, p.conf.Session.Socket, p.clusterName(), job, request)
}

// walPause is the time between two checks of a journal's write-ahead log.
const walPause = 15 * time.Second

// reportWAL returns a function that logs when a journal's write-ahead log cannot be emptied, and when it can again.
func reportWAL(log hclog.Logger) func(error) {
	return func(err error) {
		if err != nil {
			log.Error("journal grows", "error", err)
		} else {
			log.Info("journal has its usual size again")
		}
	}
}

// reading returns the options of the readers, which answer users who may not open the journal.
func (p *instance) reading(hides func(context.Context) (adapter.Hidden, error)) readers.Options {
	o := readers.Options{Journal: p.journal.Path(), Name: session.NewUserNames(session.LookupUser).Name, Hides: hides, Log: p.log.Named("readers")}
	if p.delegate != nil {
		o.Applications = p.delegate.Journal
	}
	return o
}

// listen opens the sockets for jobs, users and, if they are served, launchers.
func (p *instance) listen(answers session.Readers) (*session.Server, error) {
	conf := p.conf.Session
	o := session.Options{Readers: answers, Path: conf.Socket, MaxSessions: conf.MaxSessions, Address: conf.Listen, Authority: seal.NewMunge(conf.MungeSocket), Log: p.log.Named("session")}
	if p.launchers != nil {
		o.Launchers = p.launchers(p.clusterName())
	}
	return session.Listen(o)
}

// errUnfit is the error if preflight finds that the cluster is not fit to be served.
var errUnfit = errors.New("this cluster is not fit: mend what preflight found (above), or insist with --force")

// check returns an error if preflight refuses the cluster, unless --force is given.
func (p *instance) check(ctx context.Context, c *cluster.Cluster) error {
	found := c.Preflight(ctx)
	p.logFindings(found)
	failed := adapter.Failures(found)
	switch {
	case failed == 0:
		return nil
	case p.insist.force:
		p.log.Warn("serving despite failed checks because of --force", "failed", failed)
		return nil
	case slices.ContainsFunc(found, func(f adapter.Finding) bool { return f.Severity == adapter.Unanswered }):
		return &adapter.NoAnswerError{Err: errUnfit}
	}
	return errUnfit
}

// logFindings logs the findings of preflight, unless they are the same as before.
func (p *instance) logFindings(found []adapter.Finding) {
	if slices.Equal(found, p.logged) {
		return
	}
	p.logged = found
	for _, f := range found {
		switch f.Severity {
		case adapter.Fatal, adapter.Unanswered:
			p.log.Error("preflight: "+f.What, "do", f.Fix)
		case adapter.Warning:
			p.log.Warn("preflight: "+f.What, "do", f.Fix)
		default:
			p.log.Info("preflight: " + f.What)
		}
	}
}
