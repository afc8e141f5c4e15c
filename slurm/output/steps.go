package output

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// Programs parses the output of `scontrol --oneliner show step JOB`. The batch script and Slurm's own steps do not
// count as programs. A line that cannot be parsed is skipped.
func Programs(text string, job core.JobID) (p adapter.Programs) {
	for line := range strings.Lines(text) {
		id, number, _ := strings.Cut(Field(strings.TrimSpace(line), "StepId"), ".")
		if id != fmt.Sprint(job) {
			continue
		}
		if Field(line, "State") == "PENDING" {
			p.Waits = true
			continue
		}
		if _, err := strconv.Atoi(number); err != nil {
			continue
		}
		if at, err := strconv.ParseInt(Field(line, "StartTime"), 10, 64); err == nil {
			p.Begun = append(p.Begun, at)
		}
	}
	return p
}
