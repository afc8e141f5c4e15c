package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/srun"
)

// threeAllocations is a job of 2 nodes with companions of 2 nodes and 1 node.
const threeAllocations = "42:n[1-2] 57:n[3,5] 58:n4"

// stepped is the environment of the job's script after `accordion step`, if the job was submitted by sbatch -N2 -n4.
var stepped = map[string]string{
	"SLURM_JOB_ID": "42", "SLURM_NTASKS": "4", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NAME": "cfd",
	"ACCORDION_JOB": "42", "ACCORDION_TASKS": "4/2",
}

// decide parses a command line and calls Decide. The environment is a copy of `base` with the variables of `env`.
func decide(t *testing.T, base map[string]string, line string, env ...string) (Plan, error) {
	t.Helper()
	all := map[string]string{}
	for k, v := range base {
		all[k] = v
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if all[name] = value; value == "" {
			delete(all, name)
		}
	}
	list, err := allocation.Parse(threeAllocations)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := srun.Parse(strings.Fields(line), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Decide(World{
		Allocations: list, User: "alice",
		Getenv: func(name string) (string, bool) { v, set := all[name]; return v, set },
		ReadFile: func(name string) ([]byte, error) {
			if name == "./two" {
				return []byte("n4\nn1\nn4\n"), nil
			}
			return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
		},
	}, parsed)
}

// shape returns a plan's parts as JOB:NODES*TASKS, with the number of the first task and node of each.
func shape(p Plan) string {
	var all []string
	for _, part := range p.Parts {
		all = append(all, fmt.Sprintf("%d:%s*%d@%d/%d", part.Job, hostlist.Compact(part.Nodes), part.Tasks, part.FirstTask, part.FirstNode))
	}
	return strings.Join(all, " ")
}

func TestNodesAndTasksAreDividedOverTheAllocations(t *testing.T) {
	for _, c := range []struct {
		line, want string
		env        []string
	}{
		{line: "a", want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2 58:n4*2@8/4"},
		{line: "a", env: []string{"SLURM_NTASKS="}, want: "42:n[1-2]*2@0/0 57:n[3,5]*2@2/2 58:n4*1@4/4"},
		{line: "a", env: []string{"SLURM_NTASKS=", "SLURM_NTASKS_PER_NODE=3"}, want: "42:n[1-2]*6@0/0 57:n[3,5]*6@6/2 58:n4*3@12/4"},
		{line: "a", env: []string{"SLURM_NTASKS=", "SLURM_NPROCS=4"}, want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2 58:n4*2@8/4"},
		{line: "a", env: []string{"SLURM_NTASKS=6"}, want: "42:n[1-2]*3@0/0 57:n[3,5]*2@3/2 58:n4*1@5/4"},                         // the user has set a number
		{line: "a", env: []string{"ACCORDION_TASKS="}, want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2 58:n4*2@8/4"},                       // a job that never calls accordion step
		{line: "a", env: []string{"ACCORDION_TASKS=9/1", "ACCORDION_JOB=7"}, want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2 58:n4*2@8/4"}, // the variable belongs to another job
		{line: "a", env: []string{"ACCORDION_TASKS=5/2", "SLURM_NTASKS=5"}, want: "42:n[1-2]*6@0/0 57:n[3,5]*5@6/2 58:n4*2@11/4"},
		{line: "-n 7 a", want: "42:n[1-2]*4@0/0 57:n[3,5]*2@4/2 58:n4*1@6/4"},
		{line: "-n 3 a", want: "42:n[1-2]*2@0/0 57:n3*1@2/2"},
		{line: "-n 1 a", want: "42:n1*1@0/0"},
		{line: "-N 3 a", want: "42:n[1-2]*4@0/0 57:n3*2@4/2"},
		{line: "-N 2-4 a", want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2"},
		{line: "-N 2-9 a", want: "42:n[1-2]*4@0/0 57:n[3,5]*4@4/2 58:n4*2@8/4"},
		{line: "-N 4 -n 6 a", want: "42:n[1-2]*4@0/0 57:n[3,5]*2@4/2"},
		{line: "--ntasks-per-node=1 a", want: "42:n[1-2]*2@0/0 57:n[3,5]*2@2/2 58:n4*1@4/4"},
		{line: "--ntasks-per-node=2 -n 6 a", want: "42:n[1-2]*4@0/0 57:n3*2@4/2"},
		{line: "--ntasks-per-node=2 -N 2 -n 3 a", want: "42:n[1-2]*3@0/0"},
		{line: "-w n4 -N1 a", want: "58:n4*2@0/0"},
		{line: "-w n[4-5] -N2 -n2 a", want: "57:n5*1@0/0 58:n4*1@1/1"},
		{line: "-w n4 -N2 -n2 a", want: "42:n1*1@0/0 58:n4*1@1/1"},
		{line: "-w n4 -n2 a", want: "42:n1*1@0/0 58:n4*1@1/1"},
		{line: "-w n4 a", env: []string{"SLURM_NTASKS=1"}, want: "58:n4*1@0/0"},
		{line: "-w n4 -n5 a", want: "42:n[1-2]*2@0/0 57:n[3,5]*2@2/2 58:n4*1@4/4"},
		{line: "-w ./two -N2 -n2 a", want: "42:n1*1@0/0 58:n4*1@1/1"},
		{line: "--nodefile ./two -N2 -n2 a", want: "42:n1*1@0/0 58:n4*1@1/1"},
		{line: "-x n[1-2,9] -n3 a", want: "57:n[3,5]*2@0/0 58:n4*1@2/2"},
		{line: "-r 3 -n2 a", want: "57:n5*1@0/0 58:n4*1@1/1"},
	} {
		p, err := decide(t, stepped, c.line, c.env...)
		if got := shape(p); err != nil || got != c.want {
			t.Errorf("%s with %v: %s, %v; want %s", c.line, c.env, got, err, c.want)
		}
	}
}

func TestACommandLineThatCannotSpanSaysWhy(t *testing.T) {
	for line, want := range map[string]string{
		"":                               "which program? Write: accordion run [options of srun] -- PROGRAM ARGUMENTS",
		"-n4":                            "which program?",
		"--multi-prog f":                 "--multi-prog cannot work over 3 allocations: its file counts the tasks of one step",
		"--pty bash":                     "--pty cannot work over 3 allocations: a terminal belongs to one step",
		"--mpi=pmix ./a":                 "--mpi=pmix cannot work over 3 allocations: the ranks that srun connects are those of one step: start MPI programs with mpiexec or mpirun",
		"-G4 ./a":                        "--gpus=4 cannot work over 3 allocations: it counts the GPUs of one step: say --gpus-per-node",
		"--jobid=57 ./a":                 "--jobid=57 cannot work over 3 allocations: it names one allocation",
		"-m arbitrary ./a":               "--distribution=arbitrary cannot work",
		"--ntasks-per-gpu=1 a":           "say --ntasks-per-node",
		"a : b":                          `a word ":" begins a second program`,
		"-N 6 a":                         "6 nodes wanted, and there are 5: n[1-5]",
		"-N 6-9 a":                       "6 nodes wanted, and there are 5",
		"-x n1 -N 5 a":                   "5 nodes wanted, and there are 4: n[2-5]",
		"-r 5 a":                         "1 node wanted, and there are 0",
		"-w n9 a":                        "node n9 is not one of the job's: it has n[1-5]",
		"-w n1 -x n1 a":                  "node n1 is both named and excluded (--exclude or --relative)",
		"-w n[1-3] -N2 a":                "3 nodes named, and at most 2 can be used",
		"-w n[1-3] -n2 a":                "3 nodes named, and at most 2 can be used",
		"-w ./none a":                    "--nodelist: open ./none: file does not exist",
		"-w n[ a":                        "--nodelist: ",
		"-n x a":                         `--ntasks: "x" is not a number above 0`,
		"-n 0 a":                         `--ntasks: "0" is not a number above 0`,
		"-N 3-2 a":                       `--nodes: "3-2" is not a number of nodes: want 4 or 2-4`,
		"-N 1,2 a":                       `--nodes: "1,2" is not a number of nodes`,
		"-r -1 a":                        `--relative: "-1" is not a number of nodes`,
		"--ntasks-per-node 2 -N2 -n5 a":  "5 tasks do not fit on 2 nodes with 2 per node",
		"--ntasks-per-node 2 -n 11 a":    "11 tasks do not fit on 5 nodes with 2 per node",
		"-W soon a":                      `--wait: "soon" is not a number of seconds`,
		"-o x --open-mode=often a":       `--open-mode: "often" is neither append nor truncate`,
		"-n 99999999999999999999 -N 1 a": "is not a number above 0",
	} {
		if p, err := decide(t, stepped, line); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %s, %v; want %q", line, shape(p), err, want)
		}
	}
}

func TestEachSrunIsToldItsShare(t *testing.T) {
	p, err := decide(t, stepped, "-l -c2 --mem 1G --gpus-per-task=1 -K0 --exclusive -J solver ./solve -n 9")
	if err != nil {
		t.Fatal(err)
	}
	const script = "export ACCORDION_PROCID=$((SLURM_PROCID + 4)) ACCORDION_NTASKS=10 ACCORDION_NODEID=$((SLURM_NODEID + 2)) ACCORDION_NNODES=5\nexec \"$@\""
	want := []string{
		"--jobid=57", "--nodes=2", "--ntasks=4", "--nodelist=n[3,5]",
		"--label", "--cpus-per-task=2", "--mem=1G", "--gpus-per-task=1", "--kill-on-bad-exit=0", "--exclusive", "--job-name=solver",
		"--", "/bin/sh", "-c", script, "accordion-run", "./solve", "-n", "9",
	}
	if got := p.Parts[1].Arguments; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("srun's arguments:\n%q\nwant\n%q", got, want)
	}
	if !p.Label || p.KillOnBad != No || p.Raw || p.Tasks != 10 || p.Nodes != 5 {
		t.Errorf("%+v", p)
	}
}

func TestTasksPerNodeArePassedWhereTheyAreEven(t *testing.T) {
	p, err := decide(t, stepped, "--ntasks-per-node=2 -n 5 /bin/true")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"--jobid=42 --nodes=2 --ntasks=4 --nodelist=n[1-2] --ntasks-per-node=2 --job-name=true -- /bin/sh",
		"--jobid=57 --nodes=1 --ntasks=1 --nodelist=n3 --job-name=true -- /bin/sh",
	} {
		if got := strings.Join(p.Parts[i].Arguments, " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant %s…", got, want)
		}
	}
}

func TestCommonOptionsAreRead(t *testing.T) {
	for _, c := range []struct {
		line, want string
		env        []string
	}{
		{line: "a", want: "false false 0 0s"},
		{line: "-lu -K -W 5 a", want: "true true 1 5s"},
		{line: "-K1 a", want: "false false 1 0s"},
		{line: "a", env: []string{"SLURM_LABELIO=1", "SLURM_UNBUFFEREDIO=1", "SLURM_KILL_BAD_EXIT=1", "SLURM_WAIT=9"}, want: "true true 1 9s"},
		{line: "-K0 a", env: []string{"SLURM_LABELIO=0", "SLURM_KILL_BAD_EXIT=1"}, want: "false false 2 0s"},
	} {
		p, err := decide(t, stepped, c.line, c.env...)
		if got := fmt.Sprint(p.Label, p.Raw, p.KillOnBad, p.Wait.Round(time.Second)); err != nil || got != c.want {
			t.Errorf("%s with %v: %s, %v; want %s", c.line, c.env, got, err, c.want)
		}
	}
	if p, err := decide(t, stepped, "-N 4 -n 2 a"); err != nil || len(p.Warnings) != 1 || p.Warnings[0] != "2 tasks cannot run on 4 nodes: 2 are used" {
		t.Errorf("%q, %v", p.Warnings, err)
	}
	if p, err := decide(t, stepped, "-n 2 a"); err != nil || len(p.Warnings) != 0 {
		t.Errorf("%q, %v", p.Warnings, err)
	}
}

// The test checks the plan independently. Every task is on one node. The numbers of nodes and of tasks are
// consecutive. No node has more than one task more than another.
func TestNoTaskIsLostOrThereTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nodes := rapid.IntRange(1, 5).Draw(r, "nodes")
		total := rapid.IntRange(1, 40).Draw(r, "tasks")
		p, err := decide(t, stepped, fmt.Sprintf("-N%d -n%d a", nodes, total))
		if err != nil {
			r.Fatal(err)
		}
		task, node := 0, 0
		for _, part := range p.Parts {
			if part.FirstTask != task || part.FirstNode != node || part.Tasks < len(part.Nodes) {
				r.Fatalf("%s", shape(p))
			}
			task, node = task+part.Tasks, node+len(part.Nodes)
			if most, least := (total+p.Nodes-1)/p.Nodes, total/p.Nodes; part.Tasks > most*len(part.Nodes) || part.Tasks < least*len(part.Nodes) {
				r.Fatalf("not even: %s", shape(p))
			}
		}
		if task != total || node != min(nodes, total) || p.Tasks != task || p.Nodes != node {
			r.Fatalf("%d tasks on %d nodes: %s", total, nodes, shape(p))
		}
	})
}

func TestQueriesOfSrunAreRecognized(t *testing.T) {
	for line, want := range map[string]bool{
		"--version": true, "-V": true, "--usage": true, "--mpi=list": true, "--cpu-bind=help": true, "--mpi=none a": false, "-n2 a": false, "": false,
	} {
		parsed, err := srun.Parse(strings.Fields(line), nil)
		if err != nil || IsQuery(parsed) != want {
			t.Errorf("%q: %v, %v", line, IsQuery(parsed), err)
		}
	}
}
