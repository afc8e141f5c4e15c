package delegated_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/delegated"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/sched"
)

// site is a cluster's own load: its running and its waiting jobs.
type site struct {
	policy  sched.Repeated
	nodes   int
	running []core.Allocation
	waiting []sched.Ranked
}

func someSite(random *rand.Rand, nodes int) *site {
	s := &site{nodes: nodes, policy: sched.Repeated{Limit: ep.Limit(1 + random.IntN(2))}}
	guarded := random.IntN(2) == 0
	left := nodes
	for id := core.JobID(0); id < 3; id++ {
		n := random.IntN(left + 1)
		if left -= n; n == 0 {
			continue
		}
		a := core.Allocation{Job: id, Start: 0, EP: core.EP{{Duration: 20 + random.Int64N(80), Nodes: n}}}
		if guarded {
			a.Guard = random.Int64N(15)
		}
		s.running = append(s.running, a)
	}
	rank := core.Time(0)
	for id := core.JobID(10); id < core.JobID(10+random.IntN(6)); id++ {
		rank += random.Int64N(4)
		j := core.Job{ID: id, Submit: rank}
		step := func() core.Step { return core.Step{Duration: 5 + random.Int64N(60), Nodes: 1 + random.IntN(nodes)} }
		j.Choices = []core.EP{{step()}}
		switch kind := random.IntN(3); {
		case kind == 0 && guarded:
			j.Guard = random.Int64N(j.Choices[0].Total())
		case kind == 1:
			j.Choices = append(j.Choices, core.EP{step()})
		case kind == 2:
			j.Choices[0] = append(j.Choices[0], step())
			if guarded {
				j.Margin = random.Int64N(10)
			}
		}
		s.waiting = append(s.waiting, sched.Ranked{Job: j, Rank: rank})
	}
	return s
}

// state returns the policy's state with the running jobs.
func (s *site) state() sched.State {
	state := s.policy.New(core.Machine{Nodes: s.nodes})
	for _, a := range s.running {
		state.Running(0, a)
	}
	return state
}

func (w *twins) Local(now core.Time, cluster int, s *site) {
	w.Helper()
	for _, r := range []*delegated.RMS{w.linear, w.indexed} {
		must(w, r.Local(now, cluster, sched.Local{State: s.state().(sched.Viewer), Waiting: s.waiting}))
	}
}

// places returns the places of a cluster's own jobs, which are the same on both boards.
func (w *twins) places(cluster int) []core.Planned {
	w.Helper()
	places := w.linear.Places(cluster)
	if d := cmp.Diff(places, w.indexed.Places(cluster)); d != "" {
		w.Fatalf("the boards differ:\n%s", d)
	}
	return places
}

func TestWithoutApplicationsLocalJobsArePlannedAsUsual(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(21, seed))
		s := someSite(random, 4+random.IntN(8))
		w := newTwins(t, []int{s.nodes}, standard)
		w.Local(3, 0, s)
		w.wake(3)
		alone := s.state()
		for _, j := range s.waiting {
			alone.Submit(3, j.Job)
		}
		want := alone.Plan(3).Jobs
		if len(want) == 0 {
			want = nil
		}
		if got := slices.Clip(w.places(0)); len(got)+len(want) > 0 && !cmp.Equal(got, want) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
		}
	}
}

// Each request is planned, on each of its clusters, as a rigid job that begins at its estimate.
func TestWithApplicationsLocalJobsArePlannedAsIfRequestsWereRigidJobs(t *testing.T) {
	placed := 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(22, seed))
		var sites []*site
		var hosts []int
		for range 1 + random.IntN(2) {
			hosts = append(hosts, 4+random.IntN(8))
			sites = append(sites, someSite(random, hosts[len(hosts)-1]))
		}
		w := newTwins(t, hosts, standard)
		type asked struct {
			since   core.Time
			request moldable.Request
		}
		var all []asked
		since := core.Time(0)
		for id := range core.JobID(1 + random.IntN(5)) {
			since += random.Int64N(5)
			q := moldable.Request{Walltime: 5 + random.Int64N(50)}
			for c, n := range hosts {
				if random.IntN(3) > 0 || c == len(hosts)-1 && len(q.Parts) == 0 {
					q.Parts = append(q.Parts, moldable.Part{Cluster: c, Hosts: 1 + random.IntN(n)})
				}
			}
			_, err := w.Subscribe(since, id)
			must(t, err)
			must(t, w.Request(since, id, q))
			all = append(all, asked{since, q})
		}
		now := since
		for c, s := range sites {
			w.Local(now, c, s)
		}
		w.wake(now)
		for c, s := range sites {
			alone, next := s.state(), 0
			local := func(before core.Time) {
				for ; next < len(s.waiting) && s.waiting[next].Rank < before; next++ {
					alone.Submit(now, s.waiting[next].Job)
				}
			}
			want := map[core.JobID]core.Time{}
			for id, a := range all {
				local(a.since)
				at := w.linear.Estimate(core.JobID(id))
				if w.linear.State(core.JobID(id)) == delegated.Started {
					at = now
				}
				for _, p := range a.request.Parts {
					if p.Cluster == c && at < core.Forever {
						alone.Submit(now, core.Job{ID: core.JobID(-1 - id), Begin: at, Choices: []core.EP{{{Duration: a.request.Walltime, Nodes: p.Hosts}}}})
						want[core.JobID(-1-id)] = at
					}
				}
			}
			local(core.Forever)
			var plan []core.Planned
			for _, p := range alone.Plan(now).Jobs {
				if p.Job >= 0 {
					plan = append(plan, p)
				} else if p.Start != want[p.Job] {
					t.Fatalf("seed %d: application %d is estimated at %d, and as a rigid job begins at %d", seed, -1-p.Job, want[p.Job], p.Start)
				}
			}
			if got := w.places(c); len(got)+len(plan) > 0 && !cmp.Equal(got, plan) {
				t.Fatalf("seed %d, cluster %d: %s", seed, c, cmp.Diff(plan, got))
			}
			placed += len(plan)
		}
	}
	if placed < 2000 {
		t.Errorf("only %d local jobs had places: the test shows little", placed)
	}
}

// Local jobs are planned around the RMS's applications and ghosts, and around other occupations.
func TestLocalJobsArePlannedAroundRunningApplications(t *testing.T) {
	placed := 0
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(23, seed))
		s := someSite(random, 6+random.IntN(8))
		s.running = nil
		w := newTwins(t, []int{s.nodes}, standard)
		requests := map[core.JobID]moldable.Request{}
		for id := range core.JobID(1 + random.IntN(4)) {
			requests[id] = on(0, 1+random.IntN(s.nodes), 20+random.Int64N(80))
			_, err := w.Subscribe(0, id)
			must(t, err)
			must(t, w.Request(0, id, requests[id]))
		}
		w.wake(0)
		alone, own := s.state(), core.JobID(0)
		runs := func(from, to core.Time, nodes int) {
			own--
			alone.Running(10, core.Allocation{Job: own, Start: from, EP: core.EP{{Duration: to - from, Nodes: nodes}}})
		}
		if from := 10 + random.Int64N(50); random.IntN(2) == 0 {
			must(t, w.Occupy(5, []delegated.Stretch{{From: from, To: from + 9, Hosts: 1}}))
			w.wake(5)
			runs(from, from+9, 1)
		}
		for id := range core.JobID(len(requests)) {
			q := requests[id]
			switch {
			case w.linear.State(id) != delegated.Started:
				if random.IntN(2) == 0 {
					_, err := w.Withdraw(10, id)
					must(t, err)
					delete(requests, id)
				}
			case random.IntN(2) == 0:
				must(t, w.Done(10, id))
				runs(10, 15, q.Parts[0].Hosts) // a ghost
				delete(requests, id)
			default:
				runs(10, q.Walltime, q.Parts[0].Hosts)
				delete(requests, id)
			}
		}
		w.Local(10, 0, s)
		w.wake(10)
		for id := range core.JobID(4) { // all came at second 0, and no job has a lower rank
			q, waits := requests[id]
			if !waits {
				continue
			}
			at := w.linear.Estimate(id)
			if w.linear.State(id) == delegated.Started {
				at = 10
			}
			alone.Submit(10, core.Job{ID: -100 - id, Begin: at, Choices: []core.EP{{{Duration: q.Walltime, Nodes: q.Parts[0].Hosts}}}})
		}
		for _, j := range s.waiting {
			alone.Submit(10, j.Job)
		}
		plan := slices.DeleteFunc(alone.Plan(10).Jobs, func(p core.Planned) bool { return p.Job < 0 })
		if got := w.places(0); len(got)+len(plan) > 0 && !cmp.Equal(got, plan) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(plan, got))
		}
		placed += len(plan)
	}
	if placed < 1000 {
		t.Errorf("only %d local jobs had places: the test shows little", placed)
	}
}

func TestLocalJobOfALowerRankGoesFirst(t *testing.T) {
	s := &site{nodes: 10, waiting: []sched.Ranked{
		{Job: core.Job{ID: 1, Choices: []core.EP{{{Duration: 40, Nodes: 10}}}}, Rank: 2},
		{Job: core.Job{ID: 2, Choices: []core.EP{{{Duration: 7, Nodes: 4}}}}, Rank: 9},
	}}
	w := newTwins(t, []int{10}, standard)
	_, err := w.Subscribe(5, 1)
	must(t, err)
	must(t, w.Request(5, 1, on(0, 8, 100)))
	w.Local(10, 0, s)
	w.wake(10)
	if at := w.linear.Estimate(1); at != 50 {
		t.Errorf("the application is estimated at %d, want behind the job that came before it", at)
	}
	if got := w.places(0); len(got) != 2 || got[0].Start != 10 || got[1].Start != 150 {
		t.Errorf("%+v: want the first at once, and the one that came later behind the application", got)
	}
	refused(t, "ranks that fall", w.linear.Local(10, 0, sched.Local{State: s.state().(sched.Viewer), Waiting: []sched.Ranked{s.waiting[1], s.waiting[0]}}), delegated.ErrLocal)
	refused(t, "a job twice", w.linear.Local(10, 0, sched.Local{State: s.state().(sched.Viewer), Waiting: []sched.Ranked{s.waiting[1], s.waiting[1]}}), delegated.ErrLocal)
	refused(t, "no cluster", w.linear.Local(10, 1, sched.Local{}), delegated.ErrNoCluster)
}
