package pass

import (
	"context"
	"errors"
	"slices"
	"time"

	"accordion/oar/database"
)

// eligibility finds the resources that a user's SQL means. Each text is asked once a pass, with the account that may only
// read, and ended when it takes long; of who wrote such a text no other is asked in this pass, and of nobody's when the time
// for all of them is over.
type eligibility struct {
	ask      func(ctx context.Context, text string, patience time.Duration) ([]int64, error)
	patience time.Duration // of one text
	over     func() bool   // the time for all of them is
	found    map[string]eligible
	slow     map[string]bool // users
}

type eligible struct {
	resources []int64
	why       error
}

var errOver = errors.New("there was no time left to look for them")

func newEligibility(ask func(context.Context, string, time.Duration) ([]int64, error), patience time.Duration, over func() bool) *eligibility {
	return &eligibility{ask: ask, patience: patience, over: over, found: map[string]eligible{}, slow: map[string]bool{}}
}

// wish is a text, and who wrote it.
type wish struct{ user, text string }

// wishOf is what a job and a part of its request together want of resources.
func wishOf(w *waiting, g *group) wish {
	return wish{w.user, database.Wanted(w.properties, g.properties)}
}

// all asks for what all jobs want, first for what most of them do: whoever writes what takes long does not take the time
// of those who want what is usual.
func (e *eligibility) all(ctx context.Context, jobs []*waiting) {
	times := map[wish]int{}
	var wishes []wish
	for _, w := range jobs {
		for _, c := range w.choices {
			for _, g := range c.groups {
				one := wishOf(w, g)
				if times[one] == 0 {
					wishes = append(wishes, one)
				}
				times[one]++
			}
		}
	}
	sum := map[string]int{}
	for one, n := range times {
		sum[one.text] += n
	}
	slices.SortStableFunc(wishes, func(a, b wish) int { return sum[b.text] - sum[a.text] })
	for _, one := range wishes {
		_, _ = e.of(ctx, one) // what went wrong is kept for those who want it
	}
}

// of gives the numbers of the resources that a wish means.
func (e *eligibility) of(ctx context.Context, one wish) ([]int64, error) {
	if known, asked := e.found[one.text]; asked {
		return known.resources, known.why
	}
	if e.slow[one.user] {
		return nil, database.ErrSlow
	}
	if e.over() {
		return nil, errOver
	}
	ids, err := e.ask(ctx, one.text, e.patience)
	if errors.Is(err, database.ErrSlow) {
		e.slow[one.user] = true
	}
	e.found[one.text] = eligible{ids, err}
	return ids, err
}

// eligible asks the database.
func (d store) eligible(ctx context.Context, text string, patience time.Duration) ([]int64, error) {
	return database.Eligible[int64](ctx, d.DB, "resource_id", text, patience)
}
