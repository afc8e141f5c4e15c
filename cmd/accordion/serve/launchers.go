package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/config"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/loop"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/orders"
	"accordion/adapter/delegated/server"
	"accordion/adapter/metrics"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/cmd/accordion/cluster"
	"accordion/core"
)

func init() { openLaunchers = openLauncherService }

// launcherService serves launchers over all clusters of a process. It has their sessions, which the servers of the
// clusters hand over, and the loop that owns their applications.
type launcherService struct {
	settings config.Delegate
	journal  *loop.Journal
	server   *server.Server
	boxes    []*mailbox.Mailbox // mailboxes, in the order of the instances
	meter    loop.Meter
	log      hclog.Logger
	end      func() // ends the sessions
}

// openLauncherService opens what launchers need, and prepares each instance for them.
func openLauncherService(ctx context.Context, settings config.Delegate, instances []*instance, log hclog.Logger) (launchers, error) {
	journal, err := loop.Open(settings.Journal)
	if err != nil {
		return nil, fmt.Errorf("open the journal of applications ([delegate] journal): %w", err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // sessions end with the loop, not before it
	o := &launcherService{settings: settings, journal: journal, log: log, end: end}
	sessions := server.Options{Log: log}
	if a := counted(instances); a != nil {
		o.meter, sessions.Meter = a, a
	}
	o.server = server.New(life, sessions)
	for _, p := range instances {
		box := mailbox.New()
		o.boxes = append(o.boxes, box)
		p.parts = func(h sidecar.PartsHost) sidecar.Parts { return orders.New(box, h) }
		p.launchers = func(cluster string) session.Launchers { return o.server.Of(cluster, nil) }
	}
	return o, nil
}

// counted returns the metrics of applications, and makes the first cluster that serves metrics serve them too. If each cluster served them,
// they would be counted several times. It returns nil if no cluster serves metrics.
func counted(instances []*instance) *metrics.Applications {
	for _, p := range instances {
		if p.conf.Metrics.Listen != "" {
			p.counted = metrics.NewApplications(named(instances)...)
			return p.counted
		}
	}
	return nil
}

// named returns the cluster names in the configurations. The names of other clusters are known later.
func named(instances []*instance) []string {
	var names []string
	for _, p := range instances {
		if p.conf.Cluster != "" {
			names = append(names, p.conf.Cluster)
		}
	}
	return names
}

// leave ends the sessions and closes the journal.
func (o *launcherService) leave() {
	o.end()
	o.journal.Close()
}

// guardOfParts is added to the time limits of applications' batch jobs, unless a cluster's configuration has a longer
// guard.
const guardOfParts = time.Minute

// run serves launchers over the clusters, whose names are known by now, until ctx ends.
func (o *launcherService) run(ctx context.Context, conf config.Clusters, instances []*instance) error {
	defer o.end() // without the loop, sessions would never end, and the socket's server would wait for them forever
	options := loop.Options{Events: o.server.Events(), Journal: o.journal, Clock: cluster.ClockOf(conf.All[0].Config), Log: o.log, Meter: o.meter}
	guard, perUser, kept := guardOfParts, 0, time.Duration(0)
	for i, p := range instances {
		m := conf.All[i]
		options.Clusters = append(options.Clusters, loop.Cluster{Mailbox: o.boxes[i], Cluster: apps.Cluster{
			Name: p.clusterName(), Site: m.Site, Speed: m.Speed, Attrs: m.Attrs, Embedded: p.conf.System == config.SystemEmbedded,
		}})
		guard = max(guard, p.conf.Plan.Guard)
		kept = max(kept, p.conf.Journal.Keep)
		perUser += session.PerUser(p.conf.Session.MaxSessions)
	}
	for _, l := range conf.Links {
		options.Links = append(options.Links, apps.Link{Between: l.Between, Latency: l.Latency, Bandwidth: l.Bandwidth})
	}
	s := o.settings
	options.Settings = apps.Settings{FairStart: seconds(s.FairStart), Timer: seconds(s.Timer), Applications: s.Applications, Answer: seconds(s.Answer),
		Grace: seconds(s.Grace), BringUp: seconds(s.BringUp), Guard: seconds(guard), PerUser: perUser, Pace: float64(conf.All[0].Config.Pace())}
	o.log.Info("launchers are served", "clusters", len(instances), "journal", s.Journal)
	running := loop.New(options)
	return together(ctx, instances[0].service.Watch("the loop of launchers", running.Alive, running.Run), func(ctx context.Context) error { return o.journal.KeepFor(ctx, kept, time.Hour) },
		func(ctx context.Context) error { return o.journal.WatchWAL(ctx, walPause, reportWAL(o.log)) })
}

// seconds returns whole seconds, rounded up.
func seconds(d time.Duration) core.Time { return core.Time((d + time.Second - 1) / time.Second) }
