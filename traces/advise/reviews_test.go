package advise

import (
	"fmt"
	"slices"
	"testing"

	"accordion/core"
)

// carried returns jobs of ada with one line, whose steps had these durations.
func carried(line string, declared core.EP, lengths ...[]core.Time) []ManagedRun {
	var all []ManagedRun
	for i, real := range lengths {
		all = append(all, ManagedRun{ID: fmt.Sprint(i), User: "ada", Line: line, Declared: declared, Began: core.Time(i), Actual: real, Ended: true})
	}
	return all
}

func TestJobsThatCarryALineAreReviewed(t *testing.T) {
	declared := core.EP{{Duration: 1200, Nodes: 2}, {Duration: 3600, Nodes: 16}}
	for _, c := range []struct {
		name   string
		jobs   []ManagedRun
		better string // "" for none
		before int
		onTime int
		late   []int
	}{
		{"it takes half", carried("a", declared, []core.Time{600, 1800}, []core.Time{610, 1700}, []core.Time{590, 1750}), "2x680s,16x1980s", 1, 1, []int{0, 0}},
		{"its second step is late", carried("a", declared, []core.Time{1190, 4000}, []core.Time{1100, 4100}, []core.Time{1090, 4050}), "2x1320s,16x4560s", 0, 1, []int{0, 3}},
		{"as told", carried("a", declared, []core.Time{1080, 3270}, []core.Time{1080, 3270}, []core.Time{1080, 3270}), "", 1, 1, []int{0, 0}},
		{"too seldom", carried("a", declared, []core.Time{600, 1800}, []core.Time{600, 1800}), "", 0, 0, []int{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := Reviews(c.jobs, Options{})
			if len(all) != 1 {
				t.Fatalf("%+v", all)
			}
			r := all[0]
			better := ""
			if r.Better != nil {
				better = r.Better.String()
			}
			var late []int
			for _, s := range r.Steps {
				late = append(late, s.Late)
			}
			if better != c.better || r.Before != c.before || r.OnTime != c.onTime || !slices.Equal(late, c.late) || r.Runs != len(c.jobs) {
				t.Errorf("%s, %d and then %d of %d on time, late %v: %+v", better, r.Before, r.OnTime, r.Checked, late, r)
			}
		})
	}
}

// Jobs that did not end by themselves do not count for the durations, and each line has its own review.
func TestJobsThatDidNotEndAreNotReviewed(t *testing.T) {
	declared := core.EP{{Duration: 100, Nodes: 2}, {Duration: 100, Nodes: 4}}
	jobs := carried("a", declared, []core.Time{50, 50}, []core.Time{50}, []core.Time{50, 50}, nil)
	jobs[2].Ended = false
	jobs = append(jobs, carried("b", declared[:1], []core.Time{100})...)
	all := Reviews(jobs, Options{})
	if len(all) != 2 || all[0].Line != "a" || all[0].Runs != 1 || all[0].Others != 3 || all[0].Latest != "0" || all[1].Line != "b" || all[1].Runs != 1 {
		t.Errorf("%+v", all)
	}
	if got := Reviews(nil, Options{}); len(got) != 0 {
		t.Errorf("no jobs give %+v", got)
	}
}
