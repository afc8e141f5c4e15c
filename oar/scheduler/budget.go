package scheduler

import (
	"time"

	"accordion/core"
	"accordion/oar/tables"
)

// A Budget bounds how long the database evaluates the SQL of each user (-p): AskedAtOnce, and then
// a tenth of the time that passes. It is kept from pass to pass. So texts that take long do not
// make texts of other users wait in each pass.
type Budget map[string]tables.Asked

// AskedAtOnce is how long the texts of a user are evaluated at once. The last of them may take
// longer.
const AskedAtOnce = 2 * time.Second

// askedAgain is the divisor of the time that comes back: after n seconds, n/askedAgain seconds.
const askedAgain = 10

// Owed returns how long a user's texts were evaluated lately.
func (b Budget) Owed(user string, now core.Time) time.Duration {
	one := b[user]
	return max(one.Took-time.Duration(max(now-one.At, 0))*time.Second/askedAgain, 0)
}

// Spent reports whether a user's texts have to wait until some time has gone by.
func (b Budget) Spent(user string, now core.Time) bool { return b.Owed(user, now) >= AskedAtOnce }

// Charge adds the time that a user's text took.
func (b Budget) Charge(user string, took time.Duration, now core.Time) {
	b[user] = tables.Asked{User: user, Took: b.Owed(user, now) + took, At: now}
}

// lasting returns the rows that are worth remembering.
func (b Budget) lasting(now core.Time) (rows []tables.Asked) {
	const little = 50 * time.Millisecond
	for user := range b {
		if owed := b.Owed(user, now); owed >= little {
			rows = append(rows, tables.Asked{User: user, Took: owed, At: now})
		}
	}
	return rows
}
