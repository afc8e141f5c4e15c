package slurm_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/internal/testenv"
)

// example is an application of examples/. It runs as its page describes, in a directory that belongs to alice.
type example struct {
	folder  string   // in examples
	script  string   // the job's script, in the folder
	program string   // a program that must be installed
	more    string   // lines put before the script's own
	ep      string   // an #EP profile in seconds that replaces the script's profile in hours
	exports []string // environment variables
	prepare func(t *testing.T, dir string)
	judge   func(t *testing.T, r exampleRun)
}

// exampleRun is a finished run of an example.
type exampleRun struct {
	dir, output             string
	later, left, last, held []string // the nodes that the job got after its start (later), released before its end (left), had at its end (last), and had at any time (held)
}

func TestApplicationsUseNodesThatCameLaterAndLoseNothingOnThoseThatLeft(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/run/accordion-world"); err == nil {
		t.Skip("the worlds of other releases have no GNU parallel, no Dask and no Snakemake: they run on this machine's own")
	}
	lab := quickLab(t)
	p := serving(t, lab, "[overrun]\nleast = \"2m\"\n") // Python programs start slowly if the processors are busy
	jobs := map[string]string{}
	for name, e := range examples {
		if e.available(t) {
			jobs[name] = e.submit(t, lab, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		job := jobs[name]
		lab.Await(t, 6*time.Minute, name+" has ended", func() bool { return len(p.events(job, "ended")) > 0 })
		state := ""
		lab.Await(t, time.Minute, name+" has left its nodes", func() bool {
			state = runClient(t, lab, "scontrol", "-o", "show", "job", job)
			return !strings.Contains(state, "JobState=COMPLETING")
		})
		output := lab.File("alice", name+"/out")
		if !strings.Contains(state, "JobState=COMPLETED") {
			t.Errorf("%s did not end: %s\n%s", name, state, output)
			continue
		}
		r := exampleRun{dir: filepath.Join(lab.Dir, "home", "alice", name), output: output}
		if r.readSteps(t, p, job) {
			examples[name].judge(t, r)
		}
		if t.Failed() {
			t.Logf("%s said\n%s", name, output)
		}
	}
	assertClean(t, p)
}

// available reports whether the example can run. At the level of real Slurm everything must be installed.
func (e example) available(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath(e.program); err == nil {
		return true
	}
	if testenv.Required("slurm") {
		t.Errorf("examples/%s is not run: no %s (scripts/test --real installs it)", e.folder, e.program)
	} else {
		t.Logf("examples/%s is LEFT OUT: no %s (scripts/test --real installs it)", e.folder, e.program)
	}
	return false
}

// submit copies the folder's files into a directory of that name and submits the job's script.
func (e example) submit(t *testing.T, lab *lab.SlurmLab, name string) string {
	t.Helper()
	dir := filepath.Join(lab.Dir, "home", "alice", name)
	lab.Run(t, "alice", "mkdir", "-p", dir)
	files, err := filepath.Glob(filepath.Join("..", "examples", e.folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples/%s: %d files (%v)", e.folder, len(files), err)
	}
	for _, file := range files {
		install(t, file, filepath.Join(dir, filepath.Base(file)))
	}
	if e.prepare != nil {
		e.prepare(t, dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, e.script))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	return lab.Submit(t, "alice", first+"\n"+e.more+rest, "-H", "-N1", "-t10", "--comment=ep="+e.ep, "--chdir="+dir, "-o", filepath.Join(dir, "out"),
		"--export="+strings.Join(append([]string{"ALL"}, e.exports...), ","))
}

// readSteps reads from the journal which nodes the job had in each step, and checks that the job grew and shrank.
func (r *exampleRun) readSteps(t *testing.T, p *process, job string) bool {
	t.Helper()
	var steps [][]string
	for _, e := range p.events(job, "started", "grew", "shrank") {
		steps = append(steps, nodeNames(t, fmt.Sprint(e.Args["nodes"])))
	}
	if len(steps) < 3 {
		t.Errorf("job %s had the nodes %v: it did not grow and shrink", job, steps)
		return false
	}
	for _, nodes := range steps {
		r.held = append(r.held, nodes...)
	}
	slices.Sort(r.held)
	r.held, r.last = slices.Compact(r.held), steps[len(steps)-1]
	r.later = without(r.held, steps[0])
	r.left = without(r.held, r.last)
	if len(r.later) == 0 || len(r.left) == 0 {
		t.Errorf("job %s had the nodes %v: none came later, or none left", job, steps)
	}
	return !t.Failed()
}

// assertEachTaskOnce checks the output lines that match `line`, which have a task number and a node. Each task,
// numbered from `first` on, ran once, on a node of the job. Each node that the job got later ran at least one task.
func (r exampleRun) assertEachTaskOnce(t *testing.T, line string, first, tasks int) map[string][]int {
	t.Helper()
	at, done := map[string][]int{}, map[int]int{}
	for _, m := range regexp.MustCompile(`(?m)`+line).FindAllStringSubmatch(r.output, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatalf("%q: %v", m[0], err)
		}
		at[m[2]] = append(at[m[2]], n)
		done[n]++
	}
	for n := first; n < first+tasks; n++ {
		if done[n] != 1 {
			t.Errorf("task %d was done %d times", n, done[n])
		}
	}
	if len(done) != tasks {
		t.Errorf("%d tasks were done, want %d: %v", len(done), tasks, done)
	}
	for node := range at {
		if !slices.Contains(r.held, node) {
			t.Errorf("%s did the tasks %v; the job had %v", node, at[node], r.held)
		}
	}
	for _, node := range r.later {
		if len(at[node]) == 0 {
			t.Errorf("%s came later, and no task ran there: %v", node, at)
		}
	}
	return at
}

// examples holds the applications to test. They run at the same time in one lab.
var examples = map[string]example{
	"sweep": sweep(40, 24), // parallel starts a task when nodes leave its hosts, and then reads the hosts again
	"tail":  sweep(26, 1),  // only the task that hangs is left
	"dask":  {folder: "dask", script: "job.sh", program: "dask-scheduler", ep: "1x20s,3x40s,1x20s", exports: []string{"BLOCKS=12"}, judge: judgeDask},
	"pipeline": {
		folder: "snakemake", script: "job.sh", program: "snakemake", ep: "1x20s,3x40s,1x20s",
		exports: []string{"PARTS=6", "SECONDS_EACH=1", "CI=true"}, // Snakemake checks its jobs each second
		judge:   judgePipeline,
	},
}

// sweep returns an example whose tasks take a second each. Its job shrinks when `rest` tasks are left. The first
// task that runs on a node other than the script's hangs and is lost with its node. GNU parallel runs that task
// again.
func sweep(tasks, rest int) example {
	const hangs = "#!/bin/bash\nif [[ $SLURMD_NODENAME != \"$SCRIPT_NODE\" ]] && mkdir hung 2>/dev/null; then\n" +
		"\techo $1 $SLURMD_NODENAME >hung/task\n\texec sleep 1000\nfi\nexec ./honest \"$@\"\n"
	return example{
		folder: "parallel", script: "sweep.sh", program: "parallel", ep: "1x20s,4x40s,1x20s",
		more:    "export SCRIPT_NODE=$SLURMD_NODENAME\n",
		exports: []string{"TRIAL=2", fmt.Sprintf("REST=%d", rest), "DRAIN=5"},
		prepare: func(t *testing.T, dir string) {
			install(t, filepath.Join(dir, "task"), filepath.Join(dir, "honest"))
			write(t, filepath.Join(dir, "task"), hangs)
			write(t, filepath.Join(dir, "tasks"), strings.Repeat("1\n", tasks))
		},
		judge: func(t *testing.T, r exampleRun) { r.assertSwept(t, tasks) },
	}
}

func (r exampleRun) assertSwept(t *testing.T, tasks int) {
	t.Helper()
	hung := wordsOf(t, filepath.Join(r.dir, "hung", "task"))
	if len(hung) != 2 || !slices.Contains(r.left, hung[1]) {
		t.Fatalf("the task that hangs: %v; nodes that left: %v", hung, r.left)
	}
	r.later = without(r.later, hung[1:]) // that node ran no other task
	at := map[int]string{}
	for node, numbers := range r.assertEachTaskOnce(t, `^task (\d+) \(1\): done on (\S+)$`, 1, tasks) {
		for _, n := range numbers {
			at[n] = node
		}
	}
	if n, _ := strconv.Atoi(hung[0]); at[n] == hung[1] || at[n] == "" {
		t.Errorf("task %d hung on %s, which left, and was done on %q", n, hung[1], at[n])
	}
}

func judgeDask(t *testing.T, r exampleRun) {
	r.assertEachTaskOnce(t, `^block (\d+): squared on (\S+)$`, 0, 12)
	for _, node := range r.left {
		if !regexp.MustCompile(`(?m)^` + node + ` holds [1-9]\d* results$`).MatchString(r.output) {
			t.Errorf("%s had no result before it left", node)
		}
	}
	sum := 0
	for x := range 12000 {
		sum += x * x
	}
	if !strings.Contains(r.output, fmt.Sprintf("the sum is %d\n", sum)) {
		t.Errorf("the sum is not %d", sum)
	}
}

func judgePipeline(t *testing.T, r exampleRun) {
	r.assertEachTaskOnce(t, `^part (\d+): summed up on (\S+)$`, 0, 6)
	if !strings.Contains(r.output, "the sum is 3003000\n") {
		t.Error("the sum is not that of six parts with the numbers up to 1000")
	}
}

// wordsOf returns the words of a small file.
func wordsOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// write creates a file that any user may read and run.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
