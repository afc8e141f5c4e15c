package allocation

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core/hostlist"
)

// Counts contains a number of CPUs or tasks for each node of a host list. Slurm writes 4, 4, 2 as "4(x2),2".
type Counts []int

// ParseCounts parses Slurm's form. `ok` is false for any other text, and for more nodes than a host list may have.
func ParseCounts(text string) (c Counts, ok bool) {
	for piece := range strings.SplitSeq(text, ",") {
		number, rest, repeated := strings.Cut(piece, "(x")
		times := 1
		if repeated {
			digits, closed := strings.CutSuffix(rest, ")")
			if times, ok = Positive(digits); !ok || !closed {
				return nil, false
			}
		}
		n, ok := Positive(number)
		if !ok || len(c)+times > hostlist.MaxNames {
			return nil, false
		}
		for range times {
			c = append(c, n)
		}
	}
	return c, true
}

// Positive parses a decimal number from 1 to 2^31-1.
func Positive(digits string) (int, bool) {
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false // a sign is not a digit either
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return int(n), err == nil && n > 0
}

// String returns Slurm's form.
func (c Counts) String() string {
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

// Sum returns the sum of the numbers.
func (c Counts) Sum() int {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return sum
}

// Spread distributes tasks over nodes as evenly as possible. The first nodes may get one task more than the others, and each node gets at
// least one.
func Spread(tasks, nodes int) Counts {
	c := make(Counts, nodes)
	for i := range c {
		c[i] = tasks / nodes
		if i < tasks%nodes {
			c[i]++
		}
		c[i] = max(c[i], 1)
	}
	return c
}

// Ratio is the number of tasks that a job has on a number of nodes. The zero value stands for a job without a number of
// tasks.
type Ratio struct{ Tasks, Nodes int }

// ParseRatio parses "tasks/nodes". ok is false for any other text.
func ParseRatio(text string) (r Ratio, ok bool) {
	tasks, nodes, _ := strings.Cut(text, "/")
	var okTasks, okNodes bool
	r.Tasks, okTasks = Positive(tasks)
	r.Nodes, okNodes = Positive(nodes)
	return r, okTasks && okNodes
}

func (r Ratio) String() string { return fmt.Sprintf("%d/%d", r.Tasks, r.Nodes) }

// On returns the number of tasks on another number of nodes, with the same number of tasks per node. It rounds the total up, and returns at
// least one task per node.
func (r Ratio) On(nodes int) int {
	if r.Tasks == 0 || r.Nodes == 0 {
		return nodes
	}
	return max((r.Tasks*nodes+r.Nodes-1)/r.Nodes, nodes)
}
