package pass

import (
	"time"

	"accordion/core"
	"accordion/oar/tables"
)

// A Budget bounds for how long the SQL of each user (-p) is evaluated by the database: AskedAtOnce, and a tenth of the time that goes by
// after that. It is kept from pass to pass, so that texts that take long do not keep those of others waiting in each of them.
type Budget map[string]tables.Asked

// AskedAtOnce is for how long the texts of a user are asked at once. The last of them may take longer.
const AskedAtOnce = 2 * time.Second

// askedAgain is what part of the time that goes by comes back: one of so many.
const askedAgain = 10

// Owed returns for how long a user's texts were asked lately.
func (b Budget) Owed(user string, now core.Time) time.Duration {
	one := b[user]
	return max(one.Took-time.Duration(max(now-one.At, 0))*time.Second/askedAgain, 0)
}

// Spent reports whether a user's texts have to wait until some time has gone by.
func (b Budget) Spent(user string, now core.Time) bool { return b.Owed(user, now) >= AskedAtOnce }

// Charge adds what a text of a user's took.
func (b Budget) Charge(user string, took time.Duration, now core.Time) {
	b[user] = tables.Asked{User: user, Took: b.Owed(user, now) + took, At: now}
}

// lasting are the rows that are worth remembering.
func (b Budget) lasting(now core.Time) (rows []tables.Asked) {
	const little = 50 * time.Millisecond
	for user := range b {
		if owed := b.Owed(user, now); owed >= little {
			rows = append(rows, tables.Asked{User: user, Took: owed, At: now})
		}
	}
	return rows
}
