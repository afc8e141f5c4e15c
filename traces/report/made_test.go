package report

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/model"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// made returns the report of a workload that is replayed under each policy. Its jobs come from the generated log. They arrive faster by the
// factor `denser`, and belong to some users. Every evolve-th job becomes an evolving job that grows and shrinks again in three steps.
func made(t testing.TB, jobs, evolve int, denser int64, policies ...string) *Report {
	t.Helper()
	w := workload.Workload{Name: "made", Machine: core.Machine{Nodes: model.GeneratedNodes}}
	for i, rec := range model.Generated(jobs, model.GeneratedSeed).Records {
		j := workload.Job{Number: rec.Number, Submit: rec.Submit / denser, Run: rec.Run, Request: rec.RequestedTime, Size: int(rec.Processors), User: int32(i * i % 23)}
		if evolve > 0 && i%evolve == 0 && j.Size >= 4 && j.Run > 1200 {
			third := j.Run / 3
			ep := core.EP{{Duration: third, Nodes: j.Size / 4}, {Duration: third, Nodes: j.Size}, {Duration: j.Run - 2*third, Nodes: j.Size / 2}}
			j.Choices, j.Request = []core.EP{ep}, j.Run
		}
		w.Jobs = append(w.Jobs, j)
	}
	return replayed(t, w, policies...)
}

func replayed(t testing.TB, w workload.Workload, policies ...string) *Report {
	t.Helper()
	r := &Report{
		Title: "A made workload", Note: fmt.Sprintf("%d jobs on %d nodes", len(w.Jobs), w.Machine.Nodes),
		Begin: time.Date(2006, 11, 3, 8, 0, 0, 0, time.UTC), Workload: w,
	}
	for _, name := range policies {
		p, err := policy.Named(name, sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		result := replay.Run(w, p)
		r.Replays = append(r.Replays, Replay{Result: result, Held: placed(w, result)})
	}
	var waits, slow []float64
	for i := range r.Replays {
		w, s := r.sorted(i, wait), r.sorted(i, boundSlowdown)
		waits, slow = append(waits, mean(w)), append(slow, mean(s))
	}
	r.Table = []Row{
		{Group: "Waiting", Name: "Mean wait", About: "from submission to start", Unit: Seconds, Better: Lower, Values: waits},
		{Group: "Waiting", Name: "Mean bounded slowdown", About: "turnaround by run time, of at least 10 s", Unit: Number, Better: Lower, Values: slow},
	}
	return r
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// placed gives every job the lowest free nodes, job by job.
func placed(w workload.Workload, r replay.Result) [][]replay.Stretch {
	type change struct {
		at   core.Time
		job  int
		size int
	}
	var changes []change
	had := make([]int, len(w.Jobs))
	for i, o := range r.Outcomes {
		if o.Start < 0 {
			continue
		}
		at, held := o.Start, o.Held
		if held == nil {
			size := w.Jobs[i].Size
			if w.Jobs[i].Kind() == workload.Moldable {
				size = w.Jobs[i].Choices[o.Choice].Peak()
			}
			held = core.EP{{Duration: o.End - o.Start, Nodes: size}}
		}
		for _, s := range held {
			changes = append(changes, change{at, i, s.Nodes})
			at += s.Duration
		}
		changes = append(changes, change{o.End, i, 0})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	nodes := make([][]int32, len(w.Jobs))
	free := make([]bool, w.Machine.Nodes)
	for i := range free {
		free[i] = true
	}
	held := make([][]replay.Stretch, len(w.Jobs))
	for len(changes) > 0 {
		now := 1
		for now < len(changes) && changes[now].at == changes[0].at {
			now++
		}
		for _, grow := range []bool{false, true} {
			for _, c := range changes[:now] {
				if (c.size > had[c.job]) != grow || c.size == had[c.job] {
					continue
				}
				mine := nodes[c.job]
				if last := len(held[c.job]) - 1; last >= 0 {
					held[c.job][last].To = c.at
				}
				for len(mine) > c.size {
					free[mine[len(mine)-1]] = true
					mine = mine[:len(mine)-1]
				}
				for k := 0; len(mine) < c.size; k++ {
					if free[k] {
						free[k] = false
						mine = append(mine, int32(k))
					}
				}
				nodes[c.job], had[c.job] = mine, c.size
				if c.size > 0 {
					held[c.job] = append(held[c.job], replay.Stretch{From: c.at, To: c.at, Nodes: spans(mine)})
				}
			}
		}
		changes = changes[now:]
	}
	return held
}

func spans(nodes []int32) []replay.Span {
	var out []replay.Span
	for _, n := range slices.Sorted(slices.Values(nodes)) {
		if last := len(out) - 1; last >= 0 && out[last].Last+1 == n {
			out[last].Last = n
			continue
		}
		out = append(out, replay.Span{First: n, Last: n})
	}
	return out
}
