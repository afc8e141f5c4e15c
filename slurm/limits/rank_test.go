package limits

import (
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/output"
)

func TestAgeCountsFromTheSecondSinceWhichAJobCouldRun(t *testing.T) {
	const now, submitted = 1000000, 900000
	c := output.Configuration{"PriorityType": "priority/multifactor", "PriorityWeightAge": "1000", "PriorityMaxAge": "7-00:00:00"}
	for _, test := range []struct {
		name   string
		known  core.Time
		change func(*output.Record)
		want   core.Time
		age    int64 // how much the age adds to the rank; 1,000 after a week
	}{
		{name: "since its submission", change: func(*output.Record) {}, want: submitted, age: 165},
		{name: "since its begin time", change: func(r *output.Record) { r.Begin = now - 50000 }, want: now - 50000, age: 83},
		{name: "as was known", known: now - 30000, change: func(*output.Record) {}, want: now - 30000, age: 50},
		{name: "its begin time is to come", known: submitted, change: func(r *output.Record) { r.Begin = now + 60 }, want: adapter.NotYet},
		{name: "it depends on another", known: submitted, change: func(r *output.Record) { r.DependsOn = "afterany:7" }, want: adapter.NotYet},
		{name: "its user holds it", known: submitted, change: func(r *output.Record) { r.HeldByUser = true }, want: adapter.NotYet},
		{name: "an operator holds it", known: submitted, change: func(r *output.Record) { r.Priority = 0 }, want: adapter.NotYet},
		{name: "it could not run until now", known: adapter.NotYet, change: func(*output.Record) {}, want: now},
		{name: "a limit of its association keeps it", change: func(r *output.Record) { r.Blocked, r.Why = true, "AssocGrpNodeLimit" }, want: submitted, age: 165},
	} {
		r := output.Record{Job: adapter.Job{Key: adapter.Key{ID: 7, Submitted: submitted}, State: adapter.Pending, Reservation: output.Park, Priority: 500}}
		test.change(&r)
		if got := EligibleSince(&r, test.known, time.Unix(now, 0)); got != test.want {
			t.Errorf("%s: since %d, want %d", test.name, got, test.want)
		}
		r.CouldRun = test.want
		if got := Age(c, &r, time.Unix(now, 0)); got != test.age {
			t.Errorf("%s: %d points of age, want %d", test.name, got, test.age)
		}
	}
}

func TestAgeIsTheSameForShortAndLongMaximumAges(t *testing.T) {
	for most, want := range map[string]int64{"7-00:00:00": 99, "00:20:00": 50000} { // with a maximum age of a week, age counts in whole minutes
		c := output.Configuration{"PriorityType": "priority/multifactor", "PriorityWeightAge": "1000000", "PriorityMaxAge": most}
		r := output.Record{Job: adapter.Job{Key: adapter.Key{Submitted: 1000}, CouldRun: 1000}}
		if got := Age(c, &r, time.Unix(1060, 0)); got != want {
			t.Errorf("after 60 s of %s: %d points, want %d", most, got, want)
		}
	}
}
