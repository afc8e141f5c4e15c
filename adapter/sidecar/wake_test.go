package sidecar_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/embedded"
	"accordion/core"
)

// sleepy is a batch system that powers all nodes down but one, and lets those boot that are woken.
type sleepy struct {
	adapter.BatchSystem
	boot core.Time
	up   string // that one; "": n1

	lock  sync.Mutex
	woken map[string]time.Time
	early []string // expanders on nodes that did not run
}

func (s *sleepy) BootTime() core.Time { return s.boot }

func (s *sleepy) Wake(_ context.Context, nodes []string) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, n := range nodes {
		if s.woken[n].IsZero() {
			s.woken[n] = time.Now()
		}
	}
	return nil
}

func (s *sleepy) asleep(node string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	at := s.woken[node]
	return node != cmp.Or(s.up, "n1") && (at.IsZero() || time.Since(at) < time.Duration(s.boot)*time.Second)
}

func (s *sleepy) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	snapshot, err := s.BatchSystem.Observe(ctx)
	if err == nil {
		for i := range snapshot.Nodes {
			snapshot.Nodes[i].Asleep = s.asleep(snapshot.Nodes[i].Name)
		}
	}
	return snapshot, err
}

func (s *sleepy) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	for _, n := range nodes {
		if s.asleep(n) {
			s.early = append(s.early, n)
		}
	}
	return s.BatchSystem.Expand(ctx, job, nodes, reservation)
}

func TestPoweredDownNodesAreWokenAheadOfTheStepThatNeedsThem(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		system := &sleepy{BatchSystem: w.System, boot: 40, woken: map[string]time.Time{}}
		w.outer = system
		w.serve()
		job := w.evolving("1x90s,3x20s")
		w.quiet(200)
		if got := w.steps(job); got != "1 3" {
			t.Errorf("it ran on %q nodes, want 1, then 3", got)
		}
		if len(system.early) > 0 {
			t.Errorf("it was expanded by %v before they had booted", system.early)
		}
		grew := time.Time{}
		for _, span := range w.record(job).Spans {
			if span.Node != "n1" {
				grew = span.From
			}
		}
		if late := grew.Sub(w.begin); late > 100*time.Second {
			t.Errorf("it grew %v after its submission, and was to be one node for 90s", late)
		}
		if len(system.woken) != 2 {
			t.Errorf("woken: %v, want the two nodes of the growth", system.woken)
		}
		for n, at := range system.woken {
			if ahead := grew.Sub(at); ahead < 40*time.Second || ahead > 60*time.Second {
				t.Errorf("%s was woken %v ahead of the growth, and boots for 40s", n, ahead)
			}
		}
		w.clean()
	})
}

// A pass counts on nodes that are up now, and those that sleep are woken for parts as for jobs.
func TestPoweredDownNodesAreWokenForPartsOfApplications(t *testing.T) {
	servingParts(t, embedded.Options{Nodes: 4}, func(w *world) {
		w.halt()
		system := &sleepy{BatchSystem: w.System, boot: 40, up: "n3", woken: map[string]time.Time{}}
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
			w.parts.Order([]mailbox.Order{o})
		}
		if !starts {
			t.Error("a minute later no pass starts it")
		}
		if len(system.woken) != 1 {
			t.Errorf("woken: %v, want one node beside the one that is up", system.woken)
		}
		o.Want, o.Try = mailbox.Prepare, 2
		w.order(o, mailbox.Prepared)
		w.parts.Order(nil)
		_ = w.Cancel(key)
		time.Sleep(2 * time.Minute)
	})
}
