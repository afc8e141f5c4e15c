package sched_test

import (
	"cmp"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// one draws a job with one profile.
func one(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := drawEasyJob(t, id, now, nodes)
	j.Choices = j.Choices[:1]
	return j
}

// guarded draws a job with one profile. Some have a guard, some a margin.
func guarded(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := one(t, id, now, nodes)
	if rapid.Bool().Draw(t, "ordinary") {
		j.Guard = rapid.Int64Range(1, 5).Draw(t, "guard")
		j.Choices = []core.EP{{{Duration: j.Guard + rapid.Int64Range(1, 6).Draw(t, "limit"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}}}
		return j
	}
	j.Margin = rapid.Int64Range(0, 6).Draw(t, "margin")
	return j
}

// others draws guarded jobs. Those with a guard are foreign.
func others(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := guarded(t, id, now, nodes)
	j.Foreign = j.Guard > 0
	return j
}

// byJob returns the places of a plan, sorted by job ID.
func byJob(p core.Plan) []core.Planned {
	slices.SortFunc(p.Jobs, func(a, b core.Planned) int { return cmp.Compare(a.Job, b.Job) })
	return p.Jobs
}

func TestWithReservationsForAllAndNoPatienceItIsRepeated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, rapid.SampledFrom([]func(*rapid.T, core.JobID, core.Time, int) core.Job{one, guarded, others}).Draw(t, "kind"))
		m := core.Machine{Nodes: s.nodes}
		state, repeated := sched.Patient{Reservations: sched.AllReserved}.New(m), sched.Repeated{}.New(m)
		s.play(func(e event) ([]core.Start, core.Time) {
			repeated.Nodes(e.now, m) // plans again from the start
			want, _ := tell(repeated, e)
			got, next := tell(state, e)
			if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%d nodes, second %d: (-repeated +ours)\n%s", s.nodes, e.now, d)
			}
			if d := gocmp.Diff(byJob(repeated.Plan(e.now)), byJob(state.Plan(e.now)), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%d nodes, second %d: the places (-repeated +ours)\n%s", s.nodes, e.now, d)
			}
			return got, next
		})
	})
}

func TestAStartedJobsPromiseIsNeverTouchedAndAllPromisesFitTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, rapid.SampledFrom([]func(*rapid.T, core.JobID, core.Time, int) core.Job{drawEasyJob, guarded, rectangles, late}).Draw(t, "kind"))
		state := s.policy.New(core.Machine{Nodes: s.nodes})
		runs, sizes := map[core.JobID]core.Allocation{}, map[core.JobID]int{}
		s.play(func(e event) ([]core.Start, core.Time) {
			delete(runs, e.end)
			delete(sizes, e.end)
			for id, a := range runs { // nodes count as free from the end of a promise on
				if a.End() <= e.now {
					delete(sizes, id)
				}
			}
			starts, next := tell(state, e)
			for _, b := range starts {
				if b.Begins {
					j := s.arrives[b.Job-1]
					runs[b.Job] = core.Allocation{Job: b.Job, Start: e.now, EP: j.Choices[b.Choice], Guard: j.Guard}
				}
				sizes[b.Job] = b.Nodes
				sum := 0
				for _, n := range sizes {
					sum += n
				}
				if sum > s.nodes {
					t.Fatalf("second %d: %d nodes of %d are held after %+v", e.now, sum, s.nodes, b)
				}
			}
			for id, a := range runs {
				promised, ok := state.(sched.Promiser).Promise(id)
				if d := gocmp.Diff(a, promised); !ok || d != "" {
					t.Fatalf("second %d: the promise of job %d (-given +now)\n%s", e.now, id, d)
				}
				if now := a.EP.At(e.now - a.Start); e.now < a.End() && sizes[id] != now {
					t.Fatalf("second %d: job %d has %d nodes, promised %d", e.now, id, sizes[id], now)
				}
			}
			for at := e.now; at < e.now+60; at++ {
				sum := 0
				for _, a := range runs {
					sum += a.EP.At(at - a.Start)
				}
				if sum > s.nodes {
					t.Fatalf("second %d: %d nodes of %d are promised at %d", e.now, sum, s.nodes, at)
				}
			}
			return starts, next
		})
	})
}

func TestTheReservationsPlaceNeverMovesBackAndItsJobKeepsItUntilItStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, rapid.SampledFrom([]func(*rapid.T, core.JobID, core.Time, int) core.Job{drawEasyJob, rectangles}).Draw(t, "kind"))
		s.policy.Reservations = 1
		state := s.policy.New(core.Machine{Nodes: s.nodes})
		var holder *core.Planned
		s.play(func(e event) ([]core.Start, core.Time) {
			starts, next := tell(state, e)
			began := func(id core.JobID) bool {
				return slices.ContainsFunc(starts, func(b core.Start) bool { return b.Begins && b.Job == id })
			}
			places := state.Plan(e.now).Jobs
			if len(places) > 1 || len(places) == 1 && places[0].Start <= e.now {
				t.Fatalf("second %d: the plan behind the starts is %+v", e.now, places)
			}
			if holder != nil && !began(holder.Job) && (len(places) == 0 || places[0].Job != holder.Job || places[0].End() > holder.End()) {
				t.Fatalf("second %d: the reservation was %+v, and is %+v", e.now, *holder, places)
			}
			if holder = nil; len(places) == 1 {
				holder = &places[0]
			}
			return starts, next
		})
	})
}

// A job that may start at any time and fits the machine starts within a bound after it is due. Let n be the number of jobs that
// wait then and were due before it. The bound is n+2 times the longest requested time: n for these jobs, one for the jobs that
// run at that time, and one for the time until the next call.
func TestNoJobStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, func(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
			j := drawEasyJob(t, id, now, nodes)
			j.Begin = 0
			for _, ep := range j.Choices {
				for k := range ep {
					ep[k].Nodes = min(ep[k].Nodes, nodes)
				}
			}
			return j
		})
		state := s.policy.New(core.Machine{Nodes: s.nodes})
		began := s.play(func(e event) ([]core.Start, core.Time) { return tell(state, e) })
		due, longest := map[core.JobID]core.Time{}, core.Time(0)
		for _, j := range s.arrives {
			request := core.Forever
			for _, ep := range j.Choices {
				request, longest = min(request, ep.Total()), max(longest, ep.Total())
			}
			due[j.ID] = j.Submit + min(s.policy.Most, s.policy.Factor*request)
		}
		for _, j := range s.arrives {
			at, started := began[j.ID]
			before := core.Time(0)
			for _, i := range s.arrives {
				if (due[i.ID] < due[j.ID] || due[i.ID] == due[j.ID] && i.ID < j.ID) && began[i.ID] >= due[j.ID] {
					before++
				}
			}
			if bound := due[j.ID] + longest*(before+2); !started || at > bound {
				t.Fatalf("job %d, due at %d, starts at %d, behind %d; no later than %d", j.ID, due[j.ID], at, before, bound)
			}
		}
	})
}

func TestPlannerRebuiltAtEachEventStartsTheSameJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, rapid.SampledFrom([]func(*rapid.T, core.JobID, core.Time, int) core.Job{drawEasyJob, guarded, rectangles, late, foreign}).Draw(t, "kind"))
		m := core.Machine{Nodes: s.nodes}
		lives := s.policy.New(m)
		var waits []core.Job
		var runs []core.JobID
		s.play(func(e event) ([]core.Start, core.Time) {
			if e.submit != nil {
				waits = append(waits, *e.submit)
			}
			runs = slices.DeleteFunc(runs, func(id core.JobID) bool { return id == e.end })
			anew := s.policy.New(m)
			for _, id := range runs {
				a, _ := lives.(sched.Promiser).Promise(id)
				anew.Running(e.now, a)
			}
			for _, j := range waits {
				anew.Submit(e.now, j)
			}
			got, next := tell(lives, e)
			want := slices.DeleteFunc(anew.Starts(e.now, nil), func(b core.Start) bool { return !b.Begins })
			begun := slices.DeleteFunc(slices.Clone(got), func(b core.Start) bool { return !b.Begins })
			if d := gocmp.Diff(want, begun, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("second %d: (-made anew +lives)\n%s", e.now, d)
			}
			if d := gocmp.Diff(anew.Plan(e.now), lives.Plan(e.now), cmpopts.EquateEmpty()); d != "" || anew.Next(e.now) != next {
				t.Fatalf("second %d: next %d and %d; the reservations (-made anew +lives)\n%s", e.now, anew.Next(e.now), next, d)
			}
			for _, b := range begun {
				runs = append(runs, b.Job)
				waits = slices.DeleteFunc(waits, func(j core.Job) bool { return j.ID == b.Job })
			}
			return got, next
		})
	})
}
