package output

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
)

// This file reads the small words of Slurm's output: counts, times, limits, states, key=value lines.

// null is what Slurm prints for "nothing there".
func null(s string) bool { return s == "" || s == "(null)" || s == "N/A" || s == "n/a" }

// Text is a field's value, empty where Slurm says that there is none.
func Text(s string) string {
	if null(s) {
		return ""
	}
	return s
}

// none says whether a number is one that stands for "not set": NO_VAL and INFINITE of 32 bits, which Slurm prints as they are
// in some releases and states, such as the tasks of a job cancelled in the queue.
func none(s string) bool { return s == "4294967294" || s == "4294967295" || null(s) }

// count reads a number of nodes, tasks or CPUs, 0 where none is set. Slurm writes 2048 as 2K where it is not told otherwise,
// and what a job may have as a range or list, such as 3-5 or 2,4,8-16:4: the first counts.
func count(s string) (int, error) {
	low, _ := RangeEnds(s)
	return single(low)
}

// RangeEnds are the least and the most of a range or list.
func RangeEnds(s string) (low, high string) {
	s, _, _ = strings.Cut(s, ":")
	low, high = s, s[strings.LastIndexAny(s, ",-")+1:]
	if i := strings.IndexAny(s, ",-"); i > 0 {
		low = s[:i]
	}
	return low, high
}

// single reads one count.
func single(s string) (int, error) {
	if none(s) {
		return 0, nil
	}
	digits, factor := s, 1.0
	switch s[len(s)-1] {
	case 'K', 'k':
		digits, factor = s[:len(s)-1], 1<<10
	case 'M', 'm':
		digits, factor = s[:len(s)-1], 1<<20
	}
	n, err := strconv.ParseFloat(digits, 64) // 1.50K in old releases
	if err != nil || n < 0 || n*factor > 1<<31 || n != n {
		return 0, fmt.Errorf("%q is not a count", s)
	}
	return int(n * factor), nil
}

// megabytes reads an amount of memory, 0 where none is set: 1500M, 1.50G, 2T, or MB without a unit.
func megabytes(s string) (int64, error) {
	if none(s) || s == "0" {
		return 0, nil
	}
	digits, factor := s, 1.0
	if at := strings.IndexByte("KMGTP", s[len(s)-1]); at >= 0 {
		digits = s[:len(s)-1]
		factor = [...]float64{1.0 / 1024, 1, 1 << 10, 1 << 20, 1 << 30}[at]
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n < 0 || n*factor > 1<<53 || n != n {
		return 0, fmt.Errorf("%q is not an amount of memory such as 1500M or 2G", s)
	}
	return int64(n * factor), nil
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

// Limit reads a time limit in seconds: 5:00, 1:00:00, 1-02:03:04; core.Forever where there is none, or where only the
// partition's applies and that is not told.
func Limit(s string) (core.Time, error) {
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

// otherTRES are the kinds of trackable resources that are not generic ones.
var otherTRES = []string{"bb", "billing", "cpu", "energy", "fs", "ic", "license", "mem", "node", "pages", "vmem"}

// GRES parses gres:gpu:2, gres/gpu:a100:2, gres/gpu=2, gres:tmp:10G or, as 20.11 writes it, gpu:2,
// into the name, with its type, and the count. The name is empty where the item is not a generic
// resource, or means that none is wanted.
func GRES(item string) (name string, count int) {
	item = strings.NewReplacer("/", ":", "=", ":").Replace(item)
	kind, rest, _ := strings.Cut(item, ":")
	if kind == "gres" {
		item = rest
	}
	if kind, _, _ := strings.Cut(strings.ToLower(item), ":"); kind == "none" || slices.Contains(otherTRES, kind) {
		return "", 0
	}
	at := strings.LastIndexByte(item, ':')
	if n, ok := suffixed(item[at+1:]); ok && at > 0 {
		return item[:at], n
	}
	return item, min(1, len(item))
}

// mostGRES replaces every larger count: it is more than any node has, and small enough to be
// multiplied by tasks.
const mostGRES = 1 << 50

// suffixed parses a count such as 4, 10G or 10GB; each letter is 1,024 times the one before it
// (sbatch(1), --gres).
func suffixed(s string) (n int, ok bool) {
	digits := strings.TrimRight(s, "kKmMgGtTpPiIbB")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0, false
	}
	suffix := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(s[len(digits):]), "b"), "i")
	if len(suffix) > 1 {
		return 0, false
	}
	power := strings.Index("kmgtp", suffix) + 1
	if suffix == "" {
		power = 0
	}
	if n > mostGRES>>(10*power) {
		return mostGRES, true
	}
	return n << (10 * power), true
}
