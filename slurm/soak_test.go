package slurm_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// soak is the flag with the duration of the soak test. In that time small jobs come and go, and the test measures
// the sidecar's memory: go test ./slurm -run Soak -timeout 9h -v -args -accordion.soak=8h
var soak = flag.Duration("accordion.soak", 0, "how long to watch the sidecar's memory and descriptors; 0: not at all")

// A sample is the resources that the sidecar used at one instant.
type sample struct{ memory, descriptors, threads int } // KiB, and counts

// usage reads a sample from the kernel.
func (p *process) usage() sample {
	p.t.Helper()
	var s sample
	proc := fmt.Sprintf("/proc/%d/", p.pid)
	text, err := os.ReadFile(proc + "status")
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		switch key {
		case "VmRSS":
			s.memory = n
		case "Threads":
			s.threads = n
		}
	}
	open, err := os.ReadDir(proc + "fd")
	if err != nil {
		p.t.Fatal(err)
	}
	s.descriptors = len(open)
	return s
}

// A sidecar runs for months. Its memory and its number of descriptors must not grow with the number of jobs that
// came and went.
func TestASoakLeavesMemoryAndDescriptorsFlat(t *testing.T) {
	if *soak == 0 {
		t.Skip("a soak takes hours; ask for one with -args -accordion.soak=8h (3m at least)")
	}
	lab := lab.TakeSlurm(t, 24, lab.Users("alice", "bob"), lab.Fast(), lab.NoPlugin())
	lab.Clear(t)
	p := serving(t, lab, "")
	churn(t, lab, *soak/10, nil) // runs until caches and pools have reached their size
	calm := p.usage()
	var samples []sample
	jobs := churn(t, lab, *soak, func() { samples = append(samples, p.usage()) })
	end := p.usage()

	third := len(samples) / 3
	memory := func(some []sample) int {
		all := make([]int, len(some))
		for i, s := range some {
			all[i] = s.memory
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	early, late := memory(samples[:third]), memory(samples[2*third:])
	t.Logf("%d jobs in %v: resident memory %d KiB in the first third, %d KiB in the last; calm before %+v, after %+v", jobs, *soak, early, late, calm, end)
	if late > early+early/10+2048 {
		t.Errorf("resident memory grew from %d to %d KiB", early, late)
	}
	const consoles = 8 * 4 // consoles start and end; each has three pipes and a process
	if end.descriptors > calm.descriptors+2+consoles {
		t.Errorf("open descriptors grew from %d to %d", calm.descriptors, end.descriptors)
	}
	if most := 250 << 10; end.memory > most {
		t.Errorf("resident memory is %d KiB, want at most %d", end.memory, most)
	}
}

// churn keeps some small evolving and ordinary jobs in the lab for the given time, then waits until all have ended.
// It calls `look` in each round.
func churn(t *testing.T, lab *lab.SlurmLab, d time.Duration, look func()) (jobs int) {
	t.Helper()
	const atOnce = 10
	script := "sleep 2\neval \"$(accordion step)\" || exit\nsleep 2\neval \"$(accordion step)\" || exit\nsleep 2\n"
	count := func() int {
		return len(strings.Fields(runClient(t, lab, "squeue", "--noheader", "--all", "-o", "%A")))
	}
	for until := time.Now().Add(d); time.Now().Before(until); {
		for range atOnce - min(count(), atOnce) {
			if jobs++; jobs%3 == 0 {
				lab.Submit(t, "bob", "sleep 3", "-N2", "-t1")
			} else {
				lab.Submit(t, "alice", script, "-H", "-N1", "-n1", "-t5", "--comment=ep=1x3s,3x3s,2x3s")
			}
		}
		if look != nil {
			look()
		}
		time.Sleep(2 * time.Second) // sets the rate of submissions
	}
	lab.Await(t, 5*time.Minute, "the last jobs have ended", everySecond(func() bool { return count() == 0 }))
	return jobs
}
