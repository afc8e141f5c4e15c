package shim

import (
	"fmt"

	"accordion/shim/allocation"
)

// writeList writes a node a line to a file of the job, and returns its path; kind ends its name. The job keeps the file that
// it has from the last call, when the variable names it.
func writeList(j job, kind, variable string, nodes []string) (path string, err error) {
	return allocation.WriteList(j.env.get("TMPDIR"), fmt.Sprintf("%d-*.%s", j.id, kind), j.own(variable), nodes)
}
