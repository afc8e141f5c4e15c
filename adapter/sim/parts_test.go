package sim

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/orders"
	"accordion/adapter/embedded"
	"accordion/adapter/sidecar"
	"accordion/core"
	"accordion/core/sched"
)

var (
	partsFlag    = flag.Int("accordion.parts", 100, "how many scenarios of applications over two clusters to simulate, from -accordion.from on; with a script in place of launchers a tenth, but 40 of them")
	partSeedFlag = flag.Uint64("accordion.partseed", 0, "simulate this one scenario of applications and print its trace (test Part)")
)

// applicationScenarios returns how many scenarios of applications to simulate.
func applicationScenarios() int {
	if *longFlag {
		return 100_000
	}
	return *partsFlag
}

func init() {
	kindsOfApplications = []kind{
		{"TestApplicationsOverTwoClusters", 1, func(t *testing.T, seed uint64) []string { return runWithLaunchers(t, seed, false, &tally{}) }},
		{"TestPartsOfApplications", 10, func(t *testing.T, seed uint64) []string { return runBoth(t, bothScenarios(seed), false, &tally{}) }},
	}
}

// TestPartsOfApplications simulates two clusters, each with its users, faults and sidecar, and
// applications with parts on both. An orderScript gives the orders, including some that the loop of
// applications would not give. All checks of other scenarios apply to each cluster. In addition, no
// part may run without an order to start it, or on other nodes than those that were prepared. Nothing
// may be left of a part when there is no order for it any more.
func TestPartsOfApplications(t *testing.T) {
	var all tally
	n := max(applicationScenarios()/10, min(applicationScenarios(), 40))
	everySeed(n, func(i int) {
		seed := *fromFlag + uint64(i)
		for _, wrong := range runBoth(t, bothScenarios(seed), false, &all) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	})
	all.demand(t, n, minimumKinds)
}

// TestPart simulates one scenario of TestPartsOfApplications and prints its trace.
func TestPart(t *testing.T) {
	if *partSeedFlag == 0 {
		t.Skip("prints one scenario: give its seed with -accordion.partseed=N")
	}
	for _, wrong := range runBoth(t, bothScenarios(*partSeedFlag), true, &tally{}) {
		t.Error(wrong)
	}
}

// clusterScenario returns the scenario of one of the two clusters (0 or 1) for a seed.
func clusterScenario(seed uint64, cluster int) *scenario {
	r := newGenerator(seed*2+uint64(cluster), 0xacc0)
	r.brief = true
	s := r.tell(seed*2 + uint64(cluster))
	s.paired, s.sqlite, s.stranger = false, false, seed%5 == 0
	if dice(s.seed).chance(500, "rest", cluster) { // on half of the clusters readings are rare while nothing is due, as at real sites
		s.rest = 5 * time.Second
	}
	return s
}

// bothScenarios returns the scenarios of both clusters for a seed.
func bothScenarios(seed uint64) []*scenario {
	return []*scenario{clusterScenario(seed, 0), clusterScenario(seed, 1)}
}

// runBoth simulates both clusters with an orderScript, and returns violations.
func runBoth(t *testing.T, scenarios []*scenario, tracing bool, all *tally) (wrong []string) {
	synctest.Test(t, func(t *testing.T) {
		var clusters []*world
		for _, s := range scenarios {
			w := newWorld(s, tracing)
			w.parts = boxed{mailbox.New()}
			var err error
			if w.system, err = w.machine(); err != nil {
				t.Fatal(err)
			}
			clusters = append(clusters, w)
		}
		script := newScript(scenarios[0].seed, clusters)
		done := make(chan struct{})
		go func() { script.run(); close(done) }()
		for _, w := range clusters {
			w.ordered = done
		}
		var plays sync.WaitGroup
		for _, w := range clusters {
			plays.Go(func() { w.runScenario(true) })
		}
		plays.Wait()
		script.judge()
		for c, w := range clusters {
			all.take(w)
			for _, line := range w.wrong {
				wrong = append(wrong, fmt.Sprintf("cluster %d: %s", c, line))
			}
			if tracing {
				t.Logf("cluster %d: %v\n%s", c, w.scenario, traceOf(w))
			}
		}
	})
	return wrong
}

// traceOf returns the trace of a cluster.
func traceOf(w *world) string {
	var b strings.Builder
	for _, l := range w.trace {
		if !strings.Contains(l.text, "journal: view") && !strings.Contains(l.text, "journal: queue") {
			fmt.Fprintln(&b, l)
		}
	}
	for _, r := range w.system.Jobs() {
		b.WriteString(w.lifeOf(r))
	}
	return b.String()
}

// boxed has the mailbox from which the sidecars of a world take orders for parts.
type boxed struct{ *mailbox.Mailbox }

// New returns a sidecar.Parts that carries out the orders in the mailbox.
func (b boxed) New(h sidecar.PartsHost) sidecar.Parts { return orders.New(b.Mailbox, h) }

// box returns the mailbox of a world that has parts of applications.
func (w *world) box() *mailbox.Mailbox { return w.parts.(boxed).Mailbox }

// orderScript gives orders for the parts of some applications. It replaces launchers and the loop of applications, with as little logic
// as possible.
type orderScript struct {
	dice     dice
	begin    time.Time
	clusters []*world
	all      []*application
	crew     sync.WaitGroup // running users
	ordered  map[*world][]mailbox.Order
}

// application is an application with a part on each of its clusters.
type application struct {
	id       int64
	at       time.Duration // when the application subscribes
	lasts    time.Duration // how long the application runs after its parts have passed the barrier
	walltime core.Time
	parts    []*appPart
	state    string // wait, prepare, start, run, drop, end, ghost, gone
	since    time.Time
	tries    int
	until    core.Time // when the ghost ends
	ghost    bool
	gives    int           // number of tries after which the application gives up
	vanishes time.Duration // when the orders for the application disappear; 0 if they stay until it has ended
}

// appPart is the part of an application on one cluster.
type appPart struct {
	world *world
	made  bool // whether the cluster itself submits the part's job
	job   adapter.Key
	nodes int
	spans []grant
}

// grant is an order to start a part, with the time in which the order was in force, and the nodes that
// were prepared for the part.
type grant struct {
	from, to time.Time // to is zero while the order is in force
	nodes    []string
}

func newScript(seed uint64, clusters []*world) *orderScript {
	r := newGenerator(seed, 0xde1e)
	r.brief = true
	s := &orderScript{dice: dice(seed), begin: time.Now(), clusters: clusters, ordered: map[*world][]mailbox.Order{}}
	for i := range r.between(1, 3) {
		a := &application{
			id: int64(i + 1), at: r.when(0, 40), lasts: r.when(1, 30), walltime: core.Time(r.long(10, 40)), state: "wait", ghost: r.in(2), gives: r.between(2, 6),
		}
		if r.in(4) {
			a.vanishes = r.when(5, 80)
		}
		only := r.IntN(3)
		for c, w := range clusters {
			if only < 2 && only != c && r.in(2) {
				continue
			}
			a.parts = append(a.parts, &appPart{world: w, made: r.in(3), nodes: r.between(1, max(1, w.scenario.nodes/2))})
		}
		s.all = append(s.all, a)
	}
	return s
}

// run gives orders until every application has ended.
func (s *orderScript) run() {
	for left := true; left; time.Sleep(s.dice.span(200*time.Millisecond, 400*time.Millisecond, "orders", int(time.Since(s.begin)/time.Millisecond))) {
		left = false
		for _, a := range s.all {
			if time.Since(s.begin) >= a.at && a.state != "gone" {
				s.advance(a)
			}
			left = left || a.state != "gone"
		}
		for _, w := range s.clusters {
			if all := s.orders(w); s.ordered[w] == nil || !slices.Equal(all, s.ordered[w]) { // like the loop of applications, send the orders only when they change
				s.ordered[w] = all
				w.box().Order(slices.Clone(all))
			}
		}
	}
	s.crew.Wait()
}

// submit submits the jobs of an application.
func (s *orderScript) submit(a *application) {
	for i, p := range a.parts {
		if p.made {
			continue
		}
		name := fmt.Sprint("a", a.id, " ", i)
		key, err := p.world.submit(embedded.JobSpec{
			Name: name, User: "ada", UID: 1000, GID: 1000, Nodes: 1, Limit: 60, Runs: core.Time(a.lasts/time.Second) + 3,
			Comment: fmt.Sprint("launch=", a.id), Managed: s.dice.chance(500, "plug-in", i), Hold: true,
		})
		if err != nil {
			p.world.violation("submission of %s: %v", name, err)
		}
		p.job = key
		p.world.isPart(key)
		p.world.note("%s is job %d", name, key.ID)
	}
}

// standing returns how far the part's present order has been carried out. It returns false if the cluster has not reported that yet.
func (a *application) standing(p *appPart) (mailbox.Standing, bool) {
	b := p.world.box().State()
	if b == nil {
		return mailbox.Standing{}, false
	}
	for _, s := range b.Parts {
		if s.Application == a.id && s.Job == p.job.ID && s.Try == a.tries {
			return s, true
		}
	}
	return mailbox.Standing{}, false
}

// stand reports whether all parts, and whether some part, are at one of the given stages.
func (a *application) stand(stand ...mailbox.Stand) (all, some bool) {
	all = true
	for _, p := range a.parts {
		s, known := a.standing(p)
		is := known && slices.Contains(stand, s.Stand)
		all, some = all && is, some || is
	}
	return all, some
}

// longestWait is the longest time from the start of an application's wait until its end. Before the application, other jobs may run one
// after the other, each until its limit.
const longestWait = 900 * time.Second

// advance moves an application to its next state, if it can.
func (s *orderScript) advance(a *application) {
	become := func(state string) {
		for _, p := range a.parts {
			p.world.note("application %d: %s", a.id, state)
		}
		if a.state == "start" || a.state == "run" || a.state == "ghost" {
			s.grant(a, state)
		}
		a.state, a.since = state, time.Now()
	}
	if a.since.IsZero() {
		s.submit(a)
		a.since = time.Now()
	}
	lasted := time.Since(a.since)
	if late := time.Since(s.begin) > longestWait; a.vanishes > 0 && time.Since(s.begin) > a.vanishes || late && lasted > 120*time.Second {
		if late {
			for _, p := range a.parts {
				p.world.violation("application %d is still in state %s: %+v", a.id, a.state, p.world.box().State().Parts)
			}
		}
		become("gone")
		s.cancel(a)
		return
	}
	calm := time.Since(s.begin) > s.clusters[0].scenario.calm+30*time.Second
	_, over := a.stand(mailbox.Over)
	switch a.state {
	case "wait":
		switch {
		case over || a.tries >= a.gives || calm && a.tries > 0:
			become("end")
		case lasted > s.dice.span(time.Second, 12*time.Second, fmt.Sprint("wait ", a.id), a.tries) && (s.fits(a) || lasted > 30*time.Second && s.dice.chance(200, fmt.Sprint("blind ", a.id), a.tries)):
			a.tries++
			become("prepare")
		}
	case "prepare":
		ready, _ := a.stand(mailbox.Prepared)
		_, refused := a.stand(mailbox.Refused, mailbox.Over)
		switch {
		case refused || lasted > 12*time.Second || ready && s.dice.chance(200, fmt.Sprint("drop ", a.id), a.tries):
			become("drop")
		case ready:
			for _, p := range a.parts {
				st, _ := a.standing(p)
				p.spans = append(p.spans, grant{from: time.Now(), nodes: st.Nodes})
			}
			become("start")
		}
	case "start":
		runs, _ := a.stand(mailbox.Running)
		_, refused := a.stand(mailbox.Refused)
		switch {
		case runs:
			become("run")
		case refused || over || lasted > 45*time.Second || s.dice.chance(20, fmt.Sprint("give up ", a.id), int(lasted/time.Second)):
			become("drop")
		}
	case "run":
		switch {
		case over:
			become("end")
		case lasted > a.lasts && a.ghost:
			a.until = time.Now().Unix() + 10
			become("ghost")
		case lasted > a.lasts:
			become("end")
		}
	case "ghost":
		if lasted > 12*time.Second {
			become("end")
		}
	case "drop":
		if clean, _ := a.stand(mailbox.Waiting, mailbox.Over); clean {
			become("wait")
		}
	case "end":
		if ended, _ := a.stand(mailbox.Over); ended {
			become("gone")
		}
	}
}

// fits reports whether, according to the clusters' newest states, enough nodes are free for all parts now.
func (s *orderScript) fits(a *application) bool {
	for _, p := range a.parts {
		if p.estimate(s.rank(a), a.limit()) > time.Now().Unix() {
			return false
		}
	}
	return true
}

// limit returns the time limit of the application's batch jobs.
func (a *application) limit() core.Time { return a.walltime + 40 }

// rank returns the Unix second at which an application subscribed.
func (s *orderScript) rank(a *application) core.Time { return s.begin.Add(a.at).Unix() }

// estimate returns when, according to the cluster's newest state, enough nodes will be free for a part. It ignores other applications.
func (p *appPart) estimate(rank, walltime core.Time) core.Time {
	b, now := p.world.box().State(), time.Now().Unix()
	if b == nil || b.Hosts < p.nodes {
		return core.Forever
	}
	state := b.Local.State.Clone().(sched.Viewer)
	for _, j := range b.Local.Waiting {
		if j.Rank < rank { // jobs that were submitted in the second of the application's rank come after the application
			state.Submit(now, j.Job)
		}
	}
	at, ok := state.View(now).FirstFit(p.nodes, walltime, now)
	if !ok {
		return core.Forever
	}
	return at
}

// grant records that the orders to start the parts of an application end, unless its next state continues them.
func (s *orderScript) grant(a *application, next string) {
	if next == "run" || next == "ghost" {
		return
	}
	for _, p := range a.parts {
		p.spans[len(p.spans)-1].to = time.Now()
	}
}

// cancel ends the jobs of an application for which there are no more orders, as its user would do. It
// ends some jobs later than others.
func (s *orderScript) cancel(a *application) {
	for _, p := range a.parts {
		if !p.made {
			s.crew.Go(func() {
				time.Sleep(s.dice.span(0, 20*time.Second, "cancel", int(a.id)))
				_ = p.world.system.Cancel(p.job)
			})
		}
	}
}

var wantOf = map[string]mailbox.Want{
	"wait": mailbox.Wait, "prepare": mailbox.Prepare, "start": mailbox.Start, "run": mailbox.Run, "drop": mailbox.Drop, "end": mailbox.End, "ghost": mailbox.Ghost,
}

// orders returns the orders for the parts of all applications on a cluster.
func (s *orderScript) orders(w *world) []mailbox.Order {
	all := []mailbox.Order{}
	for _, a := range s.all {
		if a.since.IsZero() || a.state == "gone" {
			continue
		}
		for _, p := range a.parts {
			if p.world != w {
				continue
			}
			at := core.Forever
			if s.dice.chance(700, fmt.Sprint("estimate ", a.id), a.tries) {
				at = p.estimate(s.rank(a), a.limit())
			}
			all = append(all, mailbox.Order{
				Application: a.id, Job: p.job.ID, User: "ada", Want: wantOf[a.state], Try: a.tries, Rank: s.rank(a),
				Hosts: p.nodes, Walltime: a.walltime, Limit: a.limit(), At: at, By: a.since.Unix() + a.limit(), Until: a.until,
				Why: "its application wants it so",
			})
		}
	}
	return all
}

// orderLag is how long after the change of an order to start a part may still begin, because a call for the old order is in progress.
const orderLag = 6 * time.Second

// judge checks that no part ran without an order to start it, or on other nodes than those that were prepared.
func (s *orderScript) judge() {
	for _, a := range s.all {
		for _, p := range a.parts {
			for _, r := range p.world.system.Jobs() {
				if application, ok := adapter.LaunchOf(&r.Job); !ok || application != a.id || r.Start.IsZero() {
					continue
				}
				s.judgeRun(a, p, r)
			}
		}
	}
}

func (s *orderScript) judgeRun(a *application, p *appPart, r embedded.Record) {
	w, late := p.world, orderLag
	if w.scenario.rate > 0 { // a call may be carried out after its caller has given up
		late += 2*deadline + 5*time.Second
	}
	if w.scenario.deaths > 0 || slices.ContainsFunc(w.scenario.events, func(e event) bool { return e.what == "kill" }) {
		late += 60 * time.Second // until the next sidecar runs, no process undoes what a dead sidecar began
	}
	if len(w.restarts) > 0 {
		return // the batch system may have forgotten a hold
	}
	i := slices.IndexFunc(p.spans, func(g grant) bool {
		return !r.Start.Before(g.from) && (g.to.IsZero() || r.Start.Before(g.to.Add(late)))
	})
	if i < 0 {
		w.violation("job %d of application %d began at %v, and no order to start it stood: %v", r.ID, a.id, r.Start.Sub(s.begin), p.spans)
		return
	}
	for _, span := range r.Spans {
		if !slices.ContainsFunc(p.spans, func(g grant) bool { return !r.Start.Before(g.from) && slices.Contains(g.nodes, span.Node) }) {
			w.violation("job %d of application %d ran on %s, and %v were prepared", r.ID, a.id, span.Node, p.spans)
		}
	}
}

func TestBrokenCarrierOfOrdersIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name string
		saboteur
		found string
	}{
		{"it forgets to delete reservations", saboteur{unreserve: true}, "left over: reservation accordion-app-"},
		{"it forgets to end parts", saboteur{finish: true}, "is still in state"},
		{"it lets parts go when they are prepared", saboteur{hasty: true}, "no order to start it stood"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 100
			for seed := uint64(1); seed <= most; seed++ {
				var scenarios []*scenario
				for cluster := range 2 {
					s := clusterScenario(seed, cluster)
					s.rate, s.deaths, s.events = 0, 0, nil
					s.apps = slices.DeleteFunc(s.apps, func(a app) bool { return a.request != "" })
					s.sabotage = func(b adapter.BatchSystem) adapter.BatchSystem {
						broken := c.saboteur
						broken.BatchSystem, broken.shrunk = b, map[adapter.Key][]string{}
						return &broken
					}
					scenarios = append(scenarios, s)
				}
				if strings.Contains(strings.Join(runBoth(t, scenarios, false, &tally{}), "\n"), c.found) {
					return
				}
			}
			t.Errorf("not noticed in %d scenarios", most)
		})
	}
}
