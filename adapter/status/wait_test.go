package status

import (
	"testing"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

// everySecond returns the same as analysis.shortage, but checks every second.
func everySecond(a analysis, e *view.Entry, begin core.Time) *Shortage {
	second := begin
	for i, s := range profileOf(e) {
		for range s.Duration {
			if free := a.free(second); free < s.Nodes {
				return &Shortage{At: second, Step: i + 1, Needs: s.Nodes, Free: max(free, 0)}
			}
			second++
		}
	}
	return nil
}

func TestShortageIsAtTheFirstSecondWithTooFewNodes(t *testing.T) {
	moment := rapid.Int64Range(1, 40)
	nodes := rapid.IntRange(0, 5)
	plan := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
		return core.Step{Duration: rapid.Int64Range(1, 9).Draw(t, "duration"), Nodes: nodes.Draw(t, "nodes")}
	}), 1, 4)
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		a := analysis{queue: &view.Queue{}, now: moment.Draw(rt, "now")}
		a.approach = rapid.Int64Range(0, 5).Draw(rt, "approach")
		a.queue.Nodes = rapid.IntRange(4, 12).Draw(rt, "pool")
		for range rapid.IntRange(0, 3).Draw(rt, "closures") {
			start := moment.Draw(rt, "closure")
			c := view.Closure{Nodes: nodes.Draw(rt, "closed"), Start: start, End: start + moment.Draw(rt, "length")}
			for range rapid.IntRange(0, 2).Draw(rt, "repeats") {
				start = start + moment.Draw(rt, "until")
				c.Later = append(c.Later, adapter.Span{Start: start, End: start + moment.Draw(rt, "length")})
			}
			a.queue.Closures = append(a.queue.Closures, c)
		}
		for range rapid.IntRange(0, 4).Draw(rt, "others") {
			o := view.Entry{Rank: rapid.IntRange(0, 1).Draw(rt, "rank"), Start: moment.Draw(rt, "start"), Size: nodes.Draw(rt, "size")}
			if rapid.Bool().Draw(rt, "evolving") {
				o.Plan = plan.Draw(rt, "plan")
			} else {
				o.Free = o.Start + moment.Draw(rt, "runs")
			}
			a.others = append(a.others, o)
		}
		job := view.Entry{Rank: 9, Start: a.now + 5 + moment.Draw(rt, "mine"), Plan: plan.Draw(rt, "my plan")}
		begin := rapid.Int64Range(a.now, job.Start-1).Draw(rt, "begun")
		got, want := a.shortage(&job, begin), everySecond(a, &job, begin)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			rt.Fatalf("shortage %+v, second by second %+v", got, want)
		}
		if want != nil {
			found++
		}
	})
	if found == 0 {
		t.Error("no case had a shortage")
	}
}
