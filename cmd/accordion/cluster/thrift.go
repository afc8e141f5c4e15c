package cluster

import (
	"os"
	"runtime/debug"
)

// collecting is the percentage by which the heap may grow before a garbage collection; Go's default is 100. A process
// next to a batch system's own daemons should use little of their memory. With 2,000 launchers this costs a tenth
// more processor time.
const collecting = 50

// thrifty reduces the memory of a serving process, unless its operator set GOGC or GOMEMLIMIT.
func thrifty() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(collecting)
	}
}
