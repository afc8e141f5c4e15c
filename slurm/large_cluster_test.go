package slurm_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// The cluster has 64 nodes. 2,000 ordinary jobs share the cores of 56 nodes, and 10,000 jobs wait, of which a
// hundred are evolving. Meanwhile one evolving job grows and shrinks on the other nodes. docs/performance.md has
// the figures of this test: go test ./slurm -run ALargeCluster -timeout 2h -v -args -accordion.long
func TestALargeClusterIsPlannedWithinItsBounds(t *testing.T) {
	if !*long {
		t.Skip("submits 12,000 jobs, which takes many minutes: -args -accordion.long")
	}
	const waiting, running = 10_000, 2_000
	lab := lab.Slurm(t, 64, lab.Plain(), lab.Users("alice", "bob"), lab.Cores(36))
	count := filepath.Join(t.TempDir(), "programs")
	address := freeAddress(t)
	p := serving(t, lab, fmt.Sprintf("bin = %q\n[metrics]\nlisten = %q", countingClients(t, count), address))

	submitMany(t, lab, "bob", running, `salloc -Q --no-shell -p shared -x 'n[57-64]' -n1 -t1000 -J "r$i"`)
	steady := p.usage()
	var ep []string
	for range 15 {
		ep = append(ep, "2x1m", "4x1m")
	}
	grows := lab.Submit(t, "alice", "#!/bin/bash\n#EP "+strings.Join(ep, ",")+"\n"+stepScript(len(ep), 55))
	awaitEvent(t, p, grows, "started", 5*time.Minute)
	submitMany(t, lab, "alice", waiting, fmt.Sprintf(`ep=; ((i %% 100)) || ep='#EP 9x1h,20x30m'
	printf '#!/bin/bash\n%%s\nsleep 1\n' "$ep" | sbatch -Q -J "w$i" $([[ $ep ]] && echo -N9 || echo "-N$((9 + i %% 56)) -t$((10 + i %% 100))")`))
	lab.Await(t, 10*time.Minute, "the sidecar has every waiting job in its queue", everySecond(func() bool {
		return metric(t, address, "accordion_queue_jobs") >= waiting
	}))

	begun, before := time.Now(), measureSidecar(t, p, address)
	time.Sleep(4 * time.Minute) // the test measures what a sidecar uses in four minutes, so there is no event to wait for
	after := measureSidecar(t, p, address)
	if n := len(strings.Fields(runClient(t, lab, "squeue", "-h", "-a", "-t", "R", "-o", "%A"))); n < running {
		t.Errorf("%d jobs run, want %d", n, running)
	}
	if after.cycles == before.cycles || after.readings == before.readings {
		t.Fatalf("in %v nothing was planned: %+v, then %+v", time.Since(begun), before, after)
	}
	cycles := float64(after.cycles - before.cycles)
	wall, processor := (after.planning-before.planning)/cycles, (after.processor-before.processor)/cycles
	t.Logf("%.0f cycles in %.0f s: %.3f s each by the clock, %.3f s of processor time with all else that the sidecar does",
		cycles, time.Since(begun).Seconds(), wall, processor)
	t.Logf("a reading took %.3f s; client programs in the fullest minute: %d", (after.asking-before.asking)/float64(after.readings-before.readings), mostInAMinute(t, count, begun))
	t.Logf("resident memory: %d MiB with the running jobs alone, %d MiB with all; at most %d MiB", steady.memory>>10, after.memory>>10, after.most>>10)
	if wall >= 1 && processor >= 1 {
		t.Errorf("a cycle takes %.3f s, and %.3f s of processor time; want less than 1 s", wall, processor)
	}
	if after.most >= 250<<10 {
		t.Errorf("the sidecar took %d MiB, want less than 250", after.most>>10)
	}
	if len(p.events(grows, "grew")) == 0 || len(p.events(grows, "shrank")) == 0 {
		t.Error("the evolving job was never resized")
	}
}

// submitMany runs a piece of shell code for i from 1 to n, as the user.
func submitMany(t *testing.T, lab *lab.SlurmLab, user string, n int, piece string) {
	t.Helper()
	const each = 50
	begin := time.Now()
	for first := 1; first <= n; first += each {
		lab.Run(t, user, "bash", "-c", fmt.Sprintf("for ((i = %d; i < %d; i++)); do %s || exit; done >/dev/null", first, min(first+each, n+1), piece))
	}
	t.Logf("%d jobs of %s submitted within %.0f s", n, user, time.Since(begin).Seconds())
}

// countingClients returns a folder of Slurm's client programs. Each program logs its start to the file `path`.
func countingClients(t *testing.T, path string) (folder string) {
	t.Helper()
	folder = openFolder(t)
	err := os.WriteFile(path, nil, 0o644)
	if err == nil {
		err = os.Chmod(path, 0o666) // Slurm's own user writes there, too
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"squeue", "scontrol", "scancel", "salloc", "srun", "strigger"} {
		program, err := exec.LookPath(name)
		if err == nil {
			script := fmt.Sprintf("#!/bin/bash\necho $EPOCHSECONDS >>%q\nexec %q \"$@\"\n", path, program)
			err = os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// mostInAMinute returns the highest number of programs that started in any minute since an instant.
func mostInAMinute(t *testing.T, path string, since time.Time) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var at []int64
	most, first := 0, 0
	for line := range strings.Lines(string(text)) {
		second, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if second < since.Unix() {
			continue
		}
		for at = append(at, second); at[first] <= second-60; first++ {
		}
		most = max(most, len(at)-first)
	}
	return most
}

// A sidecarUsage holds what the sidecar has used since its start.
type sidecarUsage struct {
	cycles, readings            int
	planning, asking, processor float64 // seconds
	memory, most                int     // resident memory in KiB: now, and the maximum so far
}

func measureSidecar(t *testing.T, p *process, address string) sidecarUsage {
	t.Helper()
	l := sidecarUsage{
		cycles: int(metric(t, address, "accordion_cycle_seconds_count")), planning: metric(t, address, "accordion_cycle_seconds_sum"),
		readings: int(metric(t, address, `accordion_call_seconds_count{verb="observe"}`)), asking: metric(t, address, `accordion_call_seconds_sum{verb="observe"}`),
		memory: p.usage().memory,
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // the fields of /proc/PID/stat, beginning with the state
	for _, k := range []int{11, 12} {                                                   // in user mode and in the kernel, in hundredths of a second
		ticks, err := strconv.ParseFloat(fields[k], 64)
		if err != nil {
			t.Fatal(err)
		}
		l.processor += ticks / 100
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(peak, &l.most); err != nil {
		t.Fatal(err)
	}
	return l
}

// metric returns the value of one of the sidecar's metrics, or 0 if the metric has no value yet.
func metric(t *testing.T, address, name string) float64 {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(answer.Body, 1<<20))
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
