package sidecar

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time of this process. Unlike the wall clock, it does not
// advance while other processes run.
func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
