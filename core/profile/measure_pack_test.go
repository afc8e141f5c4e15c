package profile

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measurePacks prints a line for each number of jobs, for scripts/bench. It returns the exit status of the process.
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

// measurePack returns the line for a number of jobs. It packs both profiles alternately and takes the best processor
// time of each, because other load on the machine only makes it longer.
func measurePack(jobs int) string {
	const (
		turns   = 5
		enough  = 10 * time.Second // for all rounds of the plain profile
		patient = time.Minute      // for one round of the plain profile
	)
	var hash uint64
	ours, plain, begin := time.Hour, time.Hour, processorTime()
	given := false // whether the plain profile took too long
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

// timed returns the processor time that a function takes. Other load has little effect on this time. It repeats
// a short function until the sum is a tenth of a second.
func timed(do func()) time.Duration {
	begin, times, took := processorTime(), 0, time.Duration(0)
	for times == 0 || took < 100*time.Millisecond {
		do()
		times++
		took = processorTime() - begin
	}
	return took / time.Duration(times)
}

// processorTime returns the processor time of this process on all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // cannot happen: the arguments are valid
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// packUntil does what pack does, but gives up after a time.
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
