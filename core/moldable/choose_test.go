package moldable_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

func TestTheSizesOfAModelAreChosenAsIfEachHadBeenTried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := profile.New(rapid.IntRange(1, 24).Draw(t, "nodes"))
		for range rapid.IntRange(0, 12).Draw(t, "others") {
			view.Add(rapid.Int64Range(0, 60).Draw(t, "start"),
				core.EP{{Duration: rapid.Int64Range(1, 40).Draw(t, "duration"), Nodes: rapid.IntRange(1, 20).Draw(t, "size")}})
		}
		choices, err := moldable.Parse(fmt.Sprintf("amdahl:p=0.%d,t1=%ds,nodes=%d-%d", rapid.IntRange(0, 99).Draw(t, "p"),
			rapid.IntRange(1, 300).Draw(t, "t1"), rapid.IntRange(1, 8).Draw(t, "from"), rapid.IntRange(8, 30).Draw(t, "to")))
		if err != nil {
			t.Fatal(err)
		}
		j := core.Job{ID: 1, Begin: rapid.Int64Range(0, 30).Draw(t, "begin"), Choices: choices}
		got, ok := new(moldable.Chooser).Best(view, 0, j)
		var want core.Planned
		found := false
		for i, ep := range choices {
			start, fits := view.FirstFit(ep[0].Nodes, ep[0].Duration, j.Begin)
			if fits && (!found || start+ep[0].Duration < want.End()) {
				want, found = core.Planned{Allocation: core.Allocation{Job: 1, Start: start, EP: ep}, Choice: i}, true
			}
		}
		if ok != found || ok && (got.Choice != want.Choice || got.Start != want.Start) {
			t.Fatalf("chosen is %+v, %t; one search a size gives %+v, %t", got, ok, want, found)
		}
	})
}
