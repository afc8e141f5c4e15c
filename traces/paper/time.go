package paper

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ProcessorTime calls a function, and returns the processor time that the call took, in seconds. Unlike real time, it does not depend on
// other processes.
func ProcessorTime(something func()) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	something()
	return used() - before
}

func used() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0 // a failed measurement must not end the experiment
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
