package replay_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/replay"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core/policy"
	"accordion/traces/workload"
)

// drawWorkload draws rigid jobs. Some of them are submitted, start and end at the same time as others.
func drawWorkload(t *rapid.T) workload.Workload {
	w := workload.Workload{Machine: core.Machine{Nodes: rapid.IntRange(1, 8).Draw(t, "machine")}}
	var now core.Time
	for i := range rapid.IntRange(0, 25).Draw(t, "jobs") {
		now += max(0, rapid.Int64Range(-3, 4).Draw(t, "after"))
		request := rapid.Int64Range(1, 12).Draw(t, "request")
		w.Jobs = append(w.Jobs, workload.Job{
			Number: int64(i + 1), Submit: now, Request: request, Run: rapid.Int64Range(1, request).Draw(t, "run"),
			Size: rapid.IntRange(1, w.Machine.Nodes).Draw(t, "size"),
		})
	}
	return w
}

// drawChoices makes some of the jobs evolving, and some moldable.
func drawChoices(t *rapid.T, w *workload.Workload) {
	for i := range w.Jobs {
		j := &w.Jobs[i]
		step := func() core.Step {
			return core.Step{Duration: rapid.Int64Range(1, 6).Draw(t, "duration"), Nodes: rapid.IntRange(1, w.Machine.Nodes).Draw(t, "nodes")}
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			j.Choices = []core.EP{{step(), step(), step()}}
			j.Size, j.Request = j.Choices[0].Peak(), j.Choices[0].Total()
			j.Run = rapid.Int64Range(1, j.Request).Draw(t, "work")
		case 1:
			j.Choices = []core.EP{{step()}, {step()}}
			j.Runs = []core.Time{j.Choices[0].Total(), rapid.Int64Range(1, j.Choices[1].Total()).Draw(t, "work")}
		}
	}
}

func policies(t testing.TB) []policy.Policy {
	var all []policy.Policy
	for _, name := range []string{"fcfs", "easy", "conservative", "moldable", "repeated", "evolving:rigid", "evolving:noX",
		"evolving:2X", "evolving:2X+c", "evolving:infX", "evolving:infX+opt"} {
		for _, order := range []sched.Order{sched.FirstCome, sched.ShortestFirst, sched.LongestFirst} {
			p, err := policy.Named(name, order)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	return all
}

// naiveReplay asks the policy in every second, and searches all jobs for submissions and ends.
func naiveReplay(w workload.Workload, p sched.Policy) []core.Time {
	state, starts, ended, order := p.New(w.Machine), make([]core.Time, len(w.Jobs)), make([]bool, len(w.Jobs)), []int(nil)
	for i := range starts {
		starts[i] = -1
	}
	for now := core.Time(0); now < 500; now++ {
		ask := func() {
			for _, s := range state.Starts(now, nil) {
				starts[s.Job] = now
				order = append(order, int(s.Job))
			}
		}
		for i, j := range w.Jobs {
			if j.Submit == now {
				state.Submit(now, core.Job{ID: core.JobID(i), Choices: []core.EP{{{Duration: j.Request, Nodes: j.Size}}}})
				ask()
			}
		}
		for _, i := range slices.Clone(order) {
			if !ended[i] && starts[i]+w.Jobs[i].Run == now {
				ended[i] = true
				state.End(now, core.JobID(i))
				ask()
			}
		}
		ask()
	}
	return starts
}

func TestRunEqualsAskingEverySecond(t *testing.T) {
	all := policies(t)
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorkload(t), rapid.SampledFrom(all).Draw(t, "policy")
		var got []core.Time
		for _, o := range replay.Run(w, p).Outcomes {
			got = append(got, o.Start)
		}
		if d := cmp.Diff(naiveReplay(w, p.Policy), got, cmp.Transformer("", func(s []core.Time) []core.Time { return append([]core.Time{0}, s...) })); d != "" {
			t.Fatalf("%s (-every second +events)\n%s", p, d)
		}
	})
}

func TestNoNodeIsOverbookedAndNoJobStartsBeforeSubmission(t *testing.T) {
	all := policies(t)
	rapid.Check(t, func(t *rapid.T) {
		w, p := drawWorkload(t), rapid.SampledFrom(all).Draw(t, "policy")
		drawChoices(t, &w)
		used := map[core.Time]int{}
		for i, o := range replay.Run(w, p).Outcomes {
			j := &w.Jobs[i]
			if o.Start < j.Submit || o.End <= o.Start {
				t.Fatalf("%s: job %d, submitted at %d, runs from %d to %d", p, i, j.Submit, o.Start, o.End)
			}
			held := o.Held
			if held == nil {
				held = core.EP{{Duration: o.End - o.Start, Nodes: o.Nodes(j)}}
			}
			if held.Total() != o.End-o.Start {
				t.Fatalf("%s: job %d holds %v from %d to %d", p, i, held, o.Start, o.End)
			}
			for s := o.Start; s < o.End; s++ {
				if used[s] += held.At(s - o.Start); used[s] > w.Machine.Nodes {
					t.Fatalf("%s: %d of %d nodes are used at %d", p, used[s], w.Machine.Nodes, s)
				}
			}
		}
	})
}

func TestRigidJobsStartAsUnderConservativeBackfilling(t *testing.T) {
	all := policies(t)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t)
		want := replay.Run(w, sched.Conservative{}).Outcomes
		for _, p := range all {
			if c, ok := p.Policy.(sched.Conservative); ok && c.Order == sched.FirstCome {
				if d := cmp.Diff(want, replay.Run(w, p).Outcomes); d != "" {
					t.Fatalf("%s (-conservative +%s)\n%s", p, p, d)
				}
			}
		}
	})
}

func TestAnExpandedStepWaitsAndOnlyRequestedSecondsCount(t *testing.T) {
	for _, c := range []struct {
		policy string
		run    core.Time
		want   replay.Outcome
	}{
		{"evolving:noX", 18, replay.Outcome{Start: 5, End: 23, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 8, Nodes: 2}, {Duration: 8, Nodes: 5}}}},
		{"evolving:2X", 18, replay.Outcome{Start: 0, End: 23, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 13, Nodes: 2}, {Duration: 8, Nodes: 5}}}},
		{"evolving:2X", 10, replay.Outcome{Start: 0, End: 10, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 8, Nodes: 2}}}},
		{"evolving:2X", 11, replay.Outcome{Start: 0, End: 16, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 13, Nodes: 2}, {Duration: 1, Nodes: 5}}}},
		{"evolving:2X+c", 18, replay.Outcome{Start: 5, End: 23, Held: core.EP{{Duration: 2, Nodes: 1}, {Duration: 8, Nodes: 2}, {Duration: 8, Nodes: 5}}}},
		{"evolving:rigid", 18, replay.Outcome{Start: 15, End: 33}},
		{"easy", 18, replay.Outcome{Start: 15, End: 33, Choice: replay.AsRequested}},
	} {
		ep := core.EP{{Duration: 2, Nodes: 1}, {Duration: 8, Nodes: 2}, {Duration: 10, Nodes: 5}}
		w := workload.Workload{Machine: core.Machine{Nodes: 5}, Jobs: []workload.Job{
			{Number: 1, Submit: 0, Run: 15, Request: 15, Size: 3},
			{Number: 2, Submit: 0, Run: c.run, Request: 20, Size: 5, Choices: []core.EP{ep}},
		}}
		p, err := policy.Named(c.policy, sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, replay.Run(w, p).Outcomes[1]); d != "" {
			t.Errorf("%s, running %d s (-want +got)\n%s", c.policy, c.run, d)
		}
	}
}
