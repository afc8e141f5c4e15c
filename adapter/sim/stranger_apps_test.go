package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter/delegated/apps"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// forge submits, as the stranger, jobs with the marks of other users' applications. Finally it cancels
// these jobs if they still exist.
func (d *appLoop) forge() {
	for n := range 4 {
		time.Sleep(d.dice.span(2*time.Second, 15*time.Second, "forges", n))
		c := n % len(d.clusters)
		w := d.clusters[c]
		key, err := w.submit(embedded.JobSpec{
			Name: stranger, User: stranger, UID: strangerUID, GID: strangerUID, Nodes: 1, Limit: 60, Runs: 30,
			Comment: fmt.Sprint("launch=", 1+d.dice.below(3, "forges for", n)), Managed: n < 2, Hold: true,
		})
		if err != nil {
			w.violation("submission of a stranger's job: %v", err)
			continue
		}
		w.isPart(key)
		d.tally.add("stranger: forged", 1)
		w.note("a stranger's job with an application's mark is %d", key.ID)
		d.tell(func() { d.forged[readyPart{clusterName(c), key.ID}] = key })
	}
}

// claim connects as the stranger, and pretends to be the launcher or a part of other users'
// applications.
func (d *appLoop) claim(over <-chan struct{}) {
	u := &user{loop: d, name: stranger}
	for n := 1; ; n++ {
		select {
		case <-over:
			return
		case <-time.After(d.dice.span(2*time.Second, 10*time.Second, "claims", n)):
		}
		hello := &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, App: int64(1 + d.dice.below(3, "claims app", n))}
		c := d.dice.below(len(d.clusters), "claims on", n)
		if jobs := d.clusters[c].system.Jobs(); n%2 == 0 && len(jobs) > 0 {
			hello.App, hello.Part = 0, &launcher.Part{Cluster: clusterName(c), Job: int64(jobs[d.dice.below(len(jobs), "claims job", n)].ID)}
		}
		d.tally.add("stranger: claimed", 1)
		p := d.connect(u, hello)
		if hello.Part != nil {
			d.send(p, &launcher.Ready{Job: hello.Part.Job})
		}
		for range 1 + n%5 {
			d.send(p, &launcher.Done{})
		}
		d.disbelieved(p, hello)
		d.hangUp(p)
	}
}

// disbelieved checks that the stranger receives only refusals.
func (d *appLoop) disbelieved(p *conn, hello *launcher.Hello) {
	for patience := time.After(5 * time.Second); ; {
		select {
		case x, open := <-p.said:
			if !open {
				return
			}
			if _, refused := x.(*launcher.Refuse); !refused {
				d.clusters[0].violation("a stranger says %+v, part %+v, and is told %s %+v", hello, hello.Part, x.Type(), x)
			}
		case <-patience:
			return
		}
	}
}

// judgeNames checks that no record of an application has a job of the stranger.
func (d *appLoop) judgeNames(r apps.Record) {
	var a struct { // some fields of apps.Application
		ID    int64 `json:"id"`
		Parts []struct {
			Cluster string     `json:"cluster"`
			Job     core.JobID `json:"job"`
		} `json:"parts"`
	}
	if json.Unmarshal(r.Data, &a) != nil {
		return
	}
	for _, p := range a.Parts {
		key, forged := d.forged[readyPart{p.Cluster, p.Job}]
		if !forged {
			continue
		}
		for c, w := range d.clusters { // after a restart, the batch system may have given the number of the application's job to a job of the stranger
			if j, err := w.system.Inspect(context.Background(), key); clusterName(c) == p.Cluster && err == nil && j.User == stranger && len(w.restarts) == 0 {
				w.violation("application %d has a stranger's job %d for its part", r.ID, p.Job)
			}
		}
	}
}

// TestStrangerIsInScenariosOfApplications simulates scenarios of applications in which the stranger
// takes part, and checks that the stranger's messages and jobs were counted often enough.
func TestStrangerIsInScenariosOfApplications(t *testing.T) {
	var all tally
	for seed := uint64(5); seed <= 100; seed += 5 {
		for _, wrong := range runWithLaunchers(t, seed, false, &all) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
	for kind, least := range map[string]int{"stranger: forged": 40, "stranger: claimed": 60} {
		if all.counts[kind] < least {
			t.Errorf("%q was there %d times, want %d; there were %v", kind, all.counts[kind], least, strings.Join(all.kinds(), ", "))
		}
	}
}
