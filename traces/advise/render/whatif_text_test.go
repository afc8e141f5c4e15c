package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/traces/advise/whatif"
)

// of returns a group with two cases: the site as it was, and patient with the lines. `wait` and `slowdown` each
// have two changes: relative to the site as it was, and relative to patient without the lines.
func of(wait, slowdown [2]float64) *whatif.Group {
	figure := func(was float64, by [2]float64) whatif.Figure {
		estimate := func(v float64) whatif.Change {
			return whatif.Change{By: whatif.Estimate{Value: v, Low: v - 1, High: v + 1, Known: true}}
		}
		lines := estimate(by[1])
		return whatif.Figure{Value: was + by[0], Now: estimate(by[0]), Alone: &lines}
	}
	return &whatif.Group{Rows: []whatif.Row{{Policy: "easy"}, {Policy: "patient", Lines: true,
		Of: [whatif.Kinds]whatif.Figure{whatif.Wait: figure(3600, wait), whatif.Slowdown: figure(50, slowdown)}}}}
}

func TestGroupThatIsBetterOffThanTodayDoesNotLose(t *testing.T) {
	for _, c := range []struct {
		name           string
		wait, slowdown [2]float64
		lost, smaller  []string
	}{
		{name: "all gain more without the lines", wait: [2]float64{-600, 60}, slowdown: [2]float64{-9, 2}, smaller: []string{
			"Others gain in the mean: under patient with the lines they wait 10m less (95 %: 9m59s to 10m1s) and have a slowdown that is 9.00 less (95 %: 8.00 to 10.00), than as it was. " +
				"That is less than without the lines: compared with patient alone they wait 1m longer (95 %: 59s to 1m1s) and have a slowdown that is 2.00 more (95 %: 1.00 to 3.00).",
		}},
		{name: "the lines take the whole gain", wait: [2]float64{0, 60}, smaller: []string{
			"Others are no worse off under patient with the lines than as it was. Without the lines they would gain: compared with patient alone they wait 1m longer (95 %: 59s to 1m1s).",
		}},
		{name: "waits are shorter, and the slowdown is larger", wait: [2]float64{-600, 60}, slowdown: [2]float64{5, 6}, lost: []string{
			"Others would lose in the mean: under patient with the lines they have a slowdown that is 5.00 more (95 %: 4.00 to 6.00), than as it was, though they wait 10m less (95 %: 9m59s to 10m1s).",
			"Others would lose in the mean: under patient with the lines they have a slowdown that is 6.00 more (95 %: 5.00 to 7.00), than under patient without the lines, though they wait 10m less (95 %: 9m59s to 10m1s) than as it was.",
		}, smaller: []string{
			"Others gain in the mean: under patient with the lines they wait 10m less (95 %: 9m59s to 10m1s), than as it was. That is less than without the lines: compared with patient alone they wait 1m longer (95 %: 59s to 1m1s).",
		}},
		{name: "all lose", wait: [2]float64{600, 600}, lost: []string{
			"Others would lose in the mean: under patient with the lines they wait 10m longer (95 %: 9m59s to 10m1s), than as it was.",
		}},
	} {
		lost, smaller := losses("Others", of(c.wait, c.slowdown).Losses())
		if diff := cmp.Diff(c.lost, lost); diff != "" {
			t.Errorf("%s: losses differ (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.smaller, smaller); diff != "" {
			t.Errorf("%s: gains differ (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestSmallerGainsFollowLosses(t *testing.T) {
	got := (&WhatIf{Losses: []string{"Others would lose."}, Smaller: []string{"Those that tell gain."}, About: "What if?", Groups: []Supposed{{}}}).text()
	if want := "Others would lose.\nThose that tell gain.\n\nWhat if?\n"; !strings.HasPrefix(got, want) {
		t.Errorf("the terminal shows %q", got)
	}
}
