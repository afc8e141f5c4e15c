package core

import "strings"

// unitWords lists the words that users write for each unit.
var unitWords = []struct {
	names  []string
	length Time
}{
	{[]string{"d", "day", "days"}, 24 * 60 * 60},
	{[]string{"h", "hr", "hrs", "hour", "hours"}, 60 * 60},
	{[]string{"m", "min", "mins", "minute", "minutes"}, 60},
	{[]string{"s", "sec", "secs", "second", "seconds"}, 1},
}

// TidyDuration returns a duration that a user wrote loosely, such as "1.5h", "20 min" or "1 H 30 M", in a form that
// ParseDuration reads. It returns text that it does not understand unchanged. The plug-ins of the batch systems
// accept only ParseDuration's forms. Their error messages suggest the tidy form.
func TidyDuration(text string) string {
	if _, ok := ParseDuration(text); ok {
		return text
	}
	rest := strings.ToLower(strings.Trim(text, asciiSpace))
	var sum Time
	next := 0 // index of the largest unit that may still come
	for rest != "" {
		number := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, tail := rest[:number], strings.TrimLeft(rest[number:], asciiSpace)
		word := tail[:len(tail)-len(strings.TrimLeft(tail, "abcdefghijklmnopqrstuvwxyz"))]
		rest = strings.TrimLeft(tail[len(word):], asciiSpace)
		unit := unitOf(word)
		if unit < next {
			return text
		}
		seconds, ok := fraction(n, unitWords[unit].length)
		if !ok {
			return text
		}
		sum, next = sum+seconds, unit+1
	}
	if next == 0 || sum <= 0 || sum > MaxTotal {
		return text
	}
	return FormatDuration(sum)
}

// unitOf returns the index of a unit's word in unitWords, or -1.
func unitOf(word string) int {
	for i, u := range unitWords {
		for _, name := range u.names {
			if name == word {
				return i
			}
		}
	}
	return -1
}

// fraction converts a decimal number of a unit to seconds. It refuses a number that is not a whole number of seconds.
func fraction(number string, unit Time) (Time, bool) {
	whole, places, dot := strings.Cut(number, ".")
	if len(whole) > 9 || len(places) > 6 || dot != (places != "") || whole+places == "" {
		return 0, false
	}
	n, _, wholeOK := leadingNumber("0" + whole)
	part, rest, placesOK := leadingNumber("0" + places)
	one := Time(1) // the divisor for the decimal places
	for range places {
		one *= 10
	}
	return n*unit + part*unit/one, wholeOK && placesOK && rest == "" && part*unit%one == 0
}

// TidyStep returns a step that a user wrote loosely, such as "8X1h", "2 x 20min" or "4*1.5h", in the form that
// ParseStep reads. It returns text that it does not understand unchanged.
func TidyStep(piece string) string {
	at := strings.IndexAny(piece, "xX*×")
	if at < 0 {
		return piece
	}
	nodes := strings.Trim(piece[:at], asciiSpace)
	length := strings.TrimLeft(piece[at:], "xX*×")
	tidy := nodes + "x" + TidyDuration(strings.Trim(length, asciiSpace))
	if _, err := parseStep("", 1, tidy); err != nil {
		return piece
	}
	return tidy
}
