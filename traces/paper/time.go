package paper

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the seconds of a processor that something takes, whatever else runs.
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
		return 0 // time is the one figure that nothing depends on
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
