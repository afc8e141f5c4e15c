// Package hostfile makes the hosts file of a job. An application that does not talk to the sidecar, or srun, reads in it which
// nodes the job has. Script returns the shell commands that write it. The batch system runs them on a node as the job's user.
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

// File is what a job's hosts file says.
type File struct {
	Generation  int
	Step, Steps int            // from 1
	From, Until core.Time      // Unix seconds of the step
	Nodes       []string       // the batch host first
	Parts       []adapter.Part // the allocations that hold them; nil: one
}

// Text is the file: a line of what it is, the allocations where there are several, then a node a line.
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

// allocationLines begins with this; a line is not longer than so many bytes, for programs that read the file by lines of 1,023.
const (
	allocationMark  = "# allocations"
	allocationWidth = 1000
)

// allocationLines says which of the nodes are in which of the job's allocations, as `# allocations 42:n[1-2] 57:n3`; an allocation that
// is too long for a line is in several words. Nothing where the job has one allocation.
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
