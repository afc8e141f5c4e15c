package number

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
)

// longest is the longest allowed duration, in seconds: three million years of one processor, or one year of three
// million processors.
const longest int64 = 1e14

// Duration parses a duration of any length, and returns milliseconds. It accepts 00:01.500, 01:02:03,
// 4000-03:14:07, and the forms 1-12 and 1-12:30 in which users write limits. The first field may be any number.
// core.ParseDuration bounds the limits of jobs, but a sum over all processors of a job can be longer. A number
// without a colon is refused, because it means minutes in some of Slurm's texts and seconds in others.
func Duration(text string) (milliseconds int64, ok bool) {
	clock, fraction, fractional := strings.Cut(text, ".")
	millis, ok := thousandths(fraction)
	if !ok || fractional && fraction == "" {
		return 0, false
	}
	days, hours, hasDays := strings.Cut(clock, "-")
	if !hasDays {
		days, hours = "", clock
	}
	fields := strings.Split(hours, ":")
	if len(fields) > 3 || len(fields) < 2 && !hasDays || fractional && hasDays && len(fields) < 3 {
		return 0, false
	}
	units := []int64{3600, 60, 1}
	if !hasDays {
		units = units[3-len(fields):]
	}
	sum := int64(0)
	add := func(field string, unit, below int64) {
		n, err := strconv.ParseUint(field, 10, 62)
		ok = ok && err == nil && int64(n) < below
		if ok {
			sum += int64(n) * unit
		}
	}
	if hasDays {
		add(days, 86400, longest/86400+1)
	}
	for i, field := range fields {
		below := map[int64]int64{3600: 24, 60: 60, 1: 60}[units[i]]
		if i == 0 && !hasDays {
			below = longest/units[i] + 1
		}
		add(field, units[i], below)
	}
	return 1000*sum + millis, ok && sum <= longest
}

// thousandths parses the digits after a decimal point.
func thousandths(fraction string) (int64, bool) {
	if _, rest := digits(fraction); rest != "" || len(fraction) > 9 {
		return 0, false
	}
	n, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	return n, true
}

// Unlimited reports whether the text of a time limit means that there is no limit. It also returns true for a text
// that does not have the value of the limit: the partition's limit, or a limit that Slurm could not print.
func Unlimited(text string) bool {
	switch text {
	case "UNLIMITED", "INFINITE", "NOT_SET", "Partition_Limit", "INVALID", "":
		return true
	}
	return NoValue(text)
}

// Limit parses a time limit such as 5:00, 1:00:00 or 1-02:03:04, and returns seconds. It returns core.Forever if
// there is no limit, or if only the partition's limit applies.
func Limit(text string) (core.Time, error) {
	if Unlimited(text) {
		return core.Forever, nil
	}
	milliseconds, ok := Duration(text)
	if !ok {
		return core.Forever, fmt.Errorf("%s is not a time limit such as 5:00 or 1-02:03:04", core.Shown(text))
	}
	return milliseconds / 1000, nil
}

// mostMinutes is the largest limit, because Slurm keeps limits in 32 bits.
const mostMinutes = 1<<32 - 1

// MinutesLimit parses a time limit in minutes, as in TimelimitRaw, and returns it in seconds. `ok` is false if
// there is no limit or if the text cannot be parsed.
func MinutesLimit(text string) (limit core.Time, ok bool) {
	n, err := Count(text)
	if Unlimited(text) || err != nil || n > mostMinutes {
		return 0, false
	}
	return 60 * n, true
}
