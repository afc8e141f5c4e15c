package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// eligibility finds the resources that a user's SQL selects, if the SQL is not a condition. The database evaluates each text once in a
// pass, with the read-only account and a timeout. After a timeout, no other text of the same user is evaluated in this pass. If a user has
// spent the budget, none of the user's texts is evaluated until the budget is refilled. When the time for all texts has passed, no further
// text is evaluated.
type eligibility struct {
	ask      func(ctx context.Context, text string, patience time.Duration) ([]int64, error)
	patience time.Duration // timeout of one text
	over     func() bool   // reports whether the time for all texts has passed
	now      core.Time
	budget   Budget
	found    map[string]eligible
	slow     map[string]bool // users
}

type eligible struct {
	resources []int64
	why       error
}

var (
	errOver  = errors.New("no time was left to evaluate them")
	errSpent = errors.New("those of its user have taken long lately, and are looked for less often")
	errLater = errors.New("they are looked for when it may begin")
)

func newEligibility(ask func(context.Context, string, time.Duration) ([]int64, error), patience time.Duration, over func() bool) *eligibility {
	return &eligibility{ask: ask, patience: patience, over: over, budget: Budget{}, found: map[string]eligible{}, slow: map[string]bool{}}
}

// wish is SQL that selects resources, with the user who wrote it.
type wish struct{ user, text string }

// wishOf returns the condition that a job and a part of its request together set on resources.
func wishOf(w *waiting, g *group) wish {
	return wish{w.user, database.ResourceCondition(w.properties, g.properties)}
}

// all evaluates the jobs' texts. The next text is always of the user whose texts have taken least time so far, so that a user with slow
// texts does not use up the time of others. If several users are equal, the text that most users have comes first, then the text that most
// jobs have.
func (e *eligibility) all(ctx context.Context, wishes []wish) {
	users, jobs := map[string]map[string]bool{}, map[string]int{}
	var names []string
	texts := map[string][]string{} // texts of each user
	for _, one := range wishes {
		if jobs[one.text]++; users[one.text] == nil {
			users[one.text] = map[string]bool{}
		}
		if texts[one.user] == nil {
			names = append(names, one.user)
		}
		if !users[one.text][one.user] {
			users[one.text][one.user] = true
			texts[one.user] = append(texts[one.user], one.text)
		}
	}
	first := func(a, b string) int {
		if d := len(users[b]) - len(users[a]); d != 0 {
			return d
		}
		return jobs[b] - jobs[a]
	}
	for _, name := range names {
		slices.SortStableFunc(texts[name], first)
	}
	for len(names) > 0 {
		next := slices.MinFunc(names, func(a, b string) int {
			if d := e.budget.Used(a, e.now) - e.budget.Used(b, e.now); d != 0 {
				return int(d)
			}
			return first(texts[a][0], texts[b][0])
		})
		_, _ = e.of(ctx, wish{next, texts[next][0]}) // e.found stores the error
		if texts[next] = texts[next][1:]; len(texts[next]) == 0 {
			names = slices.DeleteFunc(names, func(name string) bool { return name == next })
		}
	}
}

// of returns the IDs of the resources that a wish selects.
func (e *eligibility) of(ctx context.Context, one wish) ([]int64, error) {
	if known, asked := e.found[one.text]; asked {
		return known.resources, known.why
	}
	switch {
	case e.slow[one.user]:
		return nil, database.ErrSlow
	case e.budget.Spent(one.user, e.now):
		return nil, errSpent
	case e.over():
		return nil, errOver
	}
	begin := time.Now()
	ids, err := e.ask(ctx, one.text, e.patience)
	e.budget.Charge(one.user, time.Since(begin), e.now)
	if errors.Is(err, database.ErrSlow) {
		e.slow[one.user] = true
	}
	e.found[one.text] = eligible{ids, err}
	return ids, err
}

// eligible evaluates a text in the database.
func (d store) eligible(ctx context.Context, text string, patience time.Duration) ([]int64, error) {
	return database.Eligible[int64](ctx, d.DB, "resource_id", text, patience)
}

// remembered returns the budgets of all users that the last pass has stored.
func (d store) remembered(ctx context.Context) (Budget, error) {
	rows, err := d.ReadQueryTimes(ctx)
	b := Budget{}
	for _, one := range rows {
		b[one.User] = one
	}
	return b, err
}

// remember stores the budget for the next pass.
func (d store) remember(ctx context.Context, before, after []tables.QueryTime) error {
	if len(before) == 0 && len(after) == 0 {
		return nil
	}
	return d.WriteQueryTimes(ctx, after)
}
