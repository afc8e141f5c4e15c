package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/embedded"
	"accordion/adapter/session"
	"accordion/core"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// A stranger is a hostile user of the cluster. She speaks for others' jobs, and submits jobs with
// the mark of others' applications. She claims to be their launcher or a part of them, and floods.
const (
	stranger    = "eve"
	strangerUID = 2000
)

// pester has the stranger ask for the nodes of others' jobs until all is calm: now and then, and at times with many calls at once. Each
// answer has to be a refusal.
func (w *world) pester() {
	for n := 1; time.Since(w.begin) < w.story.calm; n++ {
		time.Sleep(w.dice.span(500*time.Millisecond, 5*time.Second, "stranger", n))
		jobs := w.system.Jobs()
		if len(jobs) == 0 {
			continue
		}
		calls := 1
		if w.dice.chance(100, "stranger floods", n) {
			calls = 50
		}
		for i := range calls {
			key := jobs[w.dice.below(len(jobs), fmt.Sprint("stranger asks ", i), n)].Key
			w.crew.Go(func() { w.impersonate(key.ID, wire.Request{Job: int64(key.ID), Step: 1 + i%3}) })
		}
	}
}

// impersonate asks for a job's next step as the stranger.
func (w *world) impersonate(id core.JobID, q wire.Request) {
	answer, gone := make(chan wire.Reply, 1), make(chan struct{})
	defer close(gone)
	call := session.Call{Request: q, UID: strangerUID, Gone: gone, Answer: func(p wire.Reply) {
		select {
		case answer <- p:
		default:
		}
	}}
	patience := time.After(30 * time.Second)
	select {
	case w.calls <- call:
	case <-patience:
		return // no sidecar is there
	}
	select {
	case p := <-answer:
		if p.Status != wire.Refused && p.Status != wire.Busy || p.Nodes != "" {
			w.blame("a stranger speaks for job %d, and is answered %+v", id, p)
		}
	case <-patience:
		if l := w.lifeNow(); l != nil && !l.over() {
			w.blame("a stranger who speaks for job %d is not answered", id)
		}
	}
}

// lifeNow returns the life of the present sidecar.
func (w *world) lifeNow() *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life
}

// forge submits, as the stranger, jobs that bear the marks of others' applications, and cancels
// those that still exist in the end.
func (d *desk) forge() {
	for n := range 4 {
		time.Sleep(d.dice.span(2*time.Second, 15*time.Second, "forges", n))
		c := n % len(d.clusters)
		w := d.clusters[c]
		key, err := w.submit(embedded.JobSpec{
			Name: stranger, User: stranger, UID: strangerUID, GID: strangerUID, Nodes: 1, Limit: 60, Runs: 30,
			Comment: fmt.Sprint("launch=", 1+d.dice.below(3, "forges for", n)), Managed: n < 2, Hold: true,
		})
		if err != nil {
			w.blame("submission of a stranger's job: %v", err)
			continue
		}
		w.isPart(key)
		d.tally.add("stranger: forged", 1)
		w.note("a stranger's job with an application's mark is %d", key.ID)
		d.tell(func() { d.forged[stood{clusterName(c), key.ID}] = key })
	}
}

// claim pretends, as the stranger, to be a launcher of others' applications, or a part of them.
func (d *desk) claim(over <-chan struct{}) {
	u := &user{desk: d, name: stranger}
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

// disbelieved checks that the stranger receives refusals only.
func (d *desk) disbelieved(p *cable, hello *launcher.Hello) {
	for patience := time.After(5 * time.Second); ; {
		select {
		case x, open := <-p.said:
			if !open {
				return
			}
			if _, refused := x.(*launcher.Refuse); !refused {
				d.clusters[0].blame("a stranger says %+v, part %+v, and is told %s %+v", hello, hello.Part, x.Type(), x)
			}
		case <-patience:
			return
		}
	}
}

// judgeNames checks that no application names a stranger's job.
func (d *desk) judgeNames(r apps.Record) {
	var a struct { // of apps.Application
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
		key, forged := d.forged[stood{p.Cluster, p.Job}]
		if !forged {
			continue
		}
		for c, w := range d.clusters { // a batch system that restarted may have given the number of the application's own job again
			if j, err := w.system.Inspect(context.Background(), key); clusterName(c) == p.Cluster && err == nil && j.User == stranger && len(w.restarts) == 0 {
				w.blame("application %d has a stranger's job %d for its part", r.ID, p.Job)
			}
		}
	}
}

// judgeForged checks that no job of the stranger's began.
func (w *world) judgeForged() {
	for _, r := range w.system.Jobs() {
		if r.Job.User == stranger && !r.Start.IsZero() && adapter.IsPart(&r.Job) && len(w.restarts) == 0 {
			w.blame("a stranger's job %d with an application's mark began", r.ID)
		}
	}
}

// strange returns the seed's story with a stranger in it.
func strange(seed uint64) *story {
	s := tell(seed)
	s.stranger = true
	return s
}

// TestAStrangerWhoSpeaksForOthersJobsIsRefusedAndChangesNothing tells stories with a hostile user in them. All that is demanded of a story
// is demanded anyway.
func TestAStrangerWhoSpeaksForOthersJobsIsRefusedAndChangesNothing(t *testing.T) {
	everySeed(60, func(i int) {
		seed := *fromFlag + uint64(i)
		for _, wrong := range try(t, strange(seed)) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	})
}

// TestAStrangerIsInStoriesOfApplications checks that the stories of applications have the hostile
// user in them.
func TestAStrangerIsInStoriesOfApplications(t *testing.T) {
	var all tally
	for seed := uint64(5); seed <= 100; seed += 5 {
		for _, wrong := range overTwoClusters(t, seed, false, &all) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
	for kind, least := range map[string]int{"stranger: forged": 40, "stranger: claimed": 60} {
		if all.counts[kind] < least {
			t.Errorf("%q was there %d times, want %d; there were %v", kind, all.counts[kind], least, strings.Join(all.kinds(), ", "))
		}
	}
}
