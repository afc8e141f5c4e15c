package replay_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"accordion/traces/replay"
)

func TestRunPlacedEqualsRunAndPlace(t *testing.T) {
	all := policies(t)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t)
		drawChoices(t, &w)
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "policy")]
		result, placed, err := replay.RunPlaced(w, p)
		if err != nil {
			t.Fatal(err)
		}
		want := replay.Run(w, p)
		after, err := replay.Place(w, want)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(result, want) {
			t.Fatalf("%s: ran %+v, want %+v", p, result, want)
		}
		for i := range w.Jobs {
			if got, want := placed.Steps(i, result), after.Steps(i, want); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: job %d is on %v, want %v", p, i, got, want)
			}
		}
	})
}
