package slurm_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/internal/lab"
)

// This file tests late applications, and applications that never call `accordion step`. All of them run in parallel
// on one real Slurm.

// punctuality is the configuration of these tests: an allowance of 16 s, a grace of 6 s, and a notice of 5 s.
const punctuality = "[overrun]\nshare = 0.0\nleast = \"16s\"\ngrace = \"6s\"\n[early]\nadvance = true\n[silent]\nnotice = \"5s\"\n"

// silentScript returns a batch script that never calls `accordion step`. It prints its hosts file at the start
// and at each signal, and ends after the given number of seconds.
func silentScript(seconds int) string {
	return fmt.Sprintf(`file=/tmp/accordion-$(id -u)/$SLURM_CLUSTER_NAME-$SLURM_JOB_ID.hosts
note() { echo "told at=$(date +%%s) $(head -1 "$file") hosts=$(grep -v '^#' "$file" | paste -sd,)"; }
trap note URG
end=$((SECONDS + %d))
until [ -e "$file" ] || ((SECONDS >= end)); do sleep 0.2; done
[ ! -e "$file" ] || note
while ((SECONDS < end)); do sleep 0.5 & wait $!; done
`, seconds)
}

// overrunScript continues after its time has ended. It prints a line at each signal and ignores the signal.
const overrunScript = `trap 'echo signalled' URG
echo begun
sleep 600 &
while kill -0 $! 2>/dev/null; do wait $!; done
eval "$(accordion step)"
`

// assertTellThenSignal checks that the sidecar first sent the job a message, then a signal, and then ended the job.
// In the job's output the message and the signal may come in either order, because they reach the job's node
// separately.
func assertTellThenSignal(t *testing.T, p *process, job, output string) {
	t.Helper()
	assertInOrder(t, output, "begun", "signalled", "accordion ends this job")
	var acts []string
	for _, e := range p.journal(job) {
		if e.Kind != "event" && (e.Verb == "tell" || e.Verb == "signal") {
			acts = append(acts, e.Verb)
		}
	}
	if !slices.Equal(slices.Compact(acts), []string{"tell", "signal"}) {
		t.Errorf("by the journal job %s was not told and then signaled: %v", job, acts)
	}
}

// submitManaged submits a job with the sbatch options that a managed job needs if the plug-in is not installed.
func submitManaged(t *testing.T, lab *lab.SlurmLab, user, ep, script string) string {
	t.Helper()
	nodes, _, _ := strings.Cut(ep, "x")
	return lab.Submit(t, user, script, "-H", "-N"+nodes, "-n"+nodes, "-t5", "--comment=ep="+ep)
}

// hostsFolder returns the path of a user's folder for hosts files. It removes the folder before and after the test.
func hostsFolder(t *testing.T, name string) (path string, uid int) {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err = strconv.Atoi(u.Uid)
	if err != nil {
		t.Fatal(err)
	}
	path = "/tmp/accordion-" + u.Uid
	remove := func() {
		private, err := filepath.Glob(path + ".*") // the folder that is used if another user occupies the usual path
		if err != nil {
			t.Error(err)
		}
		for _, path := range append(private, path) {
			if err := os.RemoveAll(path); err != nil {
				t.Error(err)
			}
		}
	}
	remove()
	t.Cleanup(remove)
	return path, uid
}

func TestApplicationsThatAreNotOnTimeOnARealSlurm(t *testing.T) {
	t.Parallel()
	// The test has its own users, because it removes their folders for hosts files. These folders belong to the
	// machine, not to the lab.
	lab := lab.TakeSlurm(t, 24, lab.Users("alice", "nora", "otto"), lab.Fast(), lab.NoPlugin())
	hosts, uid := hostsFolder(t, "nora")
	trap, otto := hostsFolder(t, "otto")
	prey := t.TempDir() // the target of the other user's link
	if err := os.Chmod(prey, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(prey, trap); err != nil {
		t.Fatal(err)
	}
	p := serving(t, lab, manyClients+"\n"+punctuality) // six growths at the same time, each with notices

	linked := submitManaged(t, lab, "otto", "1x10s,2x25s", silentScript(33))
	silent := submitManaged(t, lab, "nora", "2x12s,4x12s,1x30s", silentScript(50)) // this job's growth may be late
	late := submitManaged(t, lab, "nora", "1x30s,2x15s", overrunScript)
	greedy := submitManaged(t, lab, "nora", "10x15s,1x30s", overrunScript)
	waits := submitManaged(t, lab, "nora", "1x10s,12x8s", `eval "$(accordion step)"; srun -l true; echo grown to $SLURM_NNODES; sleep 2`)
	early := submitManaged(t, lab, "nora", "1x90s,3x8s", `sleep 3; eval "$(accordion step)"; echo went on with $SLURM_NNODES; sleep 2`)

	says := func(job, owner, text string) {
		t.Helper()
		lab.Await(t, 2*time.Minute, fmt.Sprintf("the output of job %s says %q", job, text), func() bool {
			return strings.Contains(outputOf(lab, owner, job), text)
		})
	}
	happens := func(job, kind string) {
		t.Helper()
		lab.Await(t, 2*time.Minute, fmt.Sprintf("job %s %s", job, kind), func() bool { return len(p.events(job, kind)) > 0 })
	}
	t.Run("a hosts file is not written through a stranger's link, and the job is told where it is", func(t *testing.T) {
		says(linked, "otto", "another user has the usual folder")
		assertPrivateHostsFile(t, p, lab, linked, prey, otto)
	})
	// Now a folder of the other user replaces the link.
	if err := os.Remove(trap); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(trap, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(trap, uid, -1); err != nil {
		t.Fatal(err)
	}
	housed := submitManaged(t, lab, "otto", "1x10s,2x12s", silentScript(32)) // other jobs may still hold the nodes of its growth for some seconds

	t.Run("a late one is warned, and ended with the reason in its output", func(t *testing.T) {
		says(late, "nora", "accordion ends this job: step 1 of 2 was to end at")
		assertInOrder(t, outputOf(lab, "nora", late), "begun", "its allowance is nearly used up: the job will be ended in", "accordion ends this job", "allowance 16 s in all")
		assertTellThenSignal(t, p, late, outputOf(lab, "nora", late))
		assertEvent(t, p, late, "warned", "its allowance is nearly used up")
	})
	t.Run("a late one while another's growth waits is ended after the grace", func(t *testing.T) {
		says(greedy, "nora", "accordion ends this job: step 1 of 2 was to end at")
		assertInOrder(t, outputOf(lab, "nora", greedy), "begun", "another job waits for its nodes: the job will be ended in", "and another job has waited")
		assertTellThenSignal(t, p, greedy, outputOf(lab, "nora", greedy))
		assertEvent(t, p, greedy, "warned", "another job waits for its nodes")
		says(waits, "nora", "grown to 12")
		assertInOrder(t, outputOf(lab, "nora", waits), "s after the planned second: ") // the reason is either a late job or Slurm's cleanup after that job
		assertEvent(t, p, waits, "grew", "s after the planned second: ")
	})
	t.Run("an early one goes on early, and its log and the journal say why", func(t *testing.T) {
		says(early, "nora", "went on with 3")
		assertInOrder(t, outputOf(lab, "nora", early), "step 2 of 2 begins: 3 nodes", "before the planned second, which delays nobody", "went on with 3")
		assertEvent(t, p, early, "grew", "before the planned second, which delays nobody")
	})
	t.Run("a silent one is resized at its planned seconds, and told by its file and its signal", func(t *testing.T) {
		happens(silent, "shrank")
		checkSilent(t, p, silent, outputOf(lab, "nora", silent))
		assertOwnerOnly(t, filepath.Join(hosts, "lab-"+silent+".hosts"), uid)
	})
	t.Run("a hosts file is not written into a stranger's folder, and the job is told where it is", func(t *testing.T) {
		says(housed, "otto", "another user has the usual folder")
		happens(housed, "grew")
		happens(linked, "grew")
		assertPrivateHostsFile(t, p, lab, housed, trap, otto)
	})
	assertClean(t, p)
}

// assertPrivateHostsFile checks that nothing was written into a folder of another user. The job's output and the
// log must name the job's hosts file, which is in a private folder.
func assertPrivateHostsFile(t *testing.T, p *process, lab *lab.SlurmLab, job, folder string, uid int) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("%s holds %v, want nothing", folder, entries)
	}
	found := regexp.MustCompile(`the hosts file of this job is (/tmp/accordion-[0-9]+\.[A-Za-z0-9]+/lab-` + job + `\.hosts): `).FindStringSubmatch(outputOf(lab, "otto", job))
	if found == nil {
		t.Fatalf("the output of job %s does not say where its hosts file is", job)
	}
	assertOwnerOnly(t, found[1], uid)
	if !strings.Contains(logged(p), found[1]) {
		t.Error("the sidecar's log does not say that another user has the folder")
	}
}

// assertInOrder checks that a text contains the pieces one after the other.
func assertInOrder(t *testing.T, text string, pieces ...string) {
	t.Helper()
	rest := text
	for _, piece := range pieces {
		_, after, found := strings.Cut(rest, piece)
		if !found {
			t.Errorf("no %q (after what should be before it) in:\n%s", piece, text)
			return
		}
		rest = after
	}
}

// assertEvent checks that the journal has an event of the given kind for the job, and that the event contains
// `text`.
func assertEvent(t *testing.T, p *process, job, kind, text string) {
	t.Helper()
	for _, e := range p.events(job, kind) {
		if strings.Contains(e.Text, text) {
			return
		}
	}
	t.Errorf("the journal has no event %q of job %s that says %q: %v", kind, job, text, p.events(job, kind))
}

// header matches the line that silentScript prints each time the sidecar informs the job.
var header = regexp.MustCompile(`told at=(\d+) # generation=(\d+) step=(\d+) steps=3 nodes=(\d+) from=(\d+) until=(\d+) hosts=(\S+)`)

// checkSilent compares the messages that a silent job of 2, 4 and 1 nodes received, and their times, with the
// journal.
func checkSilent(t *testing.T, p *process, job, output string) {
	t.Helper()
	steps := p.events(job, "started", "grew", "shrank")
	said := header.FindAllStringSubmatch(output, -1)
	if len(steps) != 3 || len(said) != 3 {
		t.Fatalf("%d steps in the journal, %d reported, want 3:\n%s", len(steps), len(said), output)
	}
	for i, size := range []string{"2", "4", "1"} {
		if got, want := strings.Join(said[i][2:5], " "), fmt.Sprintf("%d %d %s", i, i+1, size); got != want {
			t.Errorf("its messages have generation, step, nodes %s, want %s\n%s", got, want, output)
		}
		if got, want := sorted(t, said[i][7]), sorted(t, fmt.Sprint(steps[i].Args["nodes"])); got != want {
			t.Errorf("step %d: its file has %s, the journal %s", i+1, got, want)
		}
	}
	usable := func(i int) float64 { return number(steps[i].Args["usable"]) }
	for i := 1; i < 3; i++ {
		if planned := number(steps[i].Args["planned"]); usable(i) < planned || usable(i) > planned+30 {
			t.Errorf("step %d began at %.0f, planned for %.0f", i+1, usable(i), planned)
		}
	}
	at := func(i int) float64 { s, _ := strconv.ParseFloat(said[i][1], 64); return s }
	if at(1) < number(steps[1].Args["planned"]) {
		t.Errorf("it was told of its growth at %.0f, before it was planned", at(1))
	}
	if at(2) > usable(2) {
		t.Errorf("it was told of its shrink at %.0f, after it had shrunk at %.3f", at(2), usable(2))
	}
	if tells := said[1][0]; !strings.Contains(tells, "until="+strconv.FormatInt(int64(number(steps[2].Args["planned"])), 10)) {
		t.Errorf("its message is %q, and it shrank at %.0f", tells, number(steps[2].Args["planned"]))
	}
}

// assertOwnerOnly checks that a file and its folder belong to the user, and that no other user may read or write
// them.
func assertOwnerOnly(t *testing.T, path string, uid int) {
	t.Helper()
	for _, path := range []string{path, filepath.Dir(path)} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); owner != uid || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s belongs to user %d and has mode %v, want user %d and no rights for others", path, owner, info.Mode(), uid)
		}
	}
}
