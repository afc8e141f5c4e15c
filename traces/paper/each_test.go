package paper_test

import (
	"errors"
	"slices"
	"testing"

	"accordion/traces/paper"
)

func TestEachReportsEveryPartAndReturnsTheFirstError(t *testing.T) {
	var told []int
	if err := paper.Each(t.Context(), 3, func(done int) { told = append(told, done) }, func(int) error { return nil }); err != nil || !slices.Equal(told, []int{1, 2, 3}) {
		t.Errorf("%v, and done are %v", err, told)
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
