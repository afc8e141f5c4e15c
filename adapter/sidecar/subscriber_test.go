package sidecar_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"accordion/adapter/embedded"
	"accordion/adapter/view"
)

// keptSnapshots keeps the snapshots that it receives, and their JSON at that time.
type keptSnapshots struct {
	mu        sync.Mutex // the loop runs in another goroutine
	full      bool       // the subscriber wants no more snapshots
	snapshots []*view.Snapshot
	looked    []string
}

func (g *keptSnapshots) WantsSnapshot() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.full
}

func (g *keptSnapshots) Receive(s *view.Snapshot) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.snapshots, g.looked = append(g.snapshots, s), append(g.looked, look(s))
}

// kept returns the snapshots so far. If `full` is true, the subscriber wants no more snapshots.
func (g *keptSnapshots) kept(full bool) ([]*view.Snapshot, []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.full = full
	return slices.Clone(g.snapshots), slices.Clone(g.looked)
}

func look(s *view.Snapshot) string {
	text, err := json.Marshal(s.Queue)
	if err != nil {
		panic(err)
	}
	return fmt.Sprint(string(text), s.Nodes, s.Closed, s.Broken, s.Now, s.Read)
}

// The loop does not change a snapshot after it sent it.
func TestSnapshotsDoNotChangeWhenTheyAreHandedOver(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		g := &keptSnapshots{}
		w.halt()
		w.subscriber = g
		w.serve()
		job := w.evolving("2x20s,5x20s,3x20s")
		w.submit(embedded.JobSpec{Nodes: 14, Limit: 100, Runs: 60})
		w.quiet(300)
		before, _ := g.kept(true)
		w.submit(embedded.JobSpec{Nodes: 1, Limit: 10, Runs: 5})
		w.quiet(360)
		snapshots, looked := g.kept(true)
		if len(snapshots) != len(before) || len(before) < 20 {
			t.Errorf("%d scenes came while some were wanted, %d after", len(before), len(snapshots)-len(before))
		}
		var sizes []string
		waited := false
		for i, s := range snapshots {
			if now := look(s); now != looked[i] {
				t.Fatalf("scene %d was\n%s\nand is\n%s", i, looked[i], now)
			}
			if len(s.Nodes) != 16 || s.Now < s.Read || s.Queue.Cluster != "test" {
				t.Errorf("scene %d: %d nodes, read at %d, now %d, cluster %q", i, len(s.Nodes), s.Read, s.Now, s.Queue.Cluster)
			}
			for k := range s.Queue.Jobs {
				e := &s.Queue.Jobs[k]
				if e.Key() == job && e.Holds() {
					if size := fmt.Sprint(e.Size); len(sizes) == 0 || sizes[len(sizes)-1] != size {
						sizes = append(sizes, size)
					}
				}
				waited = waited || e.Rank > 0
			}
		}
		if got := strings.Join(sizes, " "); got != "2 5 3" || !waited {
			t.Errorf("snapshots show the job on %s nodes, want 2 5 3; a job waits: %v", got, waited)
		}
	})
}

// A snapshot shows that a node is lost, and that plans do not use it.
func TestSubscribersSeeALostNode(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		g := &keptSnapshots{}
		w.halt()
		w.subscriber = g
		w.serve()
		w.at(5)
		if err := w.KillNode("n3"); err != nil {
			t.Fatal(err)
		}
		w.evolving("2x200s,5x20s")
		w.at(150)
		snapshots, _ := g.kept(true)
		last := snapshots[len(snapshots)-1]
		out := 0
		for _, n := range last.Nodes {
			if n.State != "" && n.Out {
				out++
			}
		}
		if out != 1 {
			t.Errorf("nodes are %+v", last.Nodes)
		}
	})
}
