package output

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/slurm/number"
)

// This file parses single words of Slurm's output: times, states, KEY=VALUE lines. Package number parses the numbers.

// null reports whether s is one of Slurm's texts for a missing value.
func null(s string) bool { return s == "" || s == "(null)" || s == "N/A" || s == "n/a" }

// Text returns the value of a field, or "" if Slurm's text means that the value is missing.
func Text(s string) string {
	if null(s) {
		return ""
	}
	return s
}

// count parses a number of nodes, tasks or CPUs. It returns 0 if no number is set. For a range or list, such as 3-5
// or 2,4,8-16:4, it returns the first number.
func count(text string) (int, error) {
	low, _ := number.RangeEnds(text)
	n, err := number.Count(low)
	if err == nil && n > 1<<31 {
		return 0, fmt.Errorf("%q is not a count", text)
	}
	return int(max(n, 0)), err
}

// megabytes parses an amount of memory, and returns MB. It returns 0 if no amount is set.
func megabytes(text string) (int64, error) {
	n, err := number.Memory(text)
	return max(n, 0), err
}

// instant parses a time that was printed with SLURM_TIME_FORMAT=%s. It returns 0 for texts that mean no time, such
// as "None" and "Unknown".
func instant(s string) (core.Time, error) {
	switch s {
	case "", "(null)", "N/A", "n/a", "Unknown", "None", "NONE":
		return 0, nil
	}
	t, err := strconv.ParseInt(s, 10, 64)
	if err != nil || t < 0 || t >= core.Forever {
		return 0, fmt.Errorf("%q is not a time in seconds since 1970", s)
	}
	return t, nil
}

// Minutes formats a time limit in seconds as scontrol expects it. Slurm counts whole minutes, so the limit is
// rounded up and is at least 1.
func Minutes(t core.Time) string {
	if t >= core.Forever/2 {
		return "UNLIMITED"
	}
	return strconv.FormatInt(max(1, (t+59)/60), 10)
}

// Field returns the value of a key in a line of `scontrol -o`: the text between key= and the next blank. If the key
// occurs twice, its first occurrence counts. Field is safe only for keys that precede all texts that users can
// write.
func Field(line, key string) string {
	at := 0
	if !strings.HasPrefix(line, key+"=") {
		at = strings.Index(line, " "+key+"=")
		if at < 0 {
			return ""
		}
		at++
	}
	value := line[at+len(key)+1:]
	if end := strings.IndexByte(value, ' '); end >= 0 {
		value = value[:end]
	}
	return value
}

// ErrForm is the error for output in a form that Slurm's client programs do not print.
var ErrForm = errors.New("unknown output (is this Slurm older than 20.11?)")
