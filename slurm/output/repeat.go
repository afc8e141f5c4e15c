package output

import (
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// A Slurm reservation may repeat. `scontrol show reservation` prints one occurrence: the current or the next one.
// slurmctld replaces that occurrence by the following one when it checks for reservations that have ended
// (_advance_resv_time in reservation.c), perhaps some seconds late. slurmctld adds days or hours to the local time
// of day. If the flag depends on the weekday, slurmctld uses the weekday of the second in which it replaces the
// occurrence.

// repeats lists the flags of repeating reservations, in the order in which slurmctld looks for them. Older releases
// accept several of them in one reservation.
var repeats = []string{"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"}

// floatFlag marks a reservation whose start is always a fixed time in the future. Longer jobs therefore never start
// on its nodes.
const floatFlag = "TIME_FLOAT"

// repeatOf returns the flag by which a reservation repeats. `flags` is as scontrol prints it. repeatOf returns ""
// if the reservation does not repeat. A floating reservation counts as repeating.
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

// How many occurrences after the printed one are computed. slurmctld checks the next seven days for conflicts
// between two reservations, so these numbers cover at least seven days. They cover more if that is cheap.
const (
	hoursAhead = 7 * 24
	daysAhead  = 28 // also of weekly reservations
)

// occurrences returns the occurrences after the one from `start` to `end`, as slurmctld computes them in the time
// zone.
//
// An hour that the clock repeats or skips is ambiguous, because slurmctld's result then depends on its earlier
// results. Such an occurrence lasts from the earliest to the latest possible time.
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

// advance returns the earliest and the latest instant at which the local clock shows t's time of day, `days` and
// `hours` later. If the clock skips that time, the result is that of mktime, which uses the UTC offset from before
// the skip.
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

// stride returns by how many days and hours a reservation moves if its occurrence ends on the given day of the
// week.
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
