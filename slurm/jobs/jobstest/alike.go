// Package jobstest compares records of jobs from two of Slurm's programs.
package jobstest

import (
	"strings"

	"accordion/slurm/output"
)

// Alike returns a record without the fields that squeue and scontrol are known to print differently.
func Alike(r output.Record) output.Record {
	r.Why = strings.ReplaceAll(r.Why, " ", "_") // scontrol prints the reason as one word
	if len(r.Nodes) > 0 {
		r.MaxNodes = 0 // for a running job scontrol prints the number of nodes that the job has
	}
	r.MemoryPer, r.AtOnce, r.Resized, r.Upfront = "", 0, 0, false // only scontrol prints the first three fields; Upfront depends on the program
	return r
}
