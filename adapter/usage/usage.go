// Package usage counts how users use the nodes that are promised to their jobs. It counts
// node-seconds that their jobs held, and node-seconds that were reserved ahead for later steps
// which never began. Both halve in a half-life. The package does no input or output.
//
//	l := usage.New(week, before)
//	l.Add("ann", "physics", used, unused, now)
//	if usage.Over(l.Usage, "ann", now) { … } // her jobs' later steps are not reserved ahead
package usage

import (
	"cmp"
	"math"
	"slices"

	"accordion/adapter/view"
	"accordion/core"
)

// A Ledger holds the counts of all users.
type Ledger struct{ view.Usage }

// most is how many users and accounts are counted. Beyond it those with the least are forgotten.
const most = 10_000

// New returns a ledger with the counts that an earlier one showed; nil: none.
func New(halfLife core.Time, before *view.Usage) *Ledger {
	l := &Ledger{view.Usage{HalfLife: halfLife}}
	if before != nil {
		l.Users = slices.Clone(before.Users)
	}
	return l
}

// Add counts node-seconds of a job that has ended.
func (l *Ledger) Add(user, account string, used, unused core.Time, now core.Time) {
	if used <= 0 && unused <= 0 {
		return
	}
	l.Users = slices.Clone(l.Users) // what was shown stays as it is
	i := slices.IndexFunc(l.Users, func(u view.UserUsage) bool { return u.User == user && u.Account == account })
	if i < 0 {
		l.Users = append(l.prune(now), view.UserUsage{User: user, Account: account, At: now})
		i = len(l.Users) - 1
	}
	u := Now(l.Usage, l.Users[i], now)
	u.Used += float64(max(used, 0))
	u.Unused += float64(max(unused, 0))
	l.Users[i] = u
	slices.SortFunc(l.Users, func(a, b view.UserUsage) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Account, b.Account))
	})
}

// prune returns the users whose counts are not negligible, without the least where there are too
// many.
func (l *Ledger) prune(now core.Time) []view.UserUsage {
	all := slices.DeleteFunc(l.Users, func(u view.UserUsage) bool {
		u = Now(l.Usage, u, now)
		return u.Used < 1 && u.Unused < 1
	})
	if len(all) >= most {
		slices.SortFunc(all, func(a, b view.UserUsage) int {
			a, b = Now(l.Usage, a, now), Now(l.Usage, b, now)
			return cmp.Or(cmp.Compare(b.Unused, a.Unused), cmp.Compare(b.Used, a.Used))
		})
		all = all[:most-1]
	}
	return all
}

// Reset forgets a user's counts, in all accounts, and reports whether there were any.
func (l *Ledger) Reset(user string) bool {
	before := len(l.Users)
	l.Users = slices.DeleteFunc(slices.Clone(l.Users), func(u view.UserUsage) bool { return u.User == user })
	return len(l.Users) < before
}

// Now returns a user's counts as they are at a second.
func Now(all view.Usage, u view.UserUsage, now core.Time) view.UserUsage {
	if all.HalfLife > 0 && now > u.At {
		left := math.Exp2(-float64(now-u.At) / float64(all.HalfLife))
		u.Used, u.Unused = u.Used*left, u.Unused*left
	}
	u.At = max(u.At, now)
	return u
}

// Over reports whether a user's jobs left more node-seconds unused than the limit, and more than they used.
func Over(all view.Usage, user string, now core.Time) bool {
	if all.Limit <= 0 {
		return false
	}
	var used, unused float64
	for _, u := range all.Users {
		if u.User == user {
			u = Now(all, u, now)
			used, unused = used+u.Used, unused+u.Unused
		}
	}
	return unused > float64(all.Limit) && unused > used
}

// Users returns the names of the users over the limit.
func Users(all view.Usage, now core.Time) (over []string) {
	for _, u := range all.Users {
		if !slices.Contains(over, u.User) && Over(all, u.User, now) {
			over = append(over, u.User)
		}
	}
	return over
}
