// Package number reads the numbers in Slurm's texts: counts, amounts of memory, durations, limits and lists of
// resources. All code that reads Slurm's output uses this package, so that a text has the same meaning everywhere.
// The package has no state.
//
//	n, err := number.Count("1.50K")              // 1536
//	d, ok := number.Duration("4000-03:14:07")    // milliseconds
//	for r := range number.Resources("cpu=4,gres/gpu:a100=2") { … }
//
// What Slurm's sources (20.11 to 26.05) write:
//
//   - The units are K, M, G, T and P. Each is 1,024 times the previous one. Users may also write KiB, which is K, and KB, which is 1,000.
//   - sacct, squeue, scontrol and sacctmgr use a unit only if the number is a whole or half multiple of it, so that no digits are lost. 1536 becomes
//     1.50K, and 1537 remains 1537. sacct --noconvert uses no units.
//   - sacct --units=K uses one unit for all numbers, and rounds to two digits. One node becomes 0.00K. The function Rounded recognizes that.
//   - sacct converts the number of nodes (ReqNodes, AllocNodes) and memory. It converts neither CPUs, nor NNodes, nor minutes.
//   - Without a unit, memory and burst buffers are in megabytes. Counts of devices are never rounded.
package number

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"accordion/core"
)

// Unset is the result if Slurm's text means that no count is set.
const Unset = -1

// Most is the result for every larger count. It is larger than any cluster's counts and exact in Lua. Its product
// with the number of tasks on a node does not overflow.
const Most = 1 << 50

// NoValue reports whether a text means "not set". Such texts are the empty text, (null), N/A, and the 32-bit
// numbers NO_VAL and INFINITE. Some releases print these two numbers, for example as the tasks of a job that was
// canceled in the queue.
func NoValue(text string) bool {
	switch text {
	case "", "(null)", "N/A", "n/a", "4294967294", "4294967295":
		return true
	}
	return false
}

// Count parses a number of nodes, tasks, CPUs or devices: 2048, 2K, 1.50K. It returns Unset if no count is set, and
// Most for larger counts.
func Count(text string) (int64, error) {
	if NoValue(text) {
		return Unset, nil
	}
	n, ok := scaled(text, outputUnits)
	if !ok {
		return Unset, fmt.Errorf("%s is not a count such as 16, 2K or 1.50K", core.Shown(text))
	}
	return n, nil
}

// Rounded reports whether Slurm rounded the number when it printed it, so that the count is only near the true one.
// sacct does not round with --noconvert, or without --units.
func Rounded(text string) bool {
	_, fraction, found := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "KMGTP")
	return found && fraction != "50" && fraction != "5"
}

// Memory parses an amount of memory such as 1500M, 1.50G or 2T, and returns MB. A number without a unit is in MB.
// In ReqMem, sacct until 20.11 appends a letter for memory per CPU (4000Mc) or per node (0n). Memory returns Unset
// if no amount is set.
func Memory(text string) (int64, error) {
	if NoValue(text) {
		return Unset, nil
	}
	amount := strings.TrimRight(text, "cn")
	if len(text)-len(amount) > 1 {
		amount = ""
	}
	if last := len(amount) - 1; last >= 0 && '0' <= amount[last] && amount[last] <= '9' {
		amount += "M"
	}
	kilobytes, ok := scaled(amount, memoryUnits)
	if !ok {
		return Unset, fmt.Errorf("%s is not an amount of memory such as 1500M or 2G", core.Shown(text))
	}
	return kilobytes / 1024, nil
}

// outputUnits holds the suffixes that Slurm prints. Scripts of some sites write them in lower case.
var outputUnits = map[string]int64{
	"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50,
}

// requestUnits holds the suffixes that Slurm accepts after a count of devices from users and in slurm.conf.
var requestUnits = map[string]int64{
	"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
}

// memoryUnits holds the suffixes of memory, in KB.
var memoryUnits = map[string]int64{"k": 1, "m": 1 << 10, "g": 1 << 20, "t": 1 << 30, "p": 1 << 40}

// scaled parses digits, an optional fraction, and one of the suffixes. It returns the nearest whole number, or Most
// for larger numbers.
func scaled(text string, units map[string]int64) (int64, bool) {
	whole, rest := digits(text)
	factor, known := units[strings.ToLower(rest)]
	fraction := ""
	if after, found := strings.CutPrefix(rest, "."); found {
		fraction, rest = digits(after)
		factor, known = units[strings.ToLower(rest)]
		known = known && fraction != "" && len(fraction) <= 6
	}
	if whole == "" || !known {
		return 0, false
	}
	n := int64(0)
	for _, d := range whole {
		if n = 10*n + int64(d-'0'); n > Most/factor {
			return Most, true
		}
	}
	part := 0.0
	if fraction != "" {
		f, _ := strconv.Atoi(fraction) // at most six digits
		part = math.Round(float64(f) * float64(factor) / math.Pow10(len(fraction)))
	}
	return min(n*factor+int64(part), Most), true
}

// digits splits the text after its leading digits.
func digits(text string) (number, rest string) {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

// RangeEnds returns the smallest and the largest count of a range or a list, such as 3-5 or 2,4,8-16:4.
func RangeEnds(text string) (low, high string) {
	text, _, _ = strings.Cut(text, ":")
	low, high = text, text[strings.LastIndexAny(text, ",-")+1:]
	if i := strings.IndexAny(text, ",-"); i > 0 {
		low = text[:i]
	}
	return low, high
}
