package cluster

import (
	"os"
	"runtime/debug"
)

// collecting is by how much, in per cent of what lives, the heap may grow before garbage is collected; Go has 100. What serves beside a batch
// system's own daemons is to take little of their machine's memory; where 2,000 launchers come it costs a tenth more of processor time.
const collecting = 50

// thrifty has a process that serves take less memory. What its operator set (GOGC, GOMEMLIMIT) stays.
func thrifty() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(collecting)
	}
}
