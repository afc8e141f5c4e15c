package view

import (
	"cmp"
	"math"
	"slices"

	"accordion/core"
)

// Usage has counts of node-seconds of jobs that have ended, for each user. Each count decreases by
// half every HalfLife seconds.
type Usage struct {
	HalfLife core.Time   `json:"half_life"` // seconds
	Limit    core.Time   `json:"limit"`     // number of unused node-seconds above which no nodes are reserved ahead for later steps of the user's jobs; 0 means no limit
	Users    []UserUsage `json:"users"`
}

// UserUsage is the usage of one user's jobs in one account, as it was at the Unix second At.
type UserUsage struct {
	User    string    `json:"user"`
	Account string    `json:"account,omitempty"`
	Used    float64   `json:"used"`   // node-seconds that the jobs held
	Unused  float64   `json:"unused"` // node-seconds that were reserved ahead for later steps, and not used because the steps did not begin
	At      core.Time `json:"at"`
}

// Same reports whether all fields are equal.
func (u *Usage) Same(o *Usage) bool {
	if u == nil || o == nil {
		return u == o
	}
	return u.HalfLife == o.HalfLife && u.Limit == o.Limit && slices.Equal(u.Users, o.Users)
}

// Decayed returns the counts in `one` as they have decreased until the Unix second `now`.
func (u *Usage) Decayed(one UserUsage, now core.Time) UserUsage {
	if u.HalfLife > 0 && now > one.At {
		left := math.Exp2(-float64(now-one.At) / float64(u.HalfLife))
		one.Used, one.Unused = one.Used*left, one.Unused*left
	}
	one.At = max(one.At, now)
	return one
}

// Over reports whether a user's jobs in all accounts left more node-seconds unused than Limit allows, and also more than they used.
func (u *Usage) Over(user string, now core.Time) bool {
	if u.Limit <= 0 {
		return false
	}
	var used, unused float64
	for _, one := range u.Users {
		if one.User == user {
			one = u.Decayed(one, now)
			used, unused = used+one.Used, unused+one.Unused
		}
	}
	return unused > float64(u.Limit) && unused > used
}

// UsersOver returns the names of the users for whom Over returns true.
func (u *Usage) UsersOver(now core.Time) (over []string) {
	for _, one := range u.Users {
		if !slices.Contains(over, one.User) && u.Over(one.User, now) {
			over = append(over, one.User)
		}
	}
	return over
}

// UsageLedger is a Usage to which jobs are added when they end.
//
//	l := view.NewUsageLedger(week, before)
//	l.Add("ann", "physics", used, unused, now)
//	if l.Over("ann", now) { … } // no nodes are reserved ahead for later steps of her jobs
type UsageLedger struct{ Usage }

// mostUsers is the largest number of elements of Usage.Users. There is one element for each user and
// account. If there are more, the elements with the fewest unused node-seconds are removed.
const mostUsers = 10_000

// NewUsageLedger returns a ledger that begins with the counts in `before`, or with no counts if
// `before` is nil.
func NewUsageLedger(halfLife core.Time, before *Usage) *UsageLedger {
	l := &UsageLedger{Usage{HalfLife: halfLife}}
	if before != nil {
		l.Users = slices.Clone(before.Users)
	}
	return l
}

// Add counts node-seconds of a job that has ended.
func (l *UsageLedger) Add(user, account string, used, unused core.Time, now core.Time) {
	if used <= 0 && unused <= 0 {
		return
	}
	l.Users = slices.Clone(l.Users) // a clone, because a published Usage must not change
	i := slices.IndexFunc(l.Users, func(u UserUsage) bool { return u.User == user && u.Account == account })
	if i < 0 {
		l.Users = append(l.prune(now), UserUsage{User: user, Account: account, At: now})
		i = len(l.Users) - 1
	}
	u := l.Decayed(l.Users[i], now)
	u.Used += float64(max(used, 0))
	u.Unused += float64(max(unused, 0))
	l.Users[i] = u
	slices.SortFunc(l.Users, func(a, b UserUsage) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Account, b.Account))
	})
}

// prune returns Users without the elements whose counts are below one node-second. If there are still
// too many elements, it also removes those with the fewest unused node-seconds.
func (l *UsageLedger) prune(now core.Time) []UserUsage {
	all := slices.DeleteFunc(l.Users, func(u UserUsage) bool {
		u = l.Decayed(u, now)
		return u.Used < 1 && u.Unused < 1
	})
	if len(all) >= mostUsers {
		slices.SortFunc(all, func(a, b UserUsage) int {
			a, b = l.Decayed(a, now), l.Decayed(b, now)
			return cmp.Or(cmp.Compare(b.Unused, a.Unused), cmp.Compare(b.Used, a.Used))
		})
		all = all[:mostUsers-1]
	}
	return all
}

// Reset removes a user's counts in all accounts, and reports whether there were any.
func (l *UsageLedger) Reset(user string) bool {
	before := len(l.Users)
	l.Users = slices.DeleteFunc(slices.Clone(l.Users), func(u UserUsage) bool { return u.User == user })
	return len(l.Users) < before
}
