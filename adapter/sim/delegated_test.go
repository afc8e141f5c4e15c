package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/part"
	"accordion/shim/wire/launcher"
)

// TestApplicationsOverTwoClusters: the same as TestPartsOfApplications, but who gives the orders is the loop of applications, with
// launchers and barriers. It is killed as well.
func TestApplicationsOverTwoClusters(t *testing.T) {
	var went atomic.Int64
	everySeed(shares(), func(i int) {
		seed := *fromFlag + uint64(i)
		wrong, n := delegated(t, seed, false)
		for _, w := range wrong {
			t.Errorf("seed %d: %s", seed, w)
		}
		went.Add(int64(n))
	})
	t.Logf("%d applications were let go", went.Load())
	if went.Load() == 0 {
		t.Error("no application was let go: the stories tell nothing")
	}
}

// TestApplication tells one such story in full.
func TestApplication(t *testing.T) {
	if *partSeedFlag == 0 {
		t.Skip("tells one story in full: give its seed with -accordion.partseed=N")
	}
	wrong, _ := delegated(t, *partSeedFlag, true)
	for _, w := range wrong {
		t.Error(w)
	}
}

// delegated lets the story of both clusters happen, with applications over both.
func delegated(t *testing.T, seed uint64, tracing bool) (wrong []string, went int) {
	synctest.Test(t, func(t *testing.T) {
		r := teller{rand.New(rand.NewPCG(seed, 0xde1f))}
		d := &desk{dice: dice(seed), begin: time.Now(), records: map[int64][]byte{}, peers: map[uint64]*cable{}, in: make(chan func(), 100), makes: r.IntN(3) - 1}
		for c := range 2 {
			w := newWorld(shared(seed, c), tracing)
			w.parts = part.NewMailbox()
			var err error
			if w.system, err = w.machine(); err != nil {
				t.Fatal(err)
			}
			d.clusters = append(d.clusters, w)
		}
		done := make(chan struct{})
		for _, w := range d.clusters {
			w.ordered = done
		}
		for i := range r.between(1, 3) {
			u := &user{desk: d, name: "ada", at: r.when(0, 40), nth: i + 1, lasts: r.when(3, 30), walltime: int64(r.between(40, 60))}
			for c, w := range d.clusters {
				if c == 0 || r.in(2) || i == 0 {
					u.hosts = append(u.hosts, launcher.Hosts{C: c, N: r.between(1, max(1, w.story.nodes/2))})
				}
			}
			d.users.Go(u.live)
		}
		over := make(chan struct{})
		go func() { d.users.Wait(); close(over) }()
		go func() { d.run(over); close(done) }()
		var plays sync.WaitGroup
		for _, w := range d.clusters {
			plays.Go(func() { w.play(true) })
		}
		plays.Wait()
		for c, w := range d.clusters {
			for _, line := range w.wrong {
				wrong = append(wrong, fmt.Sprintf("cluster %d: %s", c, line))
			}
			if tracing {
				t.Logf("cluster %d: %v\n%s", c, w.story, traceOf(w))
			}
		}
		went = d.went
	})
	return wrong, went
}

// user is somebody with a launcher.
type user struct {
	desk     *desk
	name     string
	at       time.Duration
	nth      int
	hosts    []launcher.Hosts
	walltime int64
	lasts    time.Duration
	app      int64
	jobs     map[int]adapter.Key
	tag      int64
	gone     bool
}

// live is the launcher, from its first hello until its application is over.
func (u *user) live() {
	d := u.desk
	time.Sleep(u.at)
	u.jobs = map[int]adapter.Key{}
	for try := 0; !u.gone; try++ {
		hello := &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, Name: fmt.Sprint("u", u.nth), App: u.app}
		p := d.connect(u.name, hello)
		u.talk(p)
		if try > 50 {
			d.clusters[0].blame("the launcher of application %d came back 50 times", u.app)
			break
		}
		time.Sleep(d.dice.span(time.Second, 3*time.Second, fmt.Sprint("back ", u.nth), try))
	}
	for c, key := range u.jobs { // as launch does when it is interrupted
		_ = d.clusters[c].system.Cancel(key)
	}
}

// talk is one session.
func (u *user) talk(p *cable) {
	d := u.desk
	var leave <-chan time.Time
	gives := time.After(time.Until(d.begin.Add(d.clusters[0].story.calm + 120*time.Second)))
	for {
		select {
		case x, open := <-p.said:
			if !open {
				return
			}
			if g, ok := x.(*launcher.Go); ok && g != nil && u.made() {
				leave = time.After(u.lasts)
			}
			u.hear(p, x)
		case <-leave:
			leave = nil
			d.send(p, u.name, &launcher.Done{})
			u.gone = true
		case <-gives:
			d.note("the launcher of %d gives up", u.app)
			d.send(p, u.name, &launcher.Done{Code: 1})
			u.gone = true
		}
	}
}

// made says whether all parts are made by their cluster.
func (u *user) made() bool {
	return !slices.ContainsFunc(u.hosts, func(h launcher.Hosts) bool { return h.C != u.desk.makes })
}

func (u *user) hear(p *cable, x launcher.Message) {
	d := u.desk
	switch x := x.(type) {
	case *launcher.Welcome:
		if u.app == 0 {
			u.app = x.App
			var jobs []launcher.Part
			for _, h := range u.hosts {
				if h.C != d.makes {
					jobs = append(jobs, launcher.Part{Cluster: clusterName(h.C), Job: u.submit(h.C)})
				}
			}
			d.send(p, u.name, &launcher.Subscribe{Jobs: jobs})
		}
	case *launcher.Change:
		if u.tag == 0 && len(x.All) > 0 {
			u.tag++
			d.send(p, u.name, &launcher.Request{View: x.View, Tag: u.tag, Hosts: u.hosts, Walltime: u.walltime})
			return
		}
		d.send(p, u.name, &launcher.Ack{View: x.View})
	case *launcher.Lost: // it may come again, and the word of the job in its place may be lost
		job := int64(u.jobs[x.C].ID)
		if job == x.Job {
			job = u.submit(x.C)
		}
		d.send(p, u.name, &launcher.Parts{Jobs: []launcher.Part{{Cluster: clusterName(x.C), Job: job}}})
	case *launcher.Done, *launcher.End:
		u.gone = true
	case *launcher.Refuse:
		d.note("refused: %+v", x)
		switch x.Code {
		case launcher.CodeUnknown, launcher.CodeJob, launcher.CodeHosts:
			u.gone = true
			d.hangUp(p)
			go func() { d.in <- func() { safeClose(p) } }()
		}
	}
}

// safeClose has a session's reader end.
func safeClose(p *cable) {
	defer func() { _ = recover() }() // it is closed
	close(p.said)
}

// submit submits the job of a part.
func (u *user) submit(c int) int64 {
	w := u.desk.clusters[c]
	key, err := w.system.Submit(embedded.JobSpec{
		Name: fmt.Sprint("u", u.nth), User: u.name, UID: 1000, GID: 1000, Nodes: 1, Limit: 60, Comment: fmt.Sprint("launch=", u.app),
		Managed: u.nth%2 == 0, Hold: true, Script: u.part(c),
	})
	if err != nil {
		w.blame("submission for application %d: %v", u.app, err)
	}
	u.jobs[c] = key
	w.note("application %d has job %d", u.app, key.ID)
	return int64(key.ID)
}

// part is what runs in a job: the barrier, work, and the word that it is done.
func (u *user) part(c int) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		d, w := u.desk, u.desk.clusters[c]
		for try := 0; ; try++ {
			p := d.connect(u.name, &launcher.Hello{Version: launcher.Version, Speaks: []int{launcher.Version}, Part: &launcher.Part{Cluster: clusterName(c), Job: int64(h.Job().ID)}})
			d.send(p, u.name, &launcher.Ready{Job: int64(h.Job().ID)})
			again, err := u.barrier(ctx, p, c, h)
			d.hangUp(p)
			if !again {
				return err
			}
			if err := h.Work(ctx, d.dice.span(time.Second, 2*time.Second, fmt.Sprint("barrier ", w.story.seed, h.Job().ID), try)); err != nil {
				return err
			}
		}
	}
}

func (u *user) barrier(ctx context.Context, p *cable, c int, h *embedded.Handle) (again bool, err error) {
	d, w := u.desk, u.desk.clusters[c]
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case x, open := <-p.said:
			if !open {
				return true, nil
			}
			switch x := x.(type) {
			case *launcher.Abort, *launcher.Refuse:
				return false, errBroken
			case *launcher.Go:
				u.begins(x, c, h)
				if err := h.Work(ctx, u.lasts); err != nil {
					return false, err
				}
				w.note("the part of application %d on job %d is done", u.app, h.Job().ID)
				d.send(p, u.name, &launcher.Done{})
				_ = h.Work(ctx, 2*time.Second)
				return false, nil
			}
		}
	}
}

// begins looks, at the first line of a part, that it has the nodes that its application was told.
func (u *user) begins(g *launcher.Go, c int, h *embedded.Handle) {
	w := u.desk.clusters[c]
	for i, on := range g.Hosts {
		if g.Names[i] != clusterName(c) {
			continue
		}
		told, has := slices.Sorted(slices.Values(on.Hosts)), slices.Sorted(slices.Values(h.Nodes()))
		if !slices.Equal(told, has) && len(w.restarts) == 0 {
			w.blame("job %d of application %d has %v, and was told %v", h.Job().ID, u.app, has, told)
		}
		return
	}
	w.blame("job %d of application %d was let through, and has no part in it: %+v", h.Job().ID, u.app, g)
}
