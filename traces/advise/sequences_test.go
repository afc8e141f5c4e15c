package advise

import (
	"fmt"
	"slices"
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

// mixed returns the runs of all kinds as runs of one job, with different IDs and starts.
func mixed(kinds ...[]Run) []Run {
	all := slices.Concat(kinds...)
	for i := range all {
		r := &all[i]
		r.ID = fmt.Sprint(i)
		shift := core.Time(i) // so that no two runs start at the same time
		r.Start, r.End, r.Submit = r.Start+shift, r.End+shift, r.Submit+shift
		for k := range r.Steps {
			r.Steps[k].From, r.Steps[k].To = r.Steps[k].From+shift, r.Steps[k].To+shift
		}
	}
	return all
}

func times(n int, lengths ...core.Time) [][]core.Time {
	return slices.Repeat([][]core.Time{lengths}, n)
}

func TestRunsOfSeveralSequencesGetALineEach(t *testing.T) {
	up := again("a", 4, []int32{1, 4}, times(6, 600, 600)...)
	down := again("a", 4, []int32{4, 1}, times(4, 300, 900)...)
	peak := again("a", 4, []int32{1, 4, 2}, times(2, 600, 600, 600)...)
	full := again("a", 4, []int32{4}, times(3, 600)...)
	report := Make(mixed(up, down, peak, full), Options{Margin: -1})
	var got []string
	for _, a := range report.Advice {
		got = append(got, fmt.Sprintf("%s %s %d of %d, %d of %d on time: %s%s", a.Kind, a.Sequence, a.Runs, a.Of, a.OnTime, a.Checked, a.Line, a.Why))
	}
	want := []string{
		"evolving 1, 4 nodes 6 of 15, 2 of 2 on time: #EP 1x10m,4x10m",
		"evolving 4, 1 nodes 4 of 15, 1 of 1 on time: #EP 4x5m,1x15m",
		"left  2 of 15, 0 of 0 on time: these evolve otherwise than the others, and seldom alike: 2 times 1, 4, 2 nodes",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if report.NoAdvice != (NoAdvice{FullyUsed: 3}) {
		t.Errorf("%+v are left, want the three that use what they hold", report.NoAdvice)
	}
}

func TestForReturnsTheAdviceOfTheSequence(t *testing.T) {
	runs := mixed(again("a", 4, []int32{1, 4}, times(6, 600, 600)...), again("a", 4, []int32{4, 1}, times(4, 300, 900)...), again("a", 4, []int32{1, 4, 2}, times(2, 600, 600, 600)...))
	report := Make(runs, Options{Margin: -1})
	for i, want := range map[int]string{0: "#EP 1x10m,4x10m", 6: "#EP 4x5m,1x15m", 10: ""} {
		own := ForRun(&runs[i], Options{Margin: -1})
		a := report.For(&own)
		if a == nil || a.Line != want {
			t.Errorf("to run %d belongs %+v, want %q", i, a, want)
		}
	}
	if a := report.For(&Advice{Group: Group{Name: "other"}}); a != nil {
		t.Errorf("to another job belongs %+v", a)
	}
	for i, seen := range Profiles(runs, report.Advice, Options{Margin: -1}, 100) {
		if len(seen) != report.Advice[i].Runs {
			t.Errorf("%d runs are drawn for %+v", len(seen), report.Advice[i])
		}
	}
}

// However the runs of a job evolve, each is part of exactly one advice, or counted.
func TestEachRunIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Run
		for range rapid.IntRange(3, 20).Draw(t, "runs") {
			r := *runs.Draw(t, "run")
			r.ID = fmt.Sprint(len(all))
			all = append(all, r)
		}
		report := Make(all, Options{Shortest: 1})
		n, of := 0, map[Group]int{}
		for _, a := range report.Advice {
			n += a.Runs
			if a.Sequence != "" && a.Of <= a.Runs {
				t.Errorf("%d of %d runs are %s", a.Runs, a.Of, a.Sequence)
			}
			of[a.Group]++
		}
		if l := report.NoAdvice; n+l.NotCompleted+l.NoSteps+l.TooFewRuns+l.FullyUsed != len(all) {
			t.Errorf("%d runs in %d pieces of advice, and %+v, of %d", n, len(report.Advice), l, len(all))
		}
	})
}
