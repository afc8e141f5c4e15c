package malleable

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/sched"
)

// begun returns a machine of 10 nodes on which job 1 has started. Job 1 is malleable: it requests 8 nodes for 1000 s, can have 2 to
// 10 nodes, has a resize point every 100 s and loses 10 s by a resize.
func begun(t *testing.T) sched.Resizer {
	t.Helper()
	s := Policy{Patient: sched.Patient{Factor: 2, Most: 86400}}.New(core.Machine{Nodes: 10}).(sched.Resizer)
	s.Submit(0, core.Job{ID: 1, Choices: []core.EP{{{Duration: 1000, Nodes: 8}}}, Range: &core.Range{Min: 2, Max: 10, Every: 100, Cost: 10}})
	expect(t, s, 0, core.Start{Job: 1, Nodes: 8, Begins: true})
	return s
}

// rigid submits a job that is not malleable.
func rigid(s sched.State, now core.Time, id core.JobID, nodes int, seconds core.Time) {
	s.Submit(now, core.Job{ID: id, Submit: now, Choices: []core.EP{{{Duration: seconds, Nodes: nodes}}}})
}

// expect checks which jobs start now.
func expect(t *testing.T, s sched.State, now core.Time, want ...core.Start) {
	t.Helper()
	if d := cmp.Diff(want, s.Starts(now, nil)); d != "" {
		t.Fatalf("at %d (-want +got)\n%s", now, d)
	}
}

// point checks which size job 1 gets at a resize point.
func point(t *testing.T, s sched.Resizer, now core.Time, want int) {
	t.Helper()
	if got := s.Point(now, 1, now+100); got != want {
		t.Fatalf("at its point at %d the job is to hold %d nodes, want %d", now, got, want)
	}
}

func TestAWaitingJobGetsNodesAtTheNextPointOfAJobThatWasAtOne(t *testing.T) {
	s := begun(t)
	rigid(s, 50, 2, 5, 100)
	expect(t, s, 50)
	point(t, s, 100, 8) // before its first call of Point, no pass plans with the job's nodes
	expect(t, s, 100)
	point(t, s, 200, 5) // job 2 lacks three nodes
	expect(t, s, 200)
	expect(t, s, 210, core.Start{Job: 2, Nodes: 5, Begins: true})
}

func TestAJobThatNeverCameToAPointKeepsItsSize(t *testing.T) {
	s := begun(t)
	rigid(s, 50, 2, 5, 100)
	for now := core.Time(50); now < 1000; now += 50 {
		expect(t, s, now)
	}
	expect(t, s, 1000, core.Start{Job: 2, Nodes: 5, Begins: true}) // the requested end of job 1
}

func TestAJobGrowsIntoWhatNobodyNeeds(t *testing.T) {
	s := begun(t)
	expect(t, s, 0)
	point(t, s, 100, 8)
	expect(t, s, 100)
	point(t, s, 200, 10)
	expect(t, s, 200)
}

func TestAJobStartsOnHalfOfItsReferenceAtLeast(t *testing.T) {
	for _, c := range []struct{ free, nodes int }{{3, 0}, {4, 4}, {6, 6}, {8, 8}, {10, 8}} {
		s := Policy{}.New(core.Machine{Nodes: 10})
		if c.free < 10 {
			rigid(s, 0, 9, 10-c.free, 500)
			expect(t, s, 0, core.Start{Job: 9, Nodes: 10 - c.free, Begins: true})
		}
		s.Submit(0, core.Job{ID: 1, Choices: []core.EP{{{Duration: 1000, Nodes: 8}}}, Range: &core.Range{Min: 2, Max: 10, Every: 100, Cost: 10}})
		if c.nodes == 0 {
			expect(t, s, 0)
			continue
		}
		expect(t, s, 0, core.Start{Job: 1, Nodes: c.nodes, Begins: true})
	}
}

func TestAShrunkJobDoesNotBreakThePromiseOfAnEvolvingOne(t *testing.T) {
	s := begun(t)
	// Job 2 is promised all ten nodes from second 1000 on, when job 1 should end.
	s.Submit(0, core.Job{ID: 2, Choices: []core.EP{{{Duration: 1000, Nodes: 2}, {Duration: 100, Nodes: 10}}}})
	expect(t, s, 0, core.Start{Job: 2, Nodes: 2, Begins: true})
	rigid(s, 50, 3, 4, 100)
	for now := core.Time(100); now < 1000; now += 100 {
		expect(t, s, now)
		point(t, s, now, 8) // with fewer nodes job 1 would last beyond second 1000
	}
	expect(t, s, 1000, core.Start{Job: 2, Nodes: 10})
}

func TestCloneIsIndependent(t *testing.T) {
	s := begun(t)
	point(t, s, 100, 8)
	c := s.Clone().(sched.Resizer)
	rigid(c, 150, 2, 5, 100)
	expect(t, c, 150)
	point(t, c, 200, 5)
	expect(t, s, 150)
	point(t, s, 200, 10)
}
