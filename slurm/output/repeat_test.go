package output

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/core"
)

// at returns the second at which a clock in the zone shows the time in `text`. If the clock shows that time twice,
// the text has a UTC offset.
func at(t testing.TB, zone *time.Location, text string) core.Time {
	t.Helper()
	if when, err := time.Parse("2006-01-02 15:04 -0700", text); err == nil {
		return when.Unix()
	}
	when, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return when.Unix()
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// The expected times were computed with localtime_r and mktime of glibc 2.36, as slurmctld does (22.05, 24.11,
// 26.05: _advance_time). In a repeated hour the result depends on earlier results, and the span covers both
// possible results.
func TestARepeatingReservationKeepsItsLocalTimeOfDay(t *testing.T) {
	for _, c := range []struct {
		name, repeat, zone, start, end string
		later                          []string // the start and end of each occurrence, in turn
	}{
		{"hourly", "HOURLY", "Europe/Berlin", "2026-11-29 10:57", "2026-11-29 10:58", []string{"2026-11-29 11:57", "2026-11-29 11:58", "2026-11-29 12:57", "2026-11-29 12:58"}},
		{"daily", "DAILY", "America/Los_Angeles", "2026-11-29 08:00", "2026-11-29 17:00", []string{"2026-11-30 08:00", "2026-11-30 17:00", "2026-12-01 08:00", "2026-12-01 17:00"}},
		{"weekly, to summer time", "WEEKLY", "Europe/Berlin", "2026-03-25 06:00", "2026-03-25 09:00", []string{"2026-04-01 06:00", "2026-04-01 09:00"}},
		{"daily, to winter time", "DAILY", "America/New_York", "2026-10-31 20:00", "2026-10-31 22:00", []string{"2026-11-01 20:00", "2026-11-01 22:00"}},
		{"daily over the change", "DAILY", "Europe/Berlin", "2026-03-28 01:00", "2026-03-28 04:00", []string{"2026-03-29 01:00", "2026-03-29 04:00", "2026-03-30 01:00", "2026-03-30 04:00"}},
		{"at an hour that is left out: it stays an hour later", "DAILY", "Europe/Berlin", "2026-03-28 02:30", "2026-03-28 02:40",
			[]string{"2026-03-29 03:30", "2026-03-29 03:40", "2026-03-30 03:30", "2026-03-30 03:40"}},
		{"hourly over an hour that is left out", "HOURLY", "America/New_York", "2026-03-08 00:30", "2026-03-08 00:40",
			[]string{"2026-03-08 01:30", "2026-03-08 01:40", "2026-03-08 03:30", "2026-03-08 03:40", "2026-03-08 04:30", "2026-03-08 04:40"}},
		{"at an hour that is doubled", "DAILY", "Europe/Berlin", "2026-10-24 02:30", "2026-10-24 02:40",
			[]string{"2026-10-25 02:30 +0200", "2026-10-25 02:40 +0100", "2026-10-26 02:30", "2026-10-26 02:40"}},
		{"hourly over an hour that is doubled", "HOURLY", "America/New_York", "2026-11-01 00:30", "2026-11-01 00:40",
			[]string{"2026-11-01 01:30 -0400", "2026-11-01 01:40 -0500", "2026-11-01 02:30", "2026-11-01 02:40"}},
		{"Monday to Friday", "WEEKDAY", "UTC", "2026-12-03 08:00", "2026-12-03 10:00",
			[]string{"2026-12-04 08:00", "2026-12-04 10:00", "2026-12-07 08:00", "2026-12-07 10:00", "2026-12-08 08:00", "2026-12-08 10:00"}},
		{"made on a Saturday", "WEEKDAY", "UTC", "2026-12-05 08:00", "2026-12-05 10:00", []string{"2026-12-07 08:00", "2026-12-07 10:00"}},
		{"until midnight: Friday's is written on Saturday, and two days are added", "WEEKDAY", "UTC", "2026-12-04 18:00", "2026-12-05 00:00",
			[]string{"2026-12-06 18:00", "2026-12-07 00:00", "2026-12-07 18:00", "2026-12-08 00:00"}},
		{"Saturday and Sunday", "WEEKEND", "UTC", "2026-12-05 08:00", "2026-12-05 10:00",
			[]string{"2026-12-06 08:00", "2026-12-06 10:00", "2026-12-12 08:00", "2026-12-12 10:00", "2026-12-13 08:00", "2026-12-13 10:00"}},
		{"made on a Wednesday", "WEEKEND", "UTC", "2026-12-02 08:00", "2026-12-02 10:00", []string{"2026-12-05 08:00", "2026-12-05 10:00"}},
		{"the weekday is the zone's", "WEEKDAY", "Asia/Tokyo", "2026-12-04 08:00", "2026-12-04 10:00", []string{"2026-12-07 08:00", "2026-12-07 10:00"}},
		// "Creating a reservation" in https://slurm.schedmd.com/reservations.html: starttime=noon duration=60 flags=daily
		{"at noon each day", "DAILY", "America/Denver", "2026-10-31 12:00", "2026-10-31 13:00", []string{"2026-11-01 12:00", "2026-11-01 13:00"}},
		// Reservation bi_fox_dgx of https://www.rc.virginia.edu (Rivanna). It repeats each day and lasts a whole
		// day, so it never ends.
		{"each day for a day", "DAILY", "America/New_York", "2022-06-01 08:37", "2022-06-02 08:37", []string{"2022-06-02 08:37", "2022-06-03 08:37", "2022-06-03 08:37", "2022-06-04 08:37"}},
		// From a guide for a GPU cluster: StartTime=2026-07-08T09:00:00 Duration=48:00:00 Flags=WEEKDAY. The first
		// occurrence is from Wednesday to Friday. The next ones are Saturday to Monday, Sunday to Tuesday, and
		// Monday to Wednesday.
		{"longer than a day on weekdays", "WEEKDAY", "UTC", "2026-07-08 09:00", "2026-07-10 09:00",
			[]string{"2026-07-11 09:00", "2026-07-13 09:00", "2026-07-12 09:00", "2026-07-14 09:00", "2026-07-13 09:00", "2026-07-15 09:00"}},
		// From a guide for training: starttime=2024-01-10T14:00:00 duration=240 flags=weekly.
		{"four hours on Wednesdays", "WEEKLY", "Asia/Taipei", "2024-01-10 14:00", "2024-01-10 18:00", []string{"2024-01-17 14:00", "2024-01-17 18:00"}},
		{"longer than its period", "HOURLY", "UTC", "2026-12-02 08:00", "2026-12-02 10:00", []string{"2026-12-02 09:00", "2026-12-02 11:00"}},
		{"once", "", "UTC", "2026-12-02 08:00", "2026-12-02 10:00", nil},
	} {
		z := zone(t, c.zone)
		got := occurrences(at(t, z, c.start), at(t, z, c.end), c.repeat, z)
		var want []adapter.Span
		for i := 0; i < len(c.later); i += 2 {
			want = append(want, adapter.Span{Start: at(t, z, c.later[i]), End: at(t, z, c.later[i+1])})
		}
		if got = got[:min(len(got), len(want))]; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// byMinutes computes the occurrences minute by minute. It advances until the clock shows the time of day.
func byMinutes(start, end core.Time, repeat string, z *time.Location, count int) (all []adapter.Span) {
	shows := func(s core.Time, want time.Time) bool {
		t := time.Unix(s, 0).In(z)
		return t.Format("2006-01-02 15:04") == want.Format("2006-01-02 15:04")
	}
	seek := func(from core.Time, days, hours int) (first, last core.Time) {
		wall, _ := time.Parse("2006-01-02 15:04", time.Unix(from, 0).In(z).Format("2006-01-02 15:04"))
		wall = wall.AddDate(0, 0, days).Add(time.Duration(hours) * time.Hour)
		for ; first == 0; wall = wall.Add(time.Hour) { // in these tests clocks skip exactly one hour
			near := from + core.Time(days)*24*3600 + core.Time(hours)*3600
			for s := near - 3*3600; s < near+3*3600; s += 60 {
				if shows(s, wall) {
					if last = s; first == 0 {
						first = s
					}
				}
			}
		}
		return first, last
	}
	for range count {
		day := time.Unix(end, 0).In(z).Weekday()
		days, hours := map[string]int{"DAILY": 1, "WEEKLY": 7, "HOURLY": 0, "WEEKDAY": 1, "WEEKEND": (13 - int(day)) % 7}[repeat], 0
		switch {
		case repeat == "HOURLY":
			hours = 1
		case repeat == "WEEKDAY" && day == time.Friday:
			days = 3
		case repeat == "WEEKDAY" && day == time.Saturday:
			days = 2
		case repeat == "WEEKEND" && day == time.Saturday:
			days = 1
		}
		from, _ := seek(start, days, hours)
		_, to := seek(end, days, hours)
		all = append(all, adapter.Span{Start: from, End: to})
		start, end = from, to
	}
	return all
}

func TestOccurrencesAreThoseThatAClockShows(t *testing.T) {
	zones := []*time.Location{zone(t, "Europe/Berlin"), zone(t, "America/New_York"), zone(t, "Australia/Sydney"), time.UTC}
	rapid.Check(t, func(rt *rapid.T) {
		z := rapid.SampledFrom(zones).Draw(rt, "zone")
		changes := []string{"2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"}
		near, _ := time.Parse("2006-01-02", rapid.SampledFrom(changes).Draw(rt, "near"))
		start := near.Unix() + 60*rapid.Int64Range(-3*24*60, 24*60).Draw(rt, "start")
		end := start + 60*rapid.Int64Range(1, 30*60).Draw(rt, "length")
		repeat := rapid.SampledFrom(repeats).Draw(rt, "repeat")
		count := 3
		if repeat == "HOURLY" {
			count = 6
		}
		want := byMinutes(start, end, repeat, z, count)
		if got := occurrences(start, end, repeat, z)[:count]; !slices.Equal(got, want) {
			rt.Fatalf("%s from %d to %d in %s: %v, a clock shows %v", repeat, start, end, z, got, want)
		}
	})
}

func TestARepeatingReservationIsReadWithItsNextOccurrences(t *testing.T) {
	line := "ReservationName=class StartTime=1796198400 EndTime=1796202000 Duration=01:00:00 Nodes=n[7-8] NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=main Flags=%s TRES=cpu=8 Users=root Accounts=(null) Licenses=(null) State=INACTIVE"
	for flags, want := range map[string]struct {
		repeats string
		later   int
	}{
		"": {"", 0}, "SPEC_NODES": {"", 0}, "HOURLY,SPEC_NODES": {"HOURLY", 168}, "DAILY,SPEC_NODES": {"DAILY", 28}, "MAINT,OVERLAP,WEEKEND": {"WEEKEND", 28},
		"WEEKDAY": {"WEEKDAY", 28}, "WEEKLY,PURGE_COMP=00:05:00": {"WEEKLY", 28}, "DAILY,HOURLY": {"HOURLY", 168}, "NO_DAILY": {"", 0}, "TIME_FLOAT": {"TIME_FLOAT", 0},
	} {
		r, err := ParseReservation(strings.Replace(line, "%s", flags, 1))
		if err != nil || r.Repeats != want.repeats || len(r.Later) != want.later {
			t.Errorf("Flags=%s: repeats %q, %d occurrences to come, error %v; want %+v", flags, r.Repeats, len(r.Later), err, want)
		}
	}
}
