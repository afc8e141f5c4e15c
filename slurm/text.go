package slurm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"accordion/core"
)

// This file reads the small words of Slurm's output: counts, times, limits, states, key=value lines.

// null is what Slurm prints for "nothing there".
func null(s string) bool { return s == "" || s == "(null)" || s == "N/A" || s == "n/a" }

// text is a field's value, empty where Slurm says that there is none.
func text(s string) string {
	if null(s) {
		return ""
	}
	return s
}

// noValue is what some releases print for a number that nobody set, such as the tasks of a job cancelled in the queue.
const noValue = "4294967294"

// count reads a number of nodes, tasks or CPUs, 0 where none is set. Slurm writes 2048 as 2K, and a range such as 3-5 by
// its ends: the first counts.
func count(s string) (int, error) {
	if s == noValue || null(s) {
		return 0, nil
	}
	low, _, _ := strings.Cut(s, "-")
	factor := int64(1)
	if n := len(low); n > 1 {
		switch low[n-1] {
		case 'K', 'k':
			factor = 1 << 10
		case 'M', 'm':
			factor = 1 << 20
		}
		if factor > 1 {
			low = low[:n-1]
		}
	}
	n, err := strconv.ParseFloat(low, 64) // 1.50K in old releases
	if err != nil || n < 0 || n*float64(factor) > 1<<31 || n != n {
		return 0, fmt.Errorf("%q is not a count", s)
	}
	return int(n * float64(factor)), nil
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

// limit reads a time limit in seconds: 5:00, 1:00:00, 1-02:03:04; core.Forever where there is none, or where only the
// partition's applies and that is not told.
func limit(s string) (core.Time, error) {
	switch s {
	case "UNLIMITED", "INFINITE", "NOT_SET", "Partition_Limit", "", "(null)", "N/A":
		return core.Forever, nil
	}
	wrong := fmt.Errorf("%q is not a time limit such as 5:00 or 1-02:03:04", s)
	days, rest, hasDays := strings.Cut(s, "-")
	if !hasDays {
		days, rest = "0", s
	}
	total, err := strconv.ParseUint(days, 10, 31)
	if err != nil {
		return 0, wrong
	}
	parts := strings.Split(rest, ":")
	if len(parts) > 3 || len(parts) < 2 || hasDays && len(parts) < 3 {
		return 0, wrong
	}
	units := []uint64{24, 60, 60}[3-len(parts):]
	if len(parts) < 3 {
		total = 0
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return 0, wrong
		}
		total = total*units[i] + n
	}
	return core.Time(total), nil
}

// megabytes reads an amount of memory such as 3700M or 4G, in MB; 0 where none is said.
func megabytes(s string) (int, error) {
	if null(s) || s == "0" {
		return 0, nil
	}
	factor := map[byte]float64{'K': 1. / 1024, 'M': 1, 'G': 1024, 'T': 1024 * 1024}[s[len(s)-1]]
	digits := s
	if factor > 0 {
		digits = s[:len(s)-1]
	} else {
		factor = 1
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n < 0 || n > 1<<40 || n != n {
		return 0, fmt.Errorf("%q is not an amount of memory", s)
	}
	return int(n * factor), nil
}

// minutes is a limit as scontrol takes it. Slurm's grain is a minute; it is rounded up, and never below one.
func minutes(t core.Time) string {
	if t >= core.Forever/2 {
		return "UNLIMITED"
	}
	return strconv.FormatInt(max(1, (t+59)/60), 10)
}

// field finds key=… in a line of scontrol -o: the value up to the next blank, of the first such key. It is for keys
// that stand before everything a user can write.
func field(line, key string) string {
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

// errForm is an output that is not what the client programs print.
var errForm = errors.New("unknown output (is this Slurm older than 20.11?)")
