package scheduler

import (
	"time"

	"accordion/core"
	"accordion/oar/tables"
)

// A Budget bounds how long the database evaluates the SQL of each user (-p): BudgetBurst at first, and then a tenth of
// the time that passes. It is kept from pass to pass. So SQL that takes long does not make other users' SQL wait in
// each pass.
type Budget map[string]tables.QueryTime

// BudgetBurst is how long a user's SQL is evaluated at once. The last evaluation may exceed it.
const BudgetBurst = 2 * time.Second

// budgetRefill is the divisor of the time that comes back: after n seconds, n/budgetRefill seconds.
const budgetRefill = 10

// Used returns how much of the budget the user's SQL has used and not got back by now.
func (b Budget) Used(user string, now core.Time) time.Duration {
	one := b[user]
	return max(one.Took-time.Duration(max(now-one.At, 0))*time.Second/budgetRefill, 0)
}

// Spent reports whether the user's SQL has to wait until some of the budget has come back.
func (b Budget) Spent(user string, now core.Time) bool { return b.Used(user, now) >= BudgetBurst }

// Charge adds the time that a user's SQL took.
func (b Budget) Charge(user string, took time.Duration, now core.Time) {
	b[user] = tables.QueryTime{User: user, Took: b.Used(user, now) + took, At: now}
}

// lasting returns the rows that are worth storing.
func (b Budget) lasting(now core.Time) (rows []tables.QueryTime) {
	const little = 50 * time.Millisecond
	for user := range b {
		if used := b.Used(user, now); used >= little {
			rows = append(rows, tables.QueryTime{User: user, Took: used, At: now})
		}
	}
	return rows
}
