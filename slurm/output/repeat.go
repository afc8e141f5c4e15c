package output

import (
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// A Slurm reservation may repeat. `scontrol show reservation` prints one occurrence, which is in force or comes next. slurmctld replaces
// it by the next one when it looks at a reservation that has ended (_advance_resv_time in reservation.c). That may be some seconds later.
// It adds days or hours to the local time of day, and takes the weekday of the second in which it does so.

// repeats are the flags of reservations that repeat, in the order in which slurmctld looks for them: older releases take
// several.
var repeats = []string{"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"}

// floatFlag is the flag of a reservation that begins as long after now as it was made, whenever that is: no longer job starts on its nodes.
const floatFlag = "TIME_FLOAT"

// repeatOf returns the flag by which a reservation repeats, of the flags as scontrol prints them; "" when it does not. One that floats comes
// again and again, too.
func repeatOf(flags string) string {
	for _, repeat := range append(repeats, floatFlag) {
		for flag := range strings.SplitSeq(flags, ",") {
			if flag == repeat {
				return repeat
			}
		}
	}
	return ""
}

// How many occurrences are expected after the one that is printed. slurmctld looks for conflicts of two reservations in the next
// seven days: so far at least, and as far as that is cheap.
const (
	hoursAhead = 7 * 24
	daysAhead  = 28 // and weeks
)

// occurrences returns the occurrences after the one from start to end, as slurmctld in that zone will write them.
//
// An hour that the clock repeats, or leaves out, is ambiguous: slurmctld then depends on what it computed before. The
// occurrence lasts from the earliest to the latest that it may be.
func occurrences(start, end core.Time, repeat string, zone *time.Location) []adapter.Span {
	count := daysAhead
	switch repeat {
	case "", floatFlag:
		return nil
	case "HOURLY":
		count = hoursAhead
	}
	all := make([]adapter.Span, count)
	from, to := time.Unix(start, 0).In(zone), time.Unix(end, 0).In(zone)
	for i := range all {
		days, hours := stride(repeat, to.Weekday())
		from, _ = advance(from, days, hours)
		_, to = advance(to, days, hours)
		all[i] = adapter.Span{Start: from.Unix(), End: to.Unix()}
	}
	return all
}

// advance returns the instants at which the local clock may show the time of day of t, the given days and hours later. Where the clock
// leaves that out, mktime goes on by the offset from before.
func advance(t time.Time, days, hours int) (earliest, latest time.Time) {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	wall := time.Date(year, month, day+days, hour+hours, minute, second, 0, time.UTC)
	reading := func(near time.Time) (time.Time, bool) {
		_, offset := near.In(t.Location()).Zone()
		r := wall.Add(-time.Duration(offset) * time.Second).In(t.Location())
		y, m, d := r.Date()
		h, n, s := r.Clock()
		return r, time.Date(y, m, d, h, n, s, 0, time.UTC).Equal(wall)
	}
	earliest, before := reading(wall.Add(-26 * time.Hour))
	latest, after := reading(wall.Add(26 * time.Hour))
	if !after {
		return earliest, earliest
	}
	if !before {
		return latest, latest
	}
	return earliest, latest
}

// stride returns by how much a reservation moves whose occurrence ends on that day of the week.
func stride(repeat string, day time.Weekday) (days, hours int) {
	switch repeat {
	case "HOURLY":
		return 0, 1
	case "DAILY":
		return 1, 0
	case "WEEKLY":
		return 7, 0
	case "WEEKDAY":
		switch day {
		case time.Friday:
			return 3, 0
		case time.Saturday:
			return 2, 0
		}
		return 1, 0
	}
	switch day { // WEEKEND
	case time.Sunday:
		return 6, 0
	case time.Saturday:
		return 1, 0
	}
	return int(time.Saturday - day), 0
}
