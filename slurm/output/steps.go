package output

import (
	"fmt"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
)

// Programs reads what `scontrol --oneliner show step JOB` prints. The batch script and what Slurm
// itself runs in a job are no programs of it. A step whose line cannot be read is left out.
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
