package two_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter/view"
	"accordion/internal/lab"
)

// application is a running `accordion launch` of alice over both labs. It writes files in her directory. NAME.err
// has the time before each line. NAME.status has the exit status. NAME.lines has "SECOND CLUSTER" for each part
// that passed the barrier.
type application struct {
	*lab.TwoLabs
	name  string
	began int // length of the sidecar's log before the launch, in bytes
}

// two is the script of a selector that requests two hosts of each cluster. It writes the last view to two.view.
const two = `#!/bin/bash
while read -r view; do
	echo "$view" >two.view
	version=${view#*\"version\":}
	echo "{\"version\":${version%%[,\}]*},\"request\":{\"oar\":2,\"slurm\":2},\"walltime\":60}"
done
`

// launch starts an application. Its parts run the shell text `first` before the barrier and `after` after the
// barrier.
func launch(t *testing.T, labs *lab.TwoLabs, name, model, first, after string) *application {
	t.Helper()
	a := &application{TwoLabs: labs, name: name}
	a.began = len(a.log(t))
	a.write(t, "two", two)
	a.write(t, name+".sh", fmt.Sprintf(`#!/bin/bash
%s
until [ "$(nice)" = -10 ]; do sleep .05; done
eval "$(accordion part)" || exit
echo "$EPOCHREALTIME $ACCORDION_PART" >>~/%s.lines
%s
`, first, name, after))
	a.write(t, name+".launch", fmt.Sprintf(`
accordion launch --model %s --on slurm='sbatch -p main %s.sh' --on oar='oarsub -q evolve ./%s.sh' >%s.out \
	2> >(while IFS= read -r line; do echo "$EPOCHREALTIME $line"; done >%s.err) &
echo $! >%s.pid
wait $!
echo $? >%s.status
`, quoted(model), name, name, name, name, name, name))
	a.comesFirst(t)
	labs.Run(t, "alice", "bash", "-c", "setsid bash "+name+".launch </dev/null >/dev/null 2>&1 &")
	return a
}

// comesFirst gives alice's processes priority over all others. The test requires that her parts pass the barrier
// within a fifth of a second of each other. Under other load a part might wait that long for a CPU. OAR's jobs
// share CPUs through control groups, and a priority counts only within a group. So her processes are moved out of
// their groups. A part waits before the barrier until its priority has changed.
func (a *application) comesFirst(t *testing.T) {
	t.Helper()
	alice, err := strconv.ParseUint(strings.TrimSpace(a.Run(t, "alice", "id", "-u")), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	refused := map[int]int{}
	go func() {
		defer close(over)
		for {
			processes, _ := filepath.Glob("/proc/[0-9]*")
			for _, p := range processes {
				var of unix.Stat_t
				if unix.Stat(p, &of) != nil || uint64(of.Uid) != alice {
					continue
				}
				pid, _ := strconv.Atoi(filepath.Base(p))
				// The error does not matter, because the process may have ended, or the machine may not have such
				// groups.
				_ = os.WriteFile("/sys/fs/cgroup/cpu/cgroup.procs", []byte(filepath.Base(p)), 0)
				err := unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}, 0)
				if err == nil {
					err = unix.Setpriority(unix.PRIO_PROCESS, pid, -10) // the part waits for this change
				}
				if err == nil || errors.Is(err, unix.ESRCH) {
					continue
				}
				if refused[pid]++; refused[pid] == 20 { // a process that is ending cannot leave its group
					t.Errorf("letting process %d come first, tried for 2 s: %v", pid, err)
				}
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { <-over })
}

func (a *application) write(t *testing.T, file, text string) {
	t.Helper()
	if _, errs, err := a.Exec("alice", text, "sh", "-c", "cat >"+file+" && chmod +x "+file); err != nil {
		t.Fatalf("writing %s: %v: %s", file, err, errs)
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (a *application) read(suffix string) string {
	return strings.TrimSpace(a.File("alice", a.name+suffix))
}

// said waits until the launch has printed `n` lines with this text, and returns the time of the n-th line in
// seconds.
func (a *application) said(t *testing.T, text string, n int) (second float64) {
	t.Helper()
	a.soon(t, 3*time.Minute, fmt.Sprintf("the launch says %q %d times", text, n), func() bool {
		var all []float64
		for line := range strings.Lines(a.File("alice", a.name+".err")) {
			if at, said, _ := strings.Cut(line, " "); strings.HasSuffix(said, "\n") && strings.Contains(said, text) {
				at, err := strconv.ParseFloat(at, 64)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				all = append(all, at)
			}
		}
		if len(all) < n {
			return false
		}
		second = all[n-1]
		return true
	})
	return second
}

// soon does what Await does, but checks more often. It is for conditions that are cheap to check.
func (a *application) soon(t *testing.T, patience time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s in vain until %s; it said:\n%s\nlines:\n%s", patience, what, a.read(".err"), a.read(".lines"))
		}
	}
}

// job returns the number of the application's last job on a cluster.
func (a *application) job(t *testing.T, cluster string) (number string) {
	t.Helper()
	for line := range strings.Lines(a.read(".out")) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "job" && f[3] == cluster {
			number = f[1]
		}
	}
	if number == "" {
		t.Fatalf("the launch printed no job on %s: %q", cluster, a.read(".out"))
	}
	return number
}

// ends waits until the launch has ended, and checks its exit status.
func (a *application) ends(t *testing.T, within time.Duration, status string) {
	t.Helper()
	a.soon(t, within, "the launch is over", func() bool { return a.read(".status") != "" })
	if got := a.read(".status"); got != status {
		t.Errorf("the launch ended with %s, want %s; it said:\n%s", got, status, a.read(".err"))
	}
}

// ran checks that one part passed the barrier on each cluster, with at most `apart` seconds between them.
func (a *application) ran(t *testing.T, apart float64) {
	t.Helper()
	at, parts := a.lines(t)
	slices.Sort(parts)
	switch {
	case !slices.Equal(parts, []string{"oar", "slurm"}):
		t.Errorf("behind the barrier were %q, want oar and slurm, each once; the launch said:\n%s", parts, a.read(".err"))
	case slices.Max(at)-slices.Min(at) > apart:
		t.Errorf("the first lines are %.3f s apart, want %.3f s at most:\n%s\nthe launch said:\n%s", slices.Max(at)-slices.Min(at), apart, a.read(".lines"), a.read(".err"))
	}
}

// unseen checks that none of the user's code ran.
func (a *application) unseen(t *testing.T) {
	t.Helper()
	if _, parts := a.lines(t); len(parts) > 0 {
		t.Errorf("behind the barrier were %q, want nobody; the launch said:\n%s", parts, a.read(".err"))
	}
}

func (a *application) lines(t *testing.T) (at []float64, parts []string) {
	t.Helper()
	for line := range strings.Lines(a.read(".lines")) {
		f := strings.Fields(line)
		second, err := strconv.ParseFloat(f[0], 64)
		if err != nil || len(f) != 2 {
			t.Fatalf("%s.lines: %q", a.name, line)
		}
		at, parts = append(at, second), append(parts, f[1])
	}
	return at, parts
}

// kill ends the launch with SIGKILL.
func (a *application) kill(t *testing.T) {
	t.Helper()
	a.Run(t, "root", "kill", "-9", a.read(".pid"))
}

// settled checks that within two minutes nothing remains of applications, and that ordinary jobs run on all nodes
// and end.
func settled(t *testing.T, labs *lab.TwoLabs) {
	t.Helper()
	begun := time.Now()
	slurm := labs.Sbatch(t, "bob", "echo ran", fmt.Sprintf("-N%d", labs.Slurm), "-t1")
	oar := labs.Oarsub(t, "bob", "echo ran", "-l", fmt.Sprintf("nodes=%d,walltime=0:1:0", labs.OAR))
	left := ""
	for time.Since(begun) < 2*time.Minute {
		if left = remains(t, labs); left == "" {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if left != "" {
		t.Fatalf("two minutes later there is still:\n%s", left)
	}
	for _, file := range []string{"slurm-" + slurm + ".out", "OAR." + oar + ".stdout"} {
		if got := labs.File("bob", file); got != "ran\n" {
			t.Errorf("%s says %q: an ordinary job did not run", file, got)
		}
	}
	over := time.Now().Unix()
	labs.Await(t, time.Minute, "the sidecar has seen that nothing is left", func() bool { return readAfter(t, labs, over) })
}

// readAfter reports whether the sidecar has read both clusters after the second `second`.
func readAfter(t *testing.T, labs *lab.TwoLabs, second int64) bool {
	t.Helper()
	for _, cluster := range []string{"oar", "slurm"} {
		var status view.Status
		text := labs.Run(t, "root", "accordion", "status", "--json", "--cluster", cluster)
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&status); err != nil { // in the output the applications follow the clusters
			t.Fatalf("accordion status of %s: %v: %s", cluster, err, text)
		}
		if status.At <= second {
			return false
		}
	}
	return true
}

// remains returns the jobs and reservations on both clusters and the applications, or "" if there are none.
func remains(t *testing.T, labs *lab.TwoLabs) string {
	t.Helper()
	out, errs, err := labs.Exec("root", "", "sh", "-c",
		`squeue -h -o 'slurm %i %j %T %r %k'; scontrol -o show reservations | grep -o 'Name=accordion-app[^ ]*' ; accordion status --json | grep -o '"phase":[^,]*'; :`)
	if err != nil {
		t.Fatalf("looking at what is left: %v: %s", err, errs)
	}
	jobs := labs.SQL(t, "select job_id, state, queue_name, job_name from jobs where state not in ('Terminated', 'Error')")
	return strings.TrimSpace(out + "\n" + jobs)
}

// fill runs bob's jobs on all Slurm nodes until the returned function is called.
func fill(t *testing.T, labs *lab.TwoLabs) (free func()) {
	t.Helper()
	id := labs.Sbatch(t, "bob", "sleep 300", fmt.Sprintf("-N%d", labs.Slurm), "-t2")
	labs.Await(t, time.Minute, "Slurm is full", func() bool { return labs.Run(t, "root", "squeue", "-h", "-o%T", "-j", id) == "RUNNING" })
	return func() {
		t.Helper()
		labs.Run(t, "bob", "scancel", id)
	}
}
