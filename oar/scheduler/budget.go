package scheduler

import (
	"time"

	"accordion/core"
	"accordion/oar/tables"
)

// A Budget limits how long the database evaluates the SQL of each user (-p). At first a user has BudgetBurst, and then
// regains a tenth of the time that passes. The budget is kept from pass to pass, so that a user's slow SQL does not
// delay other users' SQL in each pass.
type Budget map[string]tables.QueryTime

// BudgetBurst is the evaluation time that a user may use before the refill limits it. The last evaluation may exceed this time.
const BudgetBurst = 2 * time.Second

// budgetRefill sets how fast used time is refilled: after n seconds, n/budgetRefill seconds are refilled.
const budgetRefill = 10

// Used returns how much of a user's budget is used now, after the refill so far.
func (b Budget) Used(user string, now core.Time) time.Duration {
	one := b[user]
	return max(one.Took-time.Duration(max(now-one.At, 0))*time.Second/budgetRefill, 0)
}

// Spent reports whether a user's SQL has to wait until the budget is refilled.
func (b Budget) Spent(user string, now core.Time) bool { return b.Used(user, now) >= BudgetBurst }

// Charge adds the time that a user's SQL took.
func (b Budget) Charge(user string, took time.Duration, now core.Time) {
	b[user] = tables.QueryTime{User: user, Took: b.Used(user, now) + took, At: now}
}

// lasting returns the rows to store, for budgets that are not completely refilled.
func (b Budget) lasting(now core.Time) (rows []tables.QueryTime) {
	const little = 50 * time.Millisecond
	for user := range b {
		if used := b.Used(user, now); used >= little {
			rows = append(rows, tables.QueryTime{User: user, Took: used, At: now})
		}
	}
	return rows
}
