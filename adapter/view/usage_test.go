package view

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"accordion/core"
)

const week = core.Time(7 * 86400)

func TestUsageHalvesInEachHalfLife(t *testing.T) {
	l := NewUsageLedger(week, nil)
	l.Add("ann", "physics", 1000, 4000, 0)
	l.Add("ann", "physics", 0, 1000, week)
	got := l.Decayed(l.Users[0], 2*week)
	if math.Abs(got.Used-250) > 0.01 || math.Abs(got.Unused-1500) > 0.01 {
		t.Errorf("after two weeks %.1f node-seconds used and %.1f unused are left, want 250 and 1500", got.Used, got.Unused)
	}
	if again := NewUsageLedger(week, &l.Usage); !slices.Equal(again.Users, l.Users) {
		t.Errorf("a ledger made of %v has %v", l.Users, again.Users)
	}
}

func TestUserIsOverLimitWhenUnusedExceedsLimitAndUsed(t *testing.T) {
	for _, test := range []struct {
		name         string
		used, unused core.Time
		limit        core.Time
		after        core.Time
		want         bool
	}{
		{name: "below the limit", used: 0, unused: 1000, limit: 1000},
		{name: "above it", used: 100, unused: 1001, limit: 1000, want: true},
		{name: "above it, and more was used", used: 2000, unused: 1900, limit: 1000},
		{name: "above it a week ago", used: 100, unused: 1900, limit: 1000, after: week},
		{name: "no limit", unused: 1_000_000},
	} {
		l := NewUsageLedger(week, nil)
		l.Limit = test.limit
		l.Add("ann", "physics", test.used, test.unused/2, 0) // two accounts, because the limit applies to the sum of a user's accounts
		l.Add("ann", "chemistry", 0, test.unused-test.unused/2, 0)
		if got := l.Over("ann", test.after); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if got := len(l.UsersOver(test.after)) == 1; got != test.want || l.Over("bob", test.after) {
			t.Errorf("%s: %v are over the limit", test.name, l.UsersOver(test.after))
		}
		if !l.Reset("ann") || l.Over("ann", 0) || l.Reset("ann") {
			t.Errorf("%s: a user that was reset has %v", test.name, l.Users)
		}
	}
}

func TestUsageLedgerLimitsItsUsers(t *testing.T) {
	l := NewUsageLedger(week, nil)
	for i := range mostUsers + 10 {
		l.Users = append(l.Users, UserUsage{User: fmt.Sprint("user", i), Unused: float64(10 + i)})
	}
	l.Add("ann", "", 0, 5000, 0)
	l.Add("bob", "", 0, 5, 60*week)
	if len(l.Users) > mostUsers || !slices.ContainsFunc(l.Users, func(u UserUsage) bool { return u.User == "bob" }) {
		t.Errorf("%d users are counted, want at most %d, with the newest", len(l.Users), mostUsers)
	}
}
