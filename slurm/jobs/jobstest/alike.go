// Package jobstest compares jobs as two of Slurm's programs tell of them.
package jobstest

import (
	"strings"

	"accordion/slurm/output"
)

// Alike is a record without what the two clients are known to tell differently.
func Alike(r output.Record) output.Record {
	r.Why = strings.ReplaceAll(r.Why, " ", "_") // scontrol writes it as one word
	if len(r.Nodes) > 0 {
		r.MaxNodes = 0 // of a running job scontrol tells what it has
	}
	r.MemoryPer, r.AtOnce, r.Resized, r.Upfront = "", 0, 0, false // the first three only scontrol tells, the last is what is known of its record
	return r
}
