package sidecar

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used so far: unlike the wall clock it does not run while others do.
func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
