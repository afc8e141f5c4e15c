package paper_test

import (
	"errors"
	"slices"
	"testing"

	"accordion/traces/paper"
)

func TestEachReportsEveryPartAndReturnsTheFirstError(t *testing.T) {
	var progress []int
	if err := paper.Each(t.Context(), 3, func(done int) { progress = append(progress, done) }, func(int) error { return nil }); err != nil || !slices.Equal(progress, []int{1, 2, 3}) {
		t.Errorf("%v, and done are %v", err, progress)
	}
	broken := errors.New("part 0 is broken")
	parts := 0
	err := paper.Each(t.Context(), 1000, func(done int) { parts = done }, func(i int) error {
		if i == 0 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || parts == 1000 {
		t.Errorf("%v after %d parts", err, parts)
	}
}
