package profile

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measurePacks prints a line for each number of jobs; scripts/bench shows them. The status is that of a process.
func measurePacks(list string) int {
	for text := range strings.SplitSeq(list, ",") {
		jobs, err := strconv.Atoi(text)
		if err != nil || jobs < 1 {
			fmt.Fprintf(os.Stderr, "pack: %q is not a number of jobs, such as 10000\n", text)
			return 2
		}
		fmt.Println(measurePack(jobs))
	}
	return 0
}

// measurePack is the line of one number of jobs. Both profiles are packed in turns, and the best of each counts, for
// other work on the machine can only make it slower. It is processor time.
func measurePack(jobs int) string {
	const (
		turns   = 5
		enough  = 10 * time.Second // for all turns of the plain one
		patient = time.Minute      // with the plain one
	)
	var hash uint64
	ours, plain, begin := time.Hour, time.Hour, processorTime()
	given := false // up, the plain one
	for turn := range turns {
		ours = min(ours, timed(func() { hash, _ = packUntil(New(packNodes), jobs, time.Hour) }))
		if turn > 0 && processorTime()-begin > enough {
			continue
		}
		plain = min(plain, timed(func() {
			var other uint64
			if other, given = packUntil(newPlain(packNodes), jobs, patient); !given && other != hash {
				panic("the plain profile places the jobs elsewhere")
			}
		}))
	}
	ratio := "-"
	if !given {
		ratio = fmt.Sprintf("%.1f", float64(plain)/float64(ours))
	}
	return fmt.Sprintf("pack n=%d ns_per_job=%.0f hash=%016x plain_ratio=%s", jobs, float64(ours.Nanoseconds())/float64(jobs), hash, ratio)
}

// timed is how much processor time something takes, so that other work on the machine makes little of a difference;
// short things are done until they take a tenth of a second together.
func timed(do func()) time.Duration {
	begin, times, took := processorTime(), 0, time.Duration(0)
	for times == 0 || took < 100*time.Millisecond {
		do()
		times++
		took = processorTime() - begin
	}
	return took / time.Duration(times)
}

// processorTime is what this process has had of all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// packUntil is pack that gives up after a time.
func packUntil(p packable, jobs int, patience time.Duration) (hash uint64, given bool) {
	w, deadline := newPacker(), processorTime()+patience
	for done := 0; done < jobs; done += 1000 {
		if processorTime() > deadline {
			return 0, true
		}
		w.pack(p, min(1000, jobs-done))
	}
	return w.hash, false
}
