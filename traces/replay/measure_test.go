package replay_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/core/queue"
	"accordion/traces/replay"
)

// measures are the replays that have bounds.
var measures = []struct {
	log    string
	policy string
}{
	{"KTH", "easy"}, {"CTC", "easy"}, {"generated", "easy"}, {"Curie", "easy"}, {"Atlas*1.5", "easy"},
	{"KTH", "conservative"}, {"generated", "conservative"}, {"CTC", "conservative"}, {"Atlas*1.5", "conservative"},
}

func measureReplays(which string) int {
	for _, m := range measures {
		if which != "all" && !strings.Contains(which, m.log+"/"+m.policy) {
			continue
		}
		w := logOf(nil, m.log)
		p, err := replay.ParsePolicy(m.policy, queue.FirstCome)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		var r replay.Result
		best := time.Hour
		for begin, turns := processorTime(), 0; turns < 5 && (turns == 0 || processorTime()-begin < 5*time.Second); turns++ {
			best = min(best, timed(func() { r = replay.Run(w, p) }))
		}
		fmt.Printf("replay log=%s policy=%s jobs=%d jobs_per_s=%.0f mean_wait=%.4f hash=%016x\n", m.log, m.policy, len(w.Jobs),
			float64(len(w.Jobs))/best.Seconds(), meanWait(w, r), hash(r))
	}
	return 0
}

func logOf(t testing.TB, name string) replay.Workload {
	switch name {
	case "generated":
		return generated()
	case "KTH":
		return workload(t, "KTH-SP2-1996-2.1-cln.swf.gz", 100)
	case "CTC":
		return workload(t, "CTC-SP2-1996-3.1-cln.swf.gz", 338)
	case "Curie":
		return workload(t, "CEA-Curie-2011-2.1-cln.swf.gz", 80640)
	}
	w := workload(t, "LLNL-Atlas-2006-2.1-cln.swf.gz", 9216)
	first := w.Jobs[0].Submit
	for i := range w.Jobs {
		w.Jobs[i].Submit = first + (w.Jobs[i].Submit-first)*2/3
	}
	return w
}

// timed is how much processor time something takes; short things are done until they take a tenth of a second together.
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
