package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"accordion/core"
)

// Typographic characters in numbers.
const (
	minus = "\u2212"
	thin  = "\u202f" // narrow no-break space, between a number and its unit, and between groups of digits
	dash  = "\u2013"
)

// text returns a value in its unit, or a dash if there is none.
func (u Unit) text(v float64, begin time.Time) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dash
	}
	switch u {
	case Count:
		return thousands(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	case Seconds:
		return length(v)
	case Share:
		return digits(100*v) + thin + "%"
	case NodeSeconds:
		return digits(v/3600) + thin + "node-h"
	case Instant:
		return instant(core.Time(math.Round(v)), begin)
	default:
		return digits(v)
	}
}

// digits returns a number with three significant digits, and as a whole number from a hundred on.
func digits(v float64) string {
	after := 0
	switch a := math.Abs(v); {
	case a == 0 || a >= 99.95:
	case a >= 9.995:
		after = 1
	case a >= 0.9995:
		after = 2
	default:
		after = 3
	}
	s := strconv.FormatFloat(v, 'f', after, 64)
	if strings.Trim(s, "-0.") == "" {
		s = "0"
	}
	return thousands(s)
}

// thousands puts spaces between groups of three digits, and replaces a hyphen by a minus sign.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = minus, s[1:]
	}
	whole, rest, fraction := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 && len(whole) > 4 {
			b.WriteString(thin)
		}
		b.WriteRune(c)
	}
	if fraction {
		b.WriteString("." + rest)
	}
	return sign + b.String()
}

// length returns a length of time in its two largest units: 1 h 54 min.
func length(seconds float64) string {
	if seconds < 0 {
		return minus + length(-seconds)
	}
	if seconds < 59.5 {
		if seconds < 9.95 && seconds != math.Trunc(seconds) {
			return strconv.FormatFloat(seconds, 'f', 1, 64) + thin + "s"
		}
		return strconv.FormatFloat(math.Round(seconds), 'f', 0, 64) + thin + "s"
	}
	units := []struct {
		name  string
		in    float64 // seconds
		parts float64 // number of the next smaller units in this unit
		less  string
	}{{"y", 365 * 86400, 365, "d"}, {"d", 86400, 24, "h"}, {"h", 3600, 60, "min"}, {"min", 60, 60, "s"}}
	for _, u := range units {
		small := math.Round(seconds / (u.in / u.parts))
		if small < u.parts {
			continue
		}
		whole, rest := math.Trunc(small/u.parts), math.Mod(small, u.parts)
		s := thousands(strconv.FormatFloat(whole, 'f', 0, 64)) + thin + u.name
		if rest > 0 && whole < 100 {
			s += " " + strconv.FormatFloat(rest, 'f', 0, 64) + thin + u.less
		}
		return s
	}
	return "1" + thin + "min"
}

// instant returns a second of the workload as a date, if dates are known, otherwise as a day and an hour.
func instant(t core.Time, begin time.Time) string {
	const datable = 1 << 36 // seconds; about two thousand years
	if !begin.IsZero() && t > -datable && t < datable {
		return time.Unix(begin.Unix()+t, 0).In(begin.Location()).Format("2 Jan 2006 15:04")
	}
	day := t / 86400
	rest := t - day*86400
	if rest < 0 {
		day, rest = day-1, rest+86400
	}
	return fmt.Sprintf("day %s, %02d:%02d", thousands(strconv.FormatInt(day, 10)), rest/3600, rest%3600/60)
}

// change returns the difference of a value to the first policy's: relative if possible, otherwise absolute.
func (u Unit) change(v, first float64) string {
	switch {
	case math.IsNaN(v) || math.IsNaN(first):
		return ""
	case v == first:
		return "="
	case u == Instant:
		return signed(v-first, length)
	case u == Share: // a percentage of a percentage would be ambiguous
		return signed(100*(v-first), func(d float64) string {
			if d < 0.05 {
				return "<" + thin + "0.1" + thin + "points"
			}
			return strconv.FormatFloat(d, 'f', 1, 64) + thin + "points"
		})
	case first == 0:
		return signed(v-first, func(d float64) string { return u.text(d, time.Time{}) })
	}
	return signed(100*(v-first)/math.Abs(first), func(d float64) string {
		switch {
		case d < 0.05:
			return "<" + thin + "0.1" + thin + "%"
		case d >= 1000:
			return "×" + digits(v/first)
		default:
			return strconv.FormatFloat(d, 'f', map[bool]int{true: 1, false: 0}[d < 9.95], 64) + thin + "%"
		}
	})
}

// signed returns a difference with its sign. A factor such as "×12" gets no sign.
func signed(d float64, write func(float64) string) string {
	s := write(math.Abs(d))
	switch {
	case strings.HasPrefix(s, "×"):
		return s
	case d < 0:
		return minus + s
	default:
		return "+" + s
	}
}

// judge returns 1 if a change is better, −1 if it is worse, and otherwise 0. A change below 0.05 % counts as none.
func (b Better) judge(v, first float64) int {
	if b == Neither || math.IsNaN(v) || math.IsNaN(first) || math.Abs(v-first) <= 0.0005*math.Abs(first) {
		return 0
	}
	if (v < first) == (b == Lower) {
		return 1
	}
	return -1
}
