package sim

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// TestApplicationsOverTwoClusters does the same as TestPartsOfApplications, but with launchers and
// barriers, and with orders from the real machine of package apps. The loop of applications is killed
// at times.
func TestApplicationsOverTwoClusters(t *testing.T) {
	var all tally
	everySeed(applicationScenarios(), func(i int) {
		seed := *fromFlag + uint64(i)
		for _, w := range runWithLaunchers(t, seed, false, &all) {
			t.Errorf("seed %d: %s", seed, w)
		}
	})
	all.demand(t, applicationScenarios(), minimumKindsWithLaunchers)
}

// TestApplication simulates one scenario of TestApplicationsOverTwoClusters and prints its trace.
func TestApplication(t *testing.T) {
	if *partSeedFlag == 0 {
		t.Skip("prints one scenario: give its seed with -accordion.partseed=N")
	}
	for _, w := range runWithLaunchers(t, *partSeedFlag, true, &tally{}) {
		t.Error(w)
	}
}

// runWithLaunchers simulates two clusters, with applications that have parts on both, and returns violations.
func runWithLaunchers(t *testing.T, seed uint64, tracing bool, all *tally) (wrong []string) {
	synctest.Test(t, func(t *testing.T) {
		r := newGenerator(seed, 0xde1f)
		r.brief = true
		d := &appLoop{dice: dice(seed), tally: all, begin: time.Now(), records: map[int64][]byte{}, peers: map[uint64]*conn{}, in: make(chan func(), 100), ended: make(chan struct{}), stood: map[readyPart]bool{}, forged: map[readyPart]adapter.Key{}, ranks: map[int64]core.Time{}, makes: r.IntN(3) - 1}
		for c := range 2 {
			w := newWorld(clusterScenario(seed, c), tracing)
			w.parts = boxed{mailbox.New()}
			var err error
			if w.system, err = w.machine(); err != nil {
				t.Fatal(err)
			}
			d.clusters = append(d.clusters, w)
		}
		for _, w := range d.clusters {
			w.ordered = d.ended
		}
		for i := range r.between(1, 3) {
			u := &user{loop: d, name: "ada", how: honest, at: r.when(0, 40), nth: i + 1, lasts: r.when(3, 30), walltime: int64(r.long(40, 60))}
			if r.in(2) {
				u.how, u.whim = conducts[r.IntN(len(conducts))], r.when(1, 60)
			}
			if u.how == lying {
				for range 3 {
					u.lies = append(u.lies, lies[r.IntN(len(lies))])
				}
			}
			all.add("launcher: "+string(u.how), 1)
			for c, w := range d.clusters {
				if c == 0 || r.in(2) || i == 0 {
					u.hosts = append(u.hosts, launcher.Hosts{C: c, N: r.between(1, max(1, w.scenario.nodes/2))})
				}
			}
			u.wants = u.hosts
			d.users.Go(u.live)
		}
		over := make(chan struct{})
		if d.clusters[0].scenario.stranger {
			d.users.Go(d.forge) // the loop must not end before the jobs that forge submits, so forge counts as a user
			d.strangers.Go(func() { d.claim(over) })
		}
		go func() { d.users.Wait(); close(over) }()
		go func() { d.run(over); close(d.ended) }()
		var plays sync.WaitGroup
		for _, w := range d.clusters {
			plays.Go(func() { w.runScenario(true) })
		}
		plays.Wait()
		d.strangers.Wait()
		for c, w := range d.clusters {
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
