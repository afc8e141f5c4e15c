// Package hostfile writes the hosts file of a job. Applications that do not call `accordion step`
// read the job's nodes from this file, and so does srun. Script returns the shell commands that
// write it. The batch system runs them on a node as the job's user.
//
//	text := hostfile.File{Generation: 3, Step: 2, Steps: 3, From: begin, Until: end, Nodes: nodes}.Text()
package hostfile

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// A File is the content of a job's hosts file.
type File struct {
	Generation  int
	Step, Steps int            // from 1
	From, Until core.Time      // begin and planned end of the step, Unix seconds
	Nodes       []string       // the batch host first
	Parts       []adapter.Part // the allocations that hold the nodes, if there are several
}

// Text returns the file: a header, the allocations if there are several, then one node per line.
func (f File) Text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "# generation=%d step=%d steps=%d nodes=%d from=%d until=%d\n", f.Generation, f.Step, f.Steps, len(f.Nodes), f.From, f.Until)
	for _, line := range allocationLines(f.Parts, f.Nodes) {
		fmt.Fprintln(&text, line)
	}
	for _, n := range f.Nodes {
		fmt.Fprintln(&text, n)
	}
	return text.String()
}

// Lines with allocations begin with allocationMark. They have at most allocationWidth bytes,
// because some programs read at most 1,023 bytes of a line.
const (
	allocationMark  = "# allocations"
	allocationWidth = 1000
)

// allocationLines returns which nodes are in which of the job's allocations, as `# allocations
// 42:n[1-2] 57:n3`. An allocation that is too long for a line is split into several entries. There
// are no lines if the job has one allocation.
func allocationLines(parts []adapter.Part, nodes []string) (lines []string) {
	if len(parts) < 2 {
		return nil
	}
	line := allocationMark
	for _, part := range parts {
		staying := slices.DeleteFunc(slices.Clone(part.Nodes), func(n string) bool { return !slices.Contains(nodes, n) })
		for _, word := range allocationWords(part.Job, staying) {
			if len(line)+len(word) > allocationWidth {
				lines, line = append(lines, line), allocationMark
			}
			line += word
		}
	}
	return append(lines, line)
}

func allocationWords(job core.JobID, nodes []string) []string {
	if len(nodes) == 0 {
		return nil
	}
	word := fmt.Sprintf(" %d:%s", job, hostlist.Compact(nodes))
	if half := len(nodes) / 2; half > 0 && len(allocationMark)+len(word) > allocationWidth {
		return append(allocationWords(job, nodes[:half]), allocationWords(job, nodes[half:])...)
	}
	return []string{word}
}
