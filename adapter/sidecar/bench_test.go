package sidecar

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/sched"
)

// size has the numbers of jobs and nodes of a cluster.
type size struct{ waiting, running, nodes int }

// crowded returns a sidecar that has just read a cluster with 90 % of its nodes in use. Every
// eighth running job and every seventh waiting job is managed. If there are too few nodes, the last
// ordinary jobs share theirs.
func crowded(b testing.TB, size size) *Sidecar {
	j, err := journal.Open(filepath.Join(b.TempDir(), "journal.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	return crowdedOn(b, size, j)
}

// crowdedOn does what `crowded` does, with the journal j.
func crowdedOn(b testing.TB, size size, j actions.Journal) *Sidecar {
	s := New(Options{Journal: j, Settings: managed.Settings{
		Cluster: "crowd", Interval: time.Second, Policy: sched.Repeated{}, StartLead: 4, Protect: 16, Guard: 60, Round: 45,
		Overrun: managed.Overrun{Share: 0.1, Least: 30}, Deadline: time.Second,
	}})
	now := time.Now().Unix()
	snapshot := &adapter.Snapshot{At: time.Now()}
	busy := size.nodes * 9 / 10
	for i := range size.nodes {
		snapshot.Nodes = append(snapshot.Nodes, adapter.Node{Name: fmt.Sprintf("n%d", i+1), Usable: true, Idle: i >= busy})
	}
	node := 0
	for i := range size.running {
		job := adapter.Job{Key: adapter.Key{ID: core.JobID(i + 1), Submitted: now - 5000 + int64(i)}, User: "ada", State: adapter.Running, Limit: 3600 + int64(i%50)*60, Started: now - int64(i)}
		for range 1 + i%2 + i%3/2 {
			if node < busy {
				job.Nodes = append(job.Nodes, snapshot.Nodes[node].Name)
				node++
			}
		}
		if job.Nodes == nil {
			job.Nodes = []string{snapshot.Nodes[i*7%busy].Name}
		} else if i%8 == 0 {
			job.Mark = fmt.Sprintf("%sep=%dx2h,%dx1h,%dx3h", adapter.MarkPrefix, len(job.Nodes), len(job.Nodes)+3, len(job.Nodes)+1)
		}
		snapshot.Jobs = append(snapshot.Jobs, job)
	}
	for i := range size.waiting {
		job := adapter.Job{Key: adapter.Key{ID: core.JobID(size.running + 501 + i), Submitted: now - int64(size.waiting) + int64(i)}, User: "bob", State: adapter.Pending, Want: 1 + i%40, Limit: 600 + int64(i%100)*60}
		if i%7 == 0 {
			job.Held, job.Mark = true, fmt.Sprintf("%sep=%dx1h,%dx30m,%dx2h", adapter.MarkPrefix, 1+i%40, 10+i%60, 1+i%9)
		}
		snapshot.Jobs = append(snapshot.Jobs, job)
	}
	s.readings.begun = 1
	if err := s.absorb(reading{number: 1, snapshot: snapshot}); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkCycle measures one cycle of a crowded cluster. The cycle neither reads the batch system
// (BenchmarkParse in slurm measures that) nor makes calls. The bound for a cycle is 250 ms.
// docs/performance.md has figures.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []size{{8, 4, 64}, {2_000, 500, 1_000}, {10_000, 2_000, 1_000}, {10_000, 2_000, 5_000}} {
		b.Run(fmt.Sprintf("waiting=%d/running=%d/nodes=%d", size.waiting, size.running, size.nodes), func(b *testing.B) {
			s := crowded(b, size)
			b.ReportAllocs()
			begin := processorTime(b)
			for b.Loop() {
				if err := turn(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processorTime(b)-begin).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// turn runs one cycle, which makes no calls.
func turn(s *Sidecar) error {
	s.time.last = s.time.clock.Now()
	v := plan.Make(s.input())
	v.Wanted()
	return s.publisher.Publish(v)
}

// The quickest of several rounds counts, because other programs and the garbage collector disturb
// it least.
func TestACycleOfACrowdedClusterFitsItsBound(t *testing.T) {
	s := crowded(t, size{2_000, 500, 1_000})
	bound, quickest := 200*time.Millisecond, time.Hour
	if raceDetector {
		bound *= 10
	}
	for range 5 {
		begin := processorTime(t)
		s.time.last = s.time.clock.Now()
		v := plan.Make(s.input())
		v.Wanted()
		quickest = min(quickest, processorTime(t)-begin)
	}
	if quickest > bound {
		t.Errorf("a cycle takes %v of processor time; with reading Slurm's answers it must stay under 250 ms", quickest)
	}
}

// nullJournal is a journal that keeps nothing.
type nullJournal struct{ actions.Journal }

func (nullJournal) Put(journal.Record, ...journal.Event) error { return nil }
func (nullJournal) Event(journal.Event) error                  { return nil }
func (nullJournal) Delete(_, _ int64) error                    { return nil }
func (nullJournal) PutView([]byte) error                       { return nil }
func (nullJournal) PutQueue([]byte) error                      { return nil }

// The sidecar may use 250 MiB with 10,000 waiting and 2,000 running jobs. The jobs' records and the
// plan use a part of that; Slurm's answers, the journal and garbage need the rest.
func TestACycleOfAVeryLargeClusterFitsItsBounds(t *testing.T) {
	held := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	s := crowdedOn(t, size{10_000, 2_000, 5_000}, nullJournal{})
	bound, quickest := time.Second, time.Hour
	if raceDetector {
		bound *= 10
	}
	for range 3 {
		begin := processorTime(t)
		if err := turn(s); err != nil {
			t.Fatal(err)
		}
		quickest = min(quickest, processorTime(t)-begin)
	}
	if quickest > bound {
		t.Errorf("a cycle takes %v of processor time, want less than %v", quickest, bound)
	}
	live := held() - before
	if live > 100<<20 {
		t.Errorf("the sidecar holds %d MiB, want at most 100", live>>20)
	}
	t.Logf("a cycle takes %v of processor time, the sidecar holds %d MiB", quickest, live>>20)
	runtime.KeepAlive(s)
}
