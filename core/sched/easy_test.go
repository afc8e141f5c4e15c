package sched_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func drawPatient(t *rapid.T) sched.Patient {
	return sched.Patient{
		Factor:       rapid.SampledFrom([]int64{0, 2, 1, 3}).Draw(t, "factor"),
		Most:         rapid.SampledFrom([]core.Time{0, 24, 5, 12}).Draw(t, "most"),
		Reservations: rapid.SampledFrom([]int{0, 1, 2, sched.AllReserved}).Draw(t, "reservations"),
	}
}

// drawEasyEP draws a profile whose neighboring steps differ.
func drawEasyEP(t *rapid.T, steps, nodes int) core.EP {
	ep := core.EP{{Duration: rapid.Int64Range(1, 8).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}}
	for range rapid.IntRange(1, steps).Draw(t, "steps") - 1 {
		s := core.Step{Duration: rapid.Int64Range(1, 5).Draw(t, "duration"), Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes")}
		if s.Nodes != ep[len(ep)-1].Nodes {
			ep = append(ep, s)
		}
	}
	return ep
}

// drawEasyJob draws a rigid, a moldable or an evolving job. Some exceed the machine.
func drawEasyJob(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := core.Job{ID: id, Submit: now}
	if rapid.IntRange(0, 7).Draw(t, "begins later") == 7 {
		j.Begin = now + rapid.Int64Range(1, 15).Draw(t, "begin")
	}
	kind := rapid.SampledFrom([]int{0, 1, 0, 2, 1, 3}).Draw(t, "kind")
	for range []int{1, 1, 3, 6}[kind] {
		j.Choices = append(j.Choices, drawEasyEP(t, []int{1, 4, 2, 1}[kind], nodes+rapid.IntRange(0, 8).Draw(t, "wide")/8))
	}
	return j
}

// rectangles draws rigid jobs.
func rectangles(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	return core.Job{ID: id, Submit: now, Choices: []core.EP{drawEasyEP(t, 1, nodes)}}
}

// late draws jobs, some of which have an earlier submission time. These become due before jobs that were added earlier.
func late(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := drawEasyJob(t, id, now, nodes)
	j.Submit -= max(0, rapid.Int64Range(-20, 20).Draw(t, "late"))
	return j
}

// easyStory is a random workload on a machine that is driven as the replay drives it. The world calls Starts after
// each event, and at the times that Next returns.
type easyStory struct {
	nodes   int
	policy  sched.Patient
	arrives []core.Job               // in the order in which they are submitted
	comes   []core.Time              // when each of arrives is submitted
	works   map[core.JobID]core.Time // the run time of each job in its first choice; no job runs longer than its promise
}

func drawStory(t *rapid.T, job func(*rapid.T, core.JobID, core.Time, int) core.Job) easyStory {
	s := easyStory{nodes: rapid.SampledFrom([]int{5, 4, 8, 6, 3, 7, 2, 1}).Draw(t, "machine"), policy: drawPatient(t), works: map[core.JobID]core.Time{}}
	now := core.Time(0)
	for id := core.JobID(1); id <= core.JobID(rapid.IntRange(1, 14).Draw(t, "jobs")); id++ {
		now += max(0, rapid.Int64Range(-3, 6).Draw(t, "later"))
		s.arrives, s.comes = append(s.arrives, job(t, id, now, s.nodes)), append(s.comes, now)
		s.works[id] = rapid.SampledFrom([]core.Time{1000, 1, 3, 6, 10}).Draw(t, "runs")
	}
	return s
}

// event is what happened: a submission, an end, or neither.
type event struct {
	now    core.Time
	submit *core.Job
	end    core.JobID // the job that ended; 0 if none
}

// play runs the story. At each event it calls ask, starts what ask returns, and continues at the returned time.
func (s *easyStory) play(ask func(e event) (starts []core.Start, next core.Time)) (began map[core.JobID]core.Time) {
	began = map[core.JobID]core.Time{}
	type end struct {
		at core.Time
		id core.JobID
	}
	var ends []end // in the order of the starts
	next, due := 0, core.Forever
	for {
		submit, first := core.Forever, end{at: core.Forever}
		if next < len(s.arrives) {
			submit = s.comes[next]
		}
		for _, e := range ends {
			if e.at < first.at {
				first = e
			}
		}
		var e event
		switch {
		case due < submit && due < first.at:
			e.now = due
		case submit <= first.at && submit < core.Forever:
			e.now, e.submit = submit, &s.arrives[next]
			next++
		case first.at < core.Forever:
			e.now, e.end = first.at, first.id
			ends = slices.DeleteFunc(ends, func(e end) bool { return e.id == first.id })
		default:
			return began
		}
		var starts []core.Start
		starts, due = ask(e)
		for _, b := range starts {
			if b.Begins {
				began[b.Job] = e.now
				length := s.arrives[b.Job-1].Choices[b.Choice].Total()
				ends = append(ends, end{e.now + min(length, s.works[b.Job]), b.Job})
			}
		}
	}
}

// tell passes an event to a state and returns its answers.
func tell(s sched.State, e event) ([]core.Start, core.Time) {
	switch {
	case e.submit != nil:
		s.Submit(e.now, *e.submit)
	case e.end != 0:
		s.End(e.now, e.end)
	}
	return s.Starts(e.now, nil), s.Next(e.now)
}

// foreign draws jobs of which some are foreign. These have one profile, and may start at any time.
func foreign(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
	j := drawEasyJob(t, id, now, nodes)
	if j.Foreign = rapid.Bool().Draw(t, "somebody else's"); j.Foreign {
		j.Choices, j.Begin = j.Choices[:1], 0
	}
	return j
}

func TestEveryStartIsThatOfTheDefinitionSecondBySecond(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, rapid.SampledFrom([]func(*rapid.T, core.JobID, core.Time, int) core.Job{drawEasyJob, rectangles, late, foreign}).Draw(t, "kind"))
		state := s.policy.New(core.Machine{Nodes: s.nodes})
		dumb := &twin{policy: s.policy, nodes: s.nodes}
		s.play(func(e event) ([]core.Start, core.Time) {
			switch {
			case e.submit != nil:
				dumb.queue = append(dumb.queue, *e.submit)
			case e.end != 0:
				dumb.end(e.end)
			}
			want, next := dumb.pass(e.now), dumb.next(e.now)
			got, then := tell(state, e)
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" || next != then {
				t.Fatalf("%+v on %d nodes, second %d: next %d, want %d; (-definition +starts)\n%s", s.policy, s.nodes, e.now, then, next, d)
			}
			return got, then
		})
	})
}
