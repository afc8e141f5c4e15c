package advise

import (
	"testing"

	"accordion/core"
	"accordion/core/ep"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The test checks the request that each run would have made with its line, and how long it would have run.
func TestRunIsProjectedOntoItsLine(t *testing.T) {
	evolving := again("mesh", 6, []int32{2, 6, 1}, []core.Time{300, 600, 600}, []core.Time{310, 610, 590}, []core.Time{290, 600, 580}, []core.Time{300, 620, 600},
		[]core.Time{300, 600, 600}, []core.Time{300, 900, 600})
	line, err := ep.Parse("2x5m50s,6x11m30s,1x11m")
	if err != nil {
		t.Fatal(err)
	}
	half := again("half", 8, []int32{4}, []core.Time{300}, []core.Time{300}, []core.Time{300}, []core.Time{300})
	two := sized([]int{2, 4, 8}, 9, func(n int) float64 { return map[int]float64{2: 4000, 4: 2000, 8: 2500}[n] })
	failed := evolving[0]
	failed.Completed = false
	for _, c := range []struct {
		name string
		all  []Run
		run  Run
		want Projection
		has  bool
	}{
		{"each step begins when the line says, the last is as long as it was", evolving, evolving[0], Projection{Choices: []core.EP{line}, Runs: []core.Time{350 + 690 + 600}}, true},
		{"late in one step", evolving, evolving[5], Projection{Late: true}, true},
		{"fewer nodes", half, half[3], Projection{Fewer: 4}, true},
		{"more than the line's nodes", half, again("half", 8, []int32{5}, []core.Time{300})[0], Projection{Late: true}, true},
		{"of another job", evolving, half[0], Projection{}, false},
		{"that did not complete", evolving, failed, Projection{}, false},
		{"that started nothing", half, Run{User: "ada", Account: "phys", Partition: "main", Name: "half_1", Requested: 8, Held: 8, End: 300, Completed: true}, Projection{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Make(c.all, Options{})
			got, has := report.Lines(Options{}).Project(&c.run)
			if diff := cmp.Diff(c.want, got); diff != "" || has != c.has {
				t.Errorf("told %t (-want +got):\n%s", has, diff)
			}
		})
	}
	report := Make(two, Options{})
	lines := report.Lines(Options{})
	for held, want := range map[int][2]core.Time{2: {4000, 2000}, 4: {4000, 2000}, 8: {4000, 2000}} {
		run := two[0]
		run.Held, run.Requested, run.End = held, held, run.Start+map[int]core.Time{2: 4000, 4: 2000, 8: 2500}[held]
		got, has := lines.Project(&run)
		if !has || len(got.Runs) != 2 || max(got.Runs[0]-want[0], want[0]-got.Runs[0]) > 40 || max(got.Runs[1]-want[1], want[1]-got.Runs[1]) > 20 {
			t.Errorf("of %d nodes: %+v, want about %v on 2 and 4", held, got, want)
		}
	}
}

// With a line no run works longer than the line's time, and no evolving run holds more nodes than the line has.
func TestProjectedRunStaysWithinItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lengths [][]core.Time
		for range rapid.IntRange(3, 12).Draw(t, "runs") {
			lengths = append(lengths, []core.Time{rapid.Int64Range(200, 260).Draw(t, "a"), rapid.Int64Range(400, 900).Draw(t, "b"), rapid.Int64Range(100, 200).Draw(t, "c")})
		}
		all := again("mesh", 6, []int32{2, 6, 1}, lengths...)
		report := Make(all, Options{})
		lines := report.Lines(Options{})
		onTime := 0
		for i := range all {
			projected, has := lines.Project(&all[i])
			if has != (len(report.Advice) == 1) {
				t.Fatalf("%+v of %+v", projected, report)
			}
			for k, choice := range projected.Choices {
				if projected.Runs[k] < 1 || projected.Runs[k] > choice.Total() || projected.Runs[k] < all[i].End-all[i].Start {
					t.Fatalf("%d seconds of %v, and it ran %d", projected.Runs[k], choice, all[i].End-all[i].Start)
				}
			}
			if has && !projected.Late && i >= len(all)-len(all)/3 {
				onTime++
			}
		}
		if len(report.Advice) == 1 && onTime != report.Advice[0].OnTime {
			t.Fatalf("%d are on time, the advice says %d", onTime, report.Advice[0].OnTime)
		}
	})
}

func TestRunGetsTheLineOfItsSequence(t *testing.T) {
	runs := mixed(again("a", 4, []int32{1, 4}, times(6, 600, 600)...), again("a", 4, []int32{4, 1}, times(4, 300, 900)...), again("a", 4, []int32{1, 4, 2}, times(2, 600, 600, 600)...))
	report := Make(runs, Options{Margin: -1})
	lines := report.Lines(Options{Margin: -1})
	for i, want := range map[int]string{0: "1x600s,4x600s", 6: "4x300s,1x900s", 10: ""} {
		projected, known := lines.Project(&runs[i])
		got := ""
		if known {
			got = projected.Choices[0].String()
		}
		if got != want {
			t.Errorf("run %d goes with %q, want %q", i, got, want)
		}
	}
}
