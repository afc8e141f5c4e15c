package output

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/slurm/number"
)

// This file reads the small words of Slurm's output: times, states, key=value lines. Its numbers are read by slurm/number.

// null is what Slurm prints for "nothing there".
func null(s string) bool { return s == "" || s == "(null)" || s == "N/A" || s == "n/a" }

// Text is a field's value, empty where Slurm says that there is none.
func Text(s string) string {
	if null(s) {
		return ""
	}
	return s
}

// count reads a number of nodes, tasks or CPUs, 0 where none is set. Of a range or list, such as 3-5 or 2,4,8-16:4, the first counts.
func count(text string) (int, error) {
	low, _ := number.RangeEnds(text)
	n, err := number.Count(low)
	if err == nil && n > 1<<31 {
		return 0, fmt.Errorf("%q is not a count", text)
	}
	return int(max(n, 0)), err
}

// megabytes reads an amount of memory, 0 where none is set.
func megabytes(text string) (int64, error) {
	n, err := number.Memory(text)
	return max(n, 0), err
}

// instant reads a point in time under SLURM_TIME_FORMAT=%s; 0 for "none", "unknown" and the like.
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

// Minutes is a limit as scontrol takes it. Slurm's grain is a minute; it is rounded up, and never below one.
func Minutes(t core.Time) string {
	if t >= core.Forever/2 {
		return "UNLIMITED"
	}
	return strconv.FormatInt(max(1, (t+59)/60), 10)
}

// Field finds key=… in a line of scontrol -o: the value up to the next blank, of the first such key. It is for keys
// that stand before everything a user can write.
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

// ErrForm is an output that is not what the client programs print.
var ErrForm = errors.New("unknown output (is this Slurm older than 20.11?)")
