package shim

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core/hostlist"
)

// counts is a number for each node, in the order of the host list: CPUs or tasks. Slurm writes it "4(x2),2" for 4, 4, 2.
type counts []int

// parseCounts reads Slurm's form. ok is false for anything else, and for more nodes than a host list may have.
func parseCounts(text string) (c counts, ok bool) {
	for piece := range strings.SplitSeq(text, ",") {
		number, rest, repeated := strings.Cut(piece, "(x")
		times := 1
		if repeated {
			digits, closed := strings.CutSuffix(rest, ")")
			if times, ok = positive(digits); !ok || !closed {
				return nil, false
			}
		}
		n, ok := positive(number)
		if !ok || len(c)+times > hostlist.MaxNames {
			return nil, false
		}
		for range times {
			c = append(c, n)
		}
	}
	return c, true
}

// positive reads a decimal number from 1 to 2^31-1.
func positive(digits string) (int, bool) {
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false // a sign
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return int(n), err == nil && n > 0
}

// String is Slurm's form.
func (c counts) String() string {
	var b strings.Builder
	for i := 0; i < len(c); {
		end := i + 1
		for end < len(c) && c[end] == c[i] {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(c[i]))
		if end-i > 1 {
			fmt.Fprintf(&b, "(x%d)", end-i)
		}
		i = end
	}
	return b.String()
}

func (c counts) sum() int {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return sum
}

// spread shares a number of tasks among nodes as evenly as it goes, the first ones getting one more. Each node has one
// at least.
func spread(tasks, nodes int) counts {
	c := make(counts, nodes)
	for i := range c {
		c[i] = tasks / nodes
		if i < tasks%nodes {
			c[i]++
		}
		c[i] = max(c[i], 1)
	}
	return c
}
