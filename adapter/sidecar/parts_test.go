package sidecar_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/orders"
	"accordion/adapter/embedded"
	"accordion/adapter/sidecar"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/moldable"
)

// partsWorld is a world whose sidecar carries out the orders in box.
type partsWorld struct {
	*world
	box *mailbox.Mailbox
}

// servingParts runs a test in a partsWorld.
func servingParts(t *testing.T, o embedded.Options, story func(w *partsWorld)) {
	inWorld(t, o, func(in *world) {
		in.halt()
		w := &partsWorld{world: in, box: mailbox.New()}
		w.parts = func(h sidecar.PartsHost) sidecar.Parts { return orders.New(w.box, h) }
		w.outer = w.System // the batch system is one that submits jobs for parts, too
		w.serve()
		story(w)
	})
}

// order gives an order, waits until the order has reached the state `stand`, and returns its
// standing.
func (w *partsWorld) order(o mailbox.Order, stand mailbox.Stand) mailbox.Standing {
	w.t.Helper()
	w.box.Order([]mailbox.Order{o})
	var last mailbox.Standing
	for range 600 {
		time.Sleep(100 * time.Millisecond)
		for _, s := range w.box.State().Parts {
			if last = s; s.Stand == stand && s.Try == o.Try && s.Job == o.Job {
				return s
			}
		}
	}
	w.t.Fatalf("a minute after order %+v it stands %+v", o, last)
	return last
}

func (w *partsWorld) second() core.Time { return time.Now().Unix() }

// reservations returns the names of all reservations.
func (w *partsWorld) reservations() (all []string) {
	s, err := w.Observe(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range s.Reservations {
		all = append(all, r.Name)
	}
	return all
}

// shown fails the test unless status and the queue show the only part as delegated, in the given
// phase.
func (w *partsWorld) shown(phase string) {
	w.t.Helper()
	report, err1 := status.Read(w.journal)
	queue, err2 := status.ReadQueue(w.journal)
	if err := errors.Join(err1, err2); err != nil || len(report.Jobs) != 1 || len(queue.Jobs) != 1 {
		w.t.Fatalf("error %v; in status %+v, in the queue %+v", err, report.Jobs, queue.Jobs)
	}
	if j, e := report.Jobs[0], queue.Jobs[0]; j.Kind != view.Delegated || e.Kind != view.Delegated || j.Phase != phase || e.Phase != phase || j.Start == 0 || e.Start == 0 {
		w.t.Errorf("it is %s, and shown as %+v and %+v", phase, j, e)
	}
}

func TestAPartIsPreparedStartedAndEndedByOrders(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 8, Epilog: time.Second}, func(w *partsWorld) {
		key, err := w.Submit(embedded.JobSpec{User: "ada", Nodes: 1, Limit: 60, Comment: "launch=7", Hold: true, Runs: 500})
		if err != nil {
			t.Fatal(err)
		}
		o := mailbox.Order{
			Application: 7, Job: key.ID, User: "ada", Want: mailbox.Wait, Rank: w.second(), Hosts: 3, Walltime: 100, Limit: 150, At: w.second() + 10,
		}
		w.order(o, mailbox.Waiting)
		time.Sleep(3 * time.Second)
		if jobs := w.box.State().Jobs; len(jobs) != 1 || jobs[0].ID != key.ID || jobs[0].Application != 7 {
			t.Errorf("the state shows the jobs %+v", jobs)
		}
		if j, _ := w.Inspect(t.Context(), key); j.Mark != "accordion:launch=7" || !j.Held || j.HeldByUser {
			t.Errorf("waiting it is %+v: not adopted", j)
		}
		if got := w.reservations(); !slices.Equal(got, []string{"accordion-app-7"}) {
			t.Errorf("reservations ahead: %v", got)
		}
		w.shown("waiting")
		o.Want, o.Try = mailbox.Prepare, 1
		ready := w.order(o, mailbox.Prepared)
		if j, _ := w.Inspect(t.Context(), key); j.Want != 3 || j.Limit != 150 || j.Reservation != "" || !j.Held || len(ready.Nodes) != 3 {
			t.Errorf("prepared on %v it is %+v: it is not to be tied yet", ready.Nodes, j)
		}
		w.halt()
		w.serve() // the new sidecar finds the prepared part
		if again := w.order(o, mailbox.Prepared); !slices.Equal(again.Nodes, ready.Nodes) {
			t.Errorf("after a restart it is prepared on %v, and was on %v", again.Nodes, ready.Nodes)
		}
		o.Want, o.By = mailbox.Start, w.second()+150
		if runs := w.order(o, mailbox.Running); !slices.Equal(runs.Nodes, ready.Nodes) || runs.Since == 0 {
			t.Errorf("prepared on %v, it runs as %+v", ready.Nodes, runs)
		}
		time.Sleep(5 * time.Second)
		w.shown("running")
		if j, _ := w.Inspect(t.Context(), key); j.Reservation != "" || w.reservations() != nil {
			t.Errorf("it runs, and is tied to %q; there are the reservations %v", j.Reservation, w.reservations())
		}
		o.Want, o.Until = mailbox.Ghost, w.second()+20
		w.order(o, mailbox.Ghosted)
		if err := w.Cancel(key); err != nil {
			t.Error(err)
		}
		if _, err := w.Submit(embedded.JobSpec{User: "bob", Nodes: 8, Limit: 60, Runs: 5}); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Second)
		for _, r := range w.System.Jobs() {
			if r.User == "bob" && r.State != adapter.Pending {
				t.Error("another job runs on the nodes of a ghost")
			}
		}
		o.Want = mailbox.End
		if over := w.order(o, mailbox.Over); over.Since == 0 {
			t.Errorf("over: %+v", over)
		}
		w.box.Order(nil)
		time.Sleep(5 * time.Second)
		if got := w.reservations(); got != nil {
			t.Errorf("left over: %v", got)
		}
		time.Sleep(30 * time.Second)
	})
}

func TestAPreparationThatIsDroppedOrForgottenLeavesNothing(t *testing.T) {
	for name, drop := range map[string]func(w *partsWorld, o mailbox.Order){
		"dropped":   func(w *partsWorld, o mailbox.Order) { o.Want = mailbox.Drop; w.order(o, mailbox.Waiting) },
		"forgotten": func(w *partsWorld, _ mailbox.Order) { w.box.Order(nil); time.Sleep(5 * time.Second) },
		"started, and dropped before it ran": func(w *partsWorld, o mailbox.Order) {
			o.Want = mailbox.Start
			w.order(o, mailbox.Starting)
			o.Want = mailbox.Drop
			w.order(o, mailbox.Waiting)
		},
	} {
		for _, made := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				servingParts(t, embedded.Options{Nodes: 4, PassDelay: 5 * time.Second}, func(w *partsWorld) {
					o := mailbox.Order{Application: 7, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 2, Walltime: 100, Limit: 150}
					if !made {
						key, err := w.Submit(embedded.JobSpec{User: "ada", Nodes: 1, Limit: 60, Comment: "launch=7", Hold: true, Runs: 500})
						if err != nil {
							t.Fatal(err)
						}
						o.Job = key.ID
					}
					w.order(o, mailbox.Prepared)
					drop(w, o)
					if got := w.reservations(); got != nil {
						t.Errorf("left over: %v", got)
					}
					time.Sleep(2 * time.Minute)
					for _, r := range w.System.Jobs() {
						if !r.Start.IsZero() || made && r.State != adapter.Done || !made && !r.Held {
							t.Errorf("of the preparation is left %+v", r)
						}
					}
					w.box.Order(nil)
					_ = w.Cancel(adapter.Key{ID: o.Job, Submitted: w.begin.Unix()})
				})
			})
		}
	}
}

func TestAPartIsRefusedWithTheReason(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 4}, func(w *partsWorld) {
		if _, err := w.Submit(embedded.JobSpec{User: "bob", Nodes: 3, Limit: 60, Runs: 60}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		o := mailbox.Order{Application: 7, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 2, Walltime: 10, Limit: 20}
		if s := w.order(o, mailbox.Refused); s.Why == "" || s.Nodes != nil {
			t.Errorf("refused: %+v", s)
		}
		o.Try, o.Hosts = 2, 5
		if s := w.order(o, mailbox.Refused); !strings.Contains(s.Why, "place") {
			t.Errorf("refused: %+v", s)
		}
		b := w.box.State()
		if b.Hosts != 4 || b.Read < w.second()-2 {
			t.Errorf("the state is %+v", b)
		}
		if at, _ := b.Local.State.View(w.second()).FirstFit(2, 10, w.second()); at < w.begin.Unix()+60 {
			t.Errorf("the state shows two free nodes from second %d on", at-w.begin.Unix())
		}
		o.Want, o.Hosts = mailbox.Drop, 1
		w.order(o, mailbox.Waiting)
		w.box.Order(nil)
		time.Sleep(2 * time.Minute)
	})
}

// passes returns the second at which a pass of the algorithm over the cluster's state would start a
// request, and whether that second is now.
func (w *partsWorld) passes(hosts int, walltime core.Time) (at core.Time, starts bool) {
	w.t.Helper()
	b, now := w.box.State(), w.second()
	rms := delegated.New([]int{b.Hosts}, delegated.Options{Timer: 1}, &delegated.Indexed{})
	_, err1 := rms.Subscribe(now, 7)
	err2 := rms.Request(now, 7, moldable.Request{Parts: []moldable.Part{{Hosts: hosts}}, Walltime: walltime})
	err3 := rms.Local(now, 0, b.Local)
	_, err4 := rms.Wake(now)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		w.t.Fatal(err)
	}
	if rms.State(7) == delegated.Started {
		return now, true
	}
	return rms.Estimate(7), false
}

// Enough nodes are free in each second, but no node is free for as long as the part needs. A pass
// starts only parts that can be prepared.
func TestAPassStartsWhatTheClusterCanNameNodesFor(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 4}, func(w *partsWorld) {
		if _, err := w.Submit(embedded.JobSpec{User: "bob", Nodes: 1, Limit: 100, Runs: 100}); err != nil { // this job runs on n1
			t.Fatal(err)
		}
		if err := w.Reserve(t.Context(), adapter.Reservation{Name: "maintenance", Nodes: []string{"n2"}, Start: w.second() + 200, End: w.second() + 900, User: "root"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		o := mailbox.Order{Application: 7, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 3, Walltime: 250, Limit: 300}
		at, starts := w.passes(3, 300)
		if starts {
			t.Errorf("a pass starts it at once, and its cluster says %+v", w.order(o, mailbox.Refused))
		} else if after := at - w.begin.Unix(); after < 100 || after > 150 {
			t.Errorf("a pass estimates it %d s after the beginning, want at the end of the ordinary job", after)
		}
		if _, starts := w.passes(2, 300); !starts {
			t.Error("two nodes are free for long, and a pass does not start a part on them")
		}
		for range 60 {
			if _, starts = w.passes(3, 300); starts {
				break
			}
			time.Sleep(5 * time.Second)
		}
		if o.Try = 2; !starts || w.second() >= w.begin.Unix()+200 {
			t.Errorf("%d s after the beginning: a pass starts it: %v", w.second()-w.begin.Unix(), starts)
		}
		w.order(o, mailbox.Prepared)
		o.Want = mailbox.Drop
		w.order(o, mailbox.Waiting)
		w.box.Order(nil)
		time.Sleep(2 * time.Minute)
	})
}

// A part that runs past its walltime is planned to end immediately, but still has its nodes.
// Another part gets the idle nodes.
func TestAPartIsPreparedOnIdleNodes(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 4}, func(w *partsWorld) {
		late := mailbox.Order{Application: 7, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 2, Walltime: 20, Limit: 300}
		w.order(late, mailbox.Prepared)
		late.Want, late.By = mailbox.Start, w.second()+20
		held := w.order(late, mailbox.Running)
		late.Want = mailbox.Run
		w.box.Order([]mailbox.Order{late})
		time.Sleep(40 * time.Second)
		next := mailbox.Order{Application: 8, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 2, Walltime: 20, Limit: 100}
		w.box.Order([]mailbox.Order{late, next})
		time.Sleep(5 * time.Second)
		for _, s := range w.box.State().Parts {
			if s.Application == 8 && (s.Stand != mailbox.Prepared || slices.ContainsFunc(s.Nodes, func(n string) bool { return slices.Contains(held.Nodes, n) })) {
				t.Errorf("next to one that runs late on %v it is %+v", held.Nodes, s)
			}
		}
		w.box.Order([]mailbox.Order{{Application: 7, User: "ada", Want: mailbox.End, Try: 1, Why: "late"}})
		time.Sleep(2 * time.Minute)
		w.box.Order(nil)
		time.Sleep(2 * time.Minute)
	})
}

// A pass assumes nodes that are powered on. Nodes that are powered down are booted for parts as
// they are for jobs.
func TestPoweredDownNodesAreWokenForPartsOfApplications(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 4}, func(w *partsWorld) {
		w.halt()
		system := &poweredDown{BatchSystem: w.System, boot: 40, up: "n3", woken: map[string]time.Time{}}
		w.outer = system
		w.serve()
		time.Sleep(3 * time.Second)
		if _, starts := w.passes(1, 100); !starts {
			t.Error("one node is up, and a pass does not start a part on it")
		}
		if at, starts := w.passes(2, 100); starts || at > w.second()+40 {
			t.Errorf("one node is up: a pass starts a part of two: %v, or estimates it %d s from now", starts, at-w.second())
		}
		key, err := w.Submit(embedded.JobSpec{User: "ada", Nodes: 1, Limit: 60, Comment: "launch=7", Hold: true, Runs: 500})
		if err != nil {
			t.Fatal(err)
		}
		o := mailbox.Order{Application: 7, Job: key.ID, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 1, Walltime: 100, Limit: 150, At: w.second()}
		if one := w.order(o, mailbox.Prepared); len(one.Nodes) != 1 || one.Nodes[0] != "n3" {
			t.Errorf("prepared on %v, and n3 is up", one.Nodes)
		}
		o.Want = mailbox.Drop
		w.order(o, mailbox.Waiting)
		o.Want, o.Hosts = mailbox.Wait, 2
		starts := false
		for asked := w.second(); !starts && w.second() <= asked+60; time.Sleep(time.Second) {
			o.At, starts = w.passes(2, 100)
			w.box.Order([]mailbox.Order{o})
		}
		if !starts {
			t.Error("a minute later no pass starts it")
		}
		if len(system.woken) != 1 {
			t.Errorf("woken: %v, want one node besides the one that runs", system.woken)
		}
		o.Want, o.Try = mailbox.Prepare, 2
		w.order(o, mailbox.Prepared)
		w.box.Order(nil)
		_ = w.Cancel(key)
		time.Sleep(2 * time.Minute)
	})
}

func TestAPartThatIsCanceledWhileNoSidecarRunsIsReportedAsFailed(t *testing.T) {
	for name, end := range map[string]struct {
		by     func(w *partsWorld, key adapter.Key)
		failed bool
	}{
		"cancelled":       {func(w *partsWorld, key adapter.Key) { _ = w.Cancel(key) }, true},
		"over by itself":  {func(*partsWorld, adapter.Key) { time.Sleep(time.Minute) }, false},
		"still in epilog": {func(w *partsWorld, key adapter.Key) { _ = w.Cancel(key); w.serve(); time.Sleep(time.Second); w.halt() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			servingParts(t, embedded.Options{Nodes: 4, Epilog: 5 * time.Second}, func(w *partsWorld) {
				key, err := w.Submit(embedded.JobSpec{User: "ada", Nodes: 1, Limit: 60, Comment: "launch=7", Hold: true, Runs: 50})
				if err != nil {
					t.Fatal(err)
				}
				o := mailbox.Order{
					Application: 7, Job: key.ID, Submitted: key.Submitted, User: "ada", Want: mailbox.Prepare, Try: 1, Rank: w.second(), Hosts: 2, Walltime: 100, Limit: 150,
				}
				w.order(o, mailbox.Prepared)
				o.Want, o.By = mailbox.Start, w.second()+150
				w.order(o, mailbox.Running)
				o.Want = mailbox.Run
				w.order(o, mailbox.Running)
				w.halt()
				end.by(w, key)
				time.Sleep(20 * time.Second)
				w.box = mailbox.New()
				w.serve()
				if over := w.order(o, mailbox.Over); over.Failed != end.failed {
					t.Errorf("failed: %t, want %t: %+v", over.Failed, end.failed, over)
				}
			})
		})
	}
}
