package slurm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm/output"
)

// Every run of the tests executes all real tests on this machine's own release of Slurm. In parallel it executes
// the test below on the other releases. `scripts/test --real --long` runs all tests on all releases.

func TestAShortTaleIsTrueOnEveryOtherRelease(t *testing.T) {
	for _, release := range []string{"20.11", "24.11", "26.05"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			runRelease(t, release)
		})
	}
}

// releaseRun is the test's run on one release. Its lab is configured like a site, and the sidecar runs in the lab's
// world.
type releaseRun struct {
	*testing.T
	lab   *lab.SlurmLab
	begun time.Time
}

// releaseSizes are the sizes, step by step, of the two jobs of the test that call `accordion step`.
var releaseSizes = []int{2, 5, 3}

func runRelease(t *testing.T, release string) {
	lab := lab.Slurm(t, 10, lab.Release(release), lab.Users("alice", "bob"))
	// The lab logs which features it lacks. For example, Slurm 20.11 does not bind tasks with control groups of
	// version 2.
	w := &releaseRun{T: t, lab: lab, begun: time.Now()}
	lab.Do(t, "serve")
	t.Cleanup(w.logJournal)
	auditAtEnd(t, lab)

	w.assertRefused("#EP 2x20s,11x20s", "11x20s", "10 nodes of partition main")
	w.assertRefused("#EP 2x500", "500s, 90m, 1h30m")
	cores := lab.Submit(t, "alice", fmt.Sprintf("#EP 2x14s,5x14s,3x14s\n#SBATCH -C thin -n %d\n", 2*lab.CPUs)+fmt.Sprintf(taskReportScript, "srun"))
	gpus := lab.Submit(t, "bob", "#EP 2x14s,5x14s,3x14s\n#SBATCH --gpus-per-node=2 --ntasks-per-node=2\n"+fmt.Sprintf(taskReportScript, "accordion run --gpus-per-task=1"))
	shown := map[string][]string{}
	for step := range releaseSizes {
		if step == 1 {
			w.killInAGrowth(cores, gpus)
		}
		for _, job := range []string{cores, gpus} {
			shown[job] = append(shown[job], w.awaitStep(job, step+1))
		}
	}
	w.assertRefused("#EP 1x20s\n#SBATCH --tmp=3000\n", "--tmp=3000", "at most 2000 MB of temporary disk")
	w.awaitCompleted(cores, gpus)
	w.assertSourcesAgree(cores, "alice", shown[cores])
	w.assertSourcesAgree(gpus, "bob", shown[gpus])
	w.assertGrewAsOwner("alice", output.GrowPrefix+cores)
	w.assertGrewAsOwner("bob", companionName(gpus))
	w.assertTasksShareNothing(cores, "alice", false)
	w.assertTasksShareNothing(gpus, "bob", true)

	silent := lab.Submit(t, "alice", "#EP 1x12s,3x14s,2x20s\n"+silentScript(42)) // this job's growth may be late
	moldable := lab.Submit(t, "bob", "#MOLD 2x50s|6x10s\necho on $SLURM_JOB_NUM_NODES; srun true && sleep 5")
	w.awaitCompleted(moldable, silent)
	w.assertSilentJobInformed(silent)
	if out := outputOf(lab, "bob", moldable); out != "on 6\n" {
		t.Errorf("the moldable job, which ends first on 6 nodes, prints %q", out)
	}
	submitImpossible(t, lab)
	assertTasksInTurn(t, lab)
	w.assertClean()
	assertTheProcessorsAreBooked(t, lab, w.begun)
}

// taskReportScript is a script of three steps. In each step it prints its nodes according to its environment and to
// squeue, and each of its tasks prints its cores and devices. If a task has permission to open a device, the error
// is that the device has no driver. The srun of 20.11 sometimes loses its connection to a task, also without
// Accordion.
const taskReportScript = `
tell() {
	step=${ACCORDION_STEP:-1}
	echo "list $step ${ACCORDION_NODELIST:-$SLURM_JOB_NODELIST}"
	[ -z "$ACCORDION_HOSTFILE" ] || echo "file $step $(paste -sd, "$ACCORDION_HOSTFILE")"
	for try in 1 2 3; do
		said=$(%s bash -c 'for i in 0 1 2 3; do
				case $( (exec 3<$ACCORDION_LAB/dev/gpu$i) 2>&1 ) in *"No such device"*) gpus=$gpus$i ;; esac
			done
			echo "task $1 1 $SLURMD_NODENAME cores $(awk "/^Cpus_allowed_list/ { print \$2 }" /proc/self/status) gpus ${gpus:-none}"
			sleep 0.3' task $step 2>errors)
		grep -q "error reading header" errors || break
	done
	echo "$said"
	cat errors
	squeue -h -t R -o "shown $step %%A %%j %%N"
	echo "told $step"
}
tell
sleep 9
eval "$(accordion step)"
tell
sleep 9
eval "$(accordion step)"
tell
sleep 9
`

// assertRefused submits an invalid job. sbatch must print exactly two lines: one with the reason, and its own
// second line.
func (w *releaseRun) assertRefused(script string, says ...string) {
	w.Helper()
	id, said, err := w.lab.Sbatch("alice", script)
	lines := strings.Split(said, "\n")
	if err == nil || len(lines) != 2 || !strings.Contains(lines[0], "accordion: ") {
		w.Errorf("%s: job %q, %v, it says %q", script, id, err, said)
		return
	}
	for _, words := range says {
		if !strings.Contains(lines[0], words) {
			w.Errorf("%s: no %q in: %s", script, words, lines[0])
		}
	}
}

// awaitStep waits until the job has reported a step. It returns the nodes on which squeue showed the job and its
// companions in that step.
func (w *releaseRun) awaitStep(job string, step int) string {
	w.Helper()
	w.lab.Await(w.T, 3*time.Minute, fmt.Sprintf("job %s has reported step %d", job, step), func() bool {
		return strings.Contains(w.output(job), fmt.Sprintf("told %d\n", step))
	})
	var nodes []string
	for line := range strings.Lines(w.output(job)) {
		f := strings.Fields(line)
		if len(f) == 5 && f[0] == "shown" && f[1] == fmt.Sprint(step) && (f[2] == job || f[3] == companionName(job)) {
			names, err := hostlist.Expand(f[4])
			if err != nil {
				w.Fatal(err)
			}
			nodes = append(nodes, names...)
		}
	}
	hostlist.Sort(nodes)
	return hostlist.Compact(nodes)
}

// companionName returns the name that all companions of a job have.
func companionName(job string) string { return adapter.Prefix + "with-" + job }

// output returns what the job, of either user, has printed so far.
func (w *releaseRun) output(job string) string {
	return outputOf(w.lab, "alice", job) + outputOf(w.lab, "bob", job)
}

// killInAGrowth kills the sidecar with kill -9 as soon as one of the jobs grows, and starts another sidecar.
func (w *releaseRun) killInAGrowth(jobs ...string) {
	w.Helper()
	w.lab.Await(w.T, time.Minute, "a job grows", func() bool {
		names := strings.Fields(retryAs(w.T, w.lab, "root", "squeue", "-h", "-o", "%j"))
		return slices.ContainsFunc(jobs, func(job string) bool {
			return slices.Contains(names, output.GrowPrefix+job) || slices.Contains(names, companionName(job)) || strings.Contains(w.output(job), "told 2\n")
		})
	})
	w.lab.Do(w.T, "serve-stop", "--kill")
	w.lab.Do(w.T, "serve")
}

// awaitCompleted waits until the jobs have ended, and fails unless they succeeded.
func (w *releaseRun) awaitCompleted(jobs ...string) {
	w.Helper()
	for _, job := range jobs {
		state := ""
		w.lab.Await(w.T, 3*time.Minute, "job "+job+" is over", func() bool {
			state = retryAs(w.T, w.lab, "root", "squeue", "-h", "-j", job, "-t", "all", "-o", "%T")
			return !slices.Contains([]string{"PENDING", "RUNNING", "COMPLETING"}, state)
		})
		if state != "COMPLETED" {
			w.Errorf("job %s is %s\n%s", job, state, w.output(job))
		}
	}
}

// journal returns the journal's entries of a job, in order.
func (w *releaseRun) journal(job string) []entry {
	w.Helper()
	return entries(w.T, w.lab.Run(w.T, "root", "accordion", "journal", "--json", "--job", job)+"\n")
}

// assertSourcesAgree compares the job's own output about each step with squeue, sacct and the journal.
func (w *releaseRun) assertSourcesAgree(job, user string, shown []string) {
	w.Helper()
	said := parseStepReports(w.T, outputOf(w.lab, user, job))
	happened := ofKind(w.journal(job), "started", "grew", "shrank")
	if len(happened) != len(releaseSizes) {
		w.Fatalf("job %s: the journal has %d starts, growths and shrinks: %v", job, len(happened), happened)
	}
	accounted := w.accountedNodes(job, happened)
	for i, size := range releaseSizes {
		inside := said[i+1]
		var names []string
		for node, tasks := range inside.tasks {
			if names = append(names, node); tasks != 2 && tasks != w.lab.CPUs {
				w.Errorf("job %s, step %d: %d tasks ran on %s", job, i+1, tasks, node)
			}
		}
		if len(names) != size {
			w.Errorf("job %s, step %d: its tasks ran on %d nodes, want %d", job, i+1, len(names), size)
		}
		sources := map[string]string{"its tasks": sorted(w.T, strings.Join(names, ",")), "its environment": sorted(w.T, inside.list), "squeue": shown[i],
			"the journal": sorted(w.T, fmt.Sprint(happened[i].Args["nodes"])), "sacct -D": accounted[i]}
		if i > 0 {
			sources["its hosts file"] = inside.file
		}
		for source, list := range sources {
			if list != shown[i] {
				w.Errorf("job %s, step %d: %s says %s, squeue %s", job, i+1, source, list, shown[i])
			}
		}
	}
	if w.Failed() {
		w.Log(outputOf(w.lab, user, job))
	}
}

// accountedNodes waits until accounting has the end of every ended job. It returns the nodes that a job and
// its companions held in the middle of each step.
func (w *releaseRun) accountedNodes(job string, happened []entry) []string {
	w.Helper()
	var rows []account
	w.lab.Await(w.T, time.Minute, "accounting knows all ends", func() bool {
		rows = slices.DeleteFunc(readAccounts(w.T, w.lab, w.begun), func(a account) bool { return fmt.Sprint(a.id) != job && a.name != companionName(job) })
		return !slices.ContainsFunc(rows, func(a account) bool { return a.end == 0 && len(a.nodes) > 0 })
	})
	held := tenures(rows, "shared")
	end := int64(0)
	for _, h := range held {
		end = max(end, h.to)
	}
	var lists []string
	for i, e := range happened {
		next := end
		if i+1 < len(happened) {
			next = happened[i+1].At.Unix()
		}
		middle := (e.At.Unix() + next) / 2
		var nodes []string
		for _, h := range held {
			if h.from <= middle && middle < h.to {
				nodes = append(nodes, h.node)
			}
		}
		hostlist.Sort(nodes)
		lists = append(lists, hostlist.Compact(nodes))
	}
	if w.Failed() {
		w.Log(formatAccounts(rows))
	}
	return lists
}

// assertGrewAsOwner checks that the allocations by which a job grew belong to the job's owner, whose limits apply
// to them.
func (w *releaseRun) assertGrewAsOwner(owner, allocations string) {
	w.Helper()
	found := 0
	for _, a := range readAccounts(w.T, w.lab, w.begun) {
		if a.name != allocations {
			continue
		}
		if found++; a.user != owner {
			w.Errorf("%s, job %d, was %s's, want %s's", a.name, a.id, a.user, owner)
		}
	}
	if found == 0 {
		w.Errorf("accounting has no %s", allocations)
	}
}

// assertTasksShareNothing checks, by the output of the tasks, that no two tasks of a step use the same core of a
// node. In a job with GPUs each task must have a GPU of its own.
func (w *releaseRun) assertTasksShareNothing(job, user string, gpus bool) {
	w.Helper()
	if !w.lab.Binds {
		return
	}
	each := 1
	if strings.HasPrefix(w.lab.Slurm, "20.11") { // on that release a task may open the devices of all tasks on its node
		each = 2
	}
	held := map[string]bool{}
	own := func(what string) {
		if held[what] {
			w.Errorf("job %s: two tasks have %s", job, what)
		}
		held[what] = true
	}
	for line := range strings.Lines(outputOf(w.lab, user, job)) {
		f := strings.Fields(line)
		if len(f) != 8 || f[0] != "task" {
			continue
		}
		step, node, core, gpu := f[1], f[3], f[5], f[7]
		own(fmt.Sprintf("core %s of %s in step %s", core, node, step))
		if strings.ContainsAny(core, "-,") {
			w.Errorf("job %s: a task has the cores %s of %s in step %s", job, core, node, step)
		}
		if gpus && (len(gpu) != each || gpu == "none") {
			w.Errorf("job %s: a task may open the GPUs %s of %s in step %s, want %d", job, gpu, node, step, each)
		}
		if gpus && each == 1 {
			own(fmt.Sprintf("GPU %s of %s in step %s", gpu, node, step))
		}
	}
	if len(held) == 0 {
		w.Errorf("job %s: no task printed what it has", job)
	}
}

// assertSilentJobInformed checks a job that never calls `accordion step`. The sidecar must have resized it, and
// written its hosts file before each signal.
func (w *releaseRun) assertSilentJobInformed(silent string) {
	w.Helper()
	var hosts []string // the hosts of each message to the job
	for line := range strings.Lines(outputOf(w.lab, "alice", silent)) {
		if _, list, ok := strings.Cut(strings.TrimSpace(line), "hosts="); ok && !slices.Contains(hosts, list) {
			hosts = append(hosts, list)
		}
	}
	happened := ofKind(w.journal(silent), "started", "grew", "shrank")
	var nodes []string
	for _, e := range happened {
		names, err := hostlist.Expand(fmt.Sprint(e.Args["nodes"]))
		if err != nil {
			w.Fatal(err)
		}
		nodes = append(nodes, strings.Join(names, ","))
	}
	if !slices.Equal(nodes, hosts) || len(nodes) != 3 {
		w.Errorf("the silent job's messages are %q, and the journal has %q\n%s", hosts, nodes, outputOf(w.lab, "alice", silent))
	}
}

// assertClean checks that no job is left, and that every node can be used.
func (w *releaseRun) assertClean() {
	w.Helper()
	w.lab.Await(w.T, 3*time.Minute, "no job is left", everySecond(func() bool {
		return strings.TrimSpace(w.lab.Run(w.T, "root", "squeue", "--noheader", "--all", "-o", "%A")) == ""
	}))
	id := w.lab.Submit(w.T, "alice", "srun true", "-p", "shared", fmt.Sprintf("-N%d", w.lab.Nodes))
	w.awaitCompleted(id)
}

// logJournal logs the journal of a failed run.
func (w *releaseRun) logJournal() {
	if !w.Failed() {
		return
	}
	text, _, _ := w.lab.Exec("root", "", "accordion", "journal")
	w.Log(tail(text, 100))
}
