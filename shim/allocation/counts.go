package allocation

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/core/hostlist"
)

// Counts is a number for each node, in the order of the host list: CPUs or tasks. Slurm writes it "4(x2),2" for 4, 4, 2.
type Counts []int

// ParseCounts reads Slurm's form. ok is false for anything else, and for more nodes than a host list may have.
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

// Positive reads a decimal number from 1 to 2^31-1.
func Positive(digits string) (int, bool) {
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false // a sign
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return int(n), err == nil && n > 0
}

// String is Slurm's form.
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

// Sum is their total.
func (c Counts) Sum() int {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return sum
}

// Spread shares a number of tasks among nodes as evenly as it goes, the first ones getting one more. Each node has one
// at least.
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

// Ratio is how many tasks a job has on how many nodes. The zero value stands for a job that says no number of tasks.
type Ratio struct{ Tasks, Nodes int }

// ParseRatio reads "tasks/nodes". ok is false for anything else.
func ParseRatio(text string) (r Ratio, ok bool) {
	tasks, nodes, _ := strings.Cut(text, "/")
	var okTasks, okNodes bool
	r.Tasks, okTasks = Positive(tasks)
	r.Nodes, okNodes = Positive(nodes)
	return r, okTasks && okNodes
}

func (r Ratio) String() string { return fmt.Sprintf("%d/%d", r.Tasks, r.Nodes) }

// On is the number of tasks on another number of nodes: as many a node, rounded up in the total, and one a node at least.
func (r Ratio) On(nodes int) int {
	if r.Tasks == 0 || r.Nodes == 0 {
		return nodes
	}
	return max((r.Tasks*nodes+r.Nodes-1)/r.Nodes, nodes)
}
