package plan

import (
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/profile"
	"accordion/core/sched"
)

// viewOf returns the view of an application that ranks behind all local jobs.
func viewOf(v *World, due map[core.JobID]core.Time) []profile.Point {
	l, _ := v.Local(due)
	for _, j := range l.Waiting {
		l.State.Submit(v.Now, j.Job)
	}
	points := l.State.View(v.Now).Points(v.Now, nil)
	points[0].At = 0 // now
	return points
}

// Occupations without a known end look the same to an application for half a minute.
func TestViewIsStableWhileNothingHappens(t *testing.T) {
	due := map[core.JobID]core.Time{}
	var before []profile.Point
	changes := 0
	for second := core.Time(1010); second < 1070; second++ {
		s := newSituation(20, nil)
		s.Now, s.Instant = second, adapter.Instant(second)
		s.Settings.Guard = 30
		s.runsOrdinary(2, 500)                                                                               // until 1500
		s.job(adapter.Job{State: adapter.Running, Started: 100, Limit: 200, Nodes: s.take(1)})               // past its limit and guard
		s.ends(2)                                                                                            // completing
		s.Snapshot.Nodes[19].Usable = false                                                                  // away for a moment
		s.waitsOrdinary(3, 100)                                                                              // the job is due, but the batch system does not start it
		s.waitsOrdinary(16, 100)                                                                             // waits
		late := runs(40, 0, 0, 2, core.EP{{Duration: 100, Nodes: 4}, {Duration: 100, Nodes: 2}}, 1000, 1100) // the job should have shrunk already
		late.Nodes, late.Seen, late.Key, late.Phase = s.take(4), &adapter.Job{}, adapter.Key{ID: 40}, managed.Running
		s.Jobs = append(s.Jobs, late)
		got := viewOf(makePlan(s.Input), due)
		if before != nil && !slices.Equal(got, before) {
			changes++
			if second != 1040 {
				t.Errorf("at second %d the view changed from %v to %v", second, before, got)
			}
		}
		before = got
	}
	if changes == 0 {
		t.Error("in a minute the view never changed: the test sees nothing")
	}
}

// The plan itself contains the parts, so that no other job gets their nodes.
func TestApplicationsSeeClusterWithoutTheirParts(t *testing.T) {
	s := newSituation(8, nil)
	job := adapter.Job{Key: adapter.Key{ID: 50, Submitted: 950}, State: adapter.Running, Started: 960, Limit: 300, Nodes: s.take(4), Mark: "accordion:launch=7"}
	s.Snapshot.Jobs = append(s.Snapshot.Jobs, job)
	part := runs(50, 0, 0, 4, core.EP{{Duration: 300, Nodes: 4}}, 1260)
	part.Key, part.Seen, part.Nodes, part.Part = job.Key, &job, job.Nodes, &managed.Part{Application: 7, Rank: 940}
	waits := managed.New(&adapter.Job{Key: adapter.Key{ID: 51}, State: adapter.Pending, Held: true}, "launch=8", []core.EP{{{Duration: 100, Nodes: 4}}})
	waits.Part = &managed.Part{Application: 8, Rank: 970, Begin: 1100, Ahead: true}
	s.Parts = []*managed.Job{part, waits}
	s.job(adapter.Job{State: adapter.Pending, Want: 4, Limit: 10})
	s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1].Submitted = 960
	s.job(adapter.Job{State: adapter.Pending, Want: 4, Limit: 10})
	s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1].Submitted = 970
	v := makePlan(s.Input)
	if v.Queue[1].Managed != waits || len(v.Queue) != 3 {
		t.Errorf("the queue is %+v: the part goes before what was submitted in the second of its rank, as in a pass", v.Queue)
	}
	if waits.Course == nil || waits.Course.Start != 1100 {
		t.Errorf("the part that waits has the course %+v, want one from its estimate on", waits.Course)
	}
	wants, _ := v.Wanted()
	if len(wants) != 1 || wants[0].Name != "accordion-app-8" {
		t.Errorf("ahead is reserved %+v", wants)
	}
	if free, _ := v.Free(job.Nodes); free {
		t.Error("the plan takes the nodes of a part that runs for free")
	}
	l, hosts := v.Local(map[core.JobID]core.Time{})
	if at, ok := l.State.View(v.Now).FirstFit(8, 100, v.Now); hosts != 8 || !ok || at != v.Now || len(l.Waiting) != 2 {
		t.Errorf("%d hosts, of which 8 are free from %d on; %d wait: %+v", hosts, at, len(l.Waiting), l.Waiting)
	}
}

func TestWeakestIsWhatEveryNodeHas(t *testing.T) {
	type has = adapter.HostResources
	of := func(cores int, memory, scratch int64, arch string) has {
		return has{Cores: cores, Memory: memory, Scratch: scratch, Arch: arch}
	}
	thin, fat, arm := of(8, 64_000, 900, "x86_64"), of(64, 32_000, 0, "x86_64"), of(96, 96_000, 500, "aarch64")
	silent := of(8, 64_000, 900, "")
	for name, test := range map[string]struct {
		nodes []has
		lost  int // how many nodes, from the last, are lost
		want  has
	}{
		"nothing is known":                  {[]has{{}, {}}, 0, has{}},
		"two kinds":                         {[]has{thin, fat}, 0, of(8, 32_000, 0, "x86_64")},
		"two architectures":                 {[]has{thin, arm, thin}, 0, of(8, 64_000, 500, "")},
		"one architecture is not known yet": {[]has{silent, thin}, 0, thin},
		"of one nothing is known":           {[]has{thin, {}}, 0, has{Arch: "x86_64"}},
		"out of service, none of it":        {[]has{thin, of(1, 1, 1, "i386")}, 1, thin},
	} {
		s := newSituation(len(test.nodes), nil)
		for i, what := range test.nodes {
			n := &s.Snapshot.Nodes[i]
			n.HostResources, n.Lost = what, i >= len(test.nodes)-test.lost
			n.Usable, n.Idle = !n.Lost, !n.Lost
		}
		s.OutOfService = func(n adapter.Node) bool { return n.Lost }
		v := makePlan(s.Input)
		if got := v.Weakest(); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestWindowsTellWhenNodesAreFree(t *testing.T) {
	s := newSituation(6, nil)
	s.runsOrdinary(1, 500) // n1 until 1500
	if l, _ := makePlan(s.Input).Local(map[core.JobID]core.Time{}); l.Windows != nil {
		t.Errorf("nobody wants a node later that is free now, and there are the windows %v", l.Windows)
	}
	grows := runs(40, 0, 0, 0, core.EP{{Duration: 80, Nodes: 1}, {Duration: 100, Nodes: 2}}, 1080, 1180) // n2 now, and n5 for the second step
	grows.Nodes, grows.Seen, grows.Key, grows.Began = s.take(1), &adapter.Job{}, adapter.Key{ID: 40}, 1000
	s.Jobs = append(s.Jobs, grows)
	s.Snapshot.Reservations = []adapter.Reservation{{Name: "maintenance", Nodes: []string{"n3", "n4"}, Start: 1100, End: 1200}}
	s.Snapshot.Nodes[5].Usable, s.Snapshot.Nodes[5].Lost = false, true
	s.OutOfService = func(n adapter.Node) bool { return n.Lost }
	l, hosts := makePlan(s.Input).Local(map[core.JobID]core.Time{})
	want := []sched.Window{
		{From: 1000, To: 1080, Hosts: 1}, {From: 1000, To: 1100, Hosts: 2}, {From: 1180, To: core.Forever, Hosts: 2}, {From: 1200, To: core.Forever, Hosts: 2},
		{From: 1500, To: core.Forever, Hosts: 1},
	}
	if hosts != 5 || !slices.Equal(l.Windows, want) {
		t.Errorf("%d nodes, free %v, want %v", hosts, l.Windows, want)
	}
}
