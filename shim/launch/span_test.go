package launch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/shim/allocation"
	"accordion/shim/srun"
)

func ordered(lines []string) string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// inside is a program that prints a task's number over all parts and its number in its allocation. It also prints the
// task's cores, and the GPUs that it can open. The devices are fake. If a task may open a device, opening it fails
// with the error that the device has no driver.
const inside = `#!/bin/bash
for i in 0 1 2 3; do
	case $( (exec 3<$ACCORDION_LAB/dev/gpu$i) 2>&1 ) in *"No such device"*) gpus=$gpus$i ;; esac
done
cpus=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
echo "$ACCORDION_PROCID/$ACCORDION_NTASKS node $ACCORDION_NODEID/$ACCORDION_NNODES $SLURMD_NODENAME job $SLURM_JOB_ID task $SLURM_PROCID/$SLURM_NTASKS cpus $cpus gpus $gpus visible $CUDA_VISIBLE_DEVICES"
`

// place is what the program `inside` printed for one task.
type place struct {
	task, tasks, nodeNumber, nodes int
	node                           string
	job                            int64
	local, locals                  int
	cpus, gpus, visible            string
}

func places(t *testing.T, lines []string) []place {
	t.Helper()
	var all []place
	for _, line := range lines {
		var p place
		line = strings.NewReplacer("gpus  ", "gpus - ", "cpus  ", "cpus - ").Replace(line + " -") // replaces empty values
		if _, err := fmt.Sscanf(line, "%d/%d node %d/%d %s job %d task %d/%d cpus %s gpus %s visible %s",
			&p.task, &p.tasks, &p.nodeNumber, &p.nodes, &p.node, &p.job, &p.local, &p.locals, &p.cpus, &p.gpus, &p.visible); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int { return a.task - b.task })
	return all
}

// growing starts a job on n5 and n6 with companions on n7 and n8. All nodes have GPUs, and each task requests one GPU.
func growing(t *testing.T, options ...lab.Option) (s *script, one, two allocation.Allocation) {
	t.Helper()
	w := newWorld(t, options...)
	perNode := []string{"--ntasks-per-node=2", "--gpus-per-task=1"}
	s = w.batch("n[5-6]", perNode...)
	one, two = w.companion("n7", perNode...), w.companion("n8", perNode...)
	s.steps(2, one, two)
	return s, one, two
}

func TestAProgramRunsOnTheJobAndItsCompanions(t *testing.T) { programsSpan(t) }

func TestAProgramSpansOnOtherReleasesOfSlurm(t *testing.T) {
	for _, release := range []string{"20.11", "24.11", "26.05"} {
		t.Run(release, func(t *testing.T) { programsSpan(t, lab.Release(release)) })
	}
}

func programsSpan(t *testing.T, options ...lab.Option) {
	s, one, two := growing(t, options...)
	program := filepath.Join(s.home, "inside")
	if err := os.WriteFile(program, []byte(inside), 0o755); err != nil {
		t.Fatal(err)
	}
	all := places(t, s.succeeds("accordion run ./inside"))
	if len(all) != 8 {
		t.Fatalf("%d tasks: %+v", len(all), all)
	}
	held := map[string][]string{} // cores and GPUs of each node, by its tasks
	for i, p := range all {
		want := place{task: i, tasks: 8, nodeNumber: i / 2, nodes: 4, node: []string{"n5", "n6", "n7", "n8"}[i/2],
			job: []int64{s.id, s.id, one.Job, two.Job}[i/2], local: []int{0, 1, 2, 3, 0, 1, 0, 1}[i], locals: []int{4, 4, 2, 2}[i/2]}
		got := p
		got.cpus, got.gpus, got.visible = "", "", ""
		if got != want {
			t.Errorf("task %d: %+v, want %+v", i, got, want)
		}
		if !s.lab.Binds {
			continue
		}
		has := []string{"core " + p.cpus}
		gpus, visible := 1, "0"
		if strings.HasPrefix(s.lab.Slurm, "20.11") { // Each task may open the devices of all tasks on its node.
			gpus, visible = 2, "0,1"
		} else {
			has = append(has, "GPU "+p.gpus)
		}
		if len(p.gpus) != gpus || p.visible != visible || strings.ContainsAny(p.cpus, "-,") {
			t.Errorf("task %d has the cores %s, opens the GPUs %s and sees %s", i, p.cpus, p.gpus, p.visible)
		}
		for _, what := range has {
			if slices.Contains(held[p.node], what) {
				t.Errorf("two tasks have the %s of %s", what, p.node)
			}
			held[p.node] = append(held[p.node], what)
		}
	}

	// The options are srun's, and count over all allocations.
	s.same("-l", s.succeeds("accordion run -l -n 5 --ntasks-per-node=2 sh -c 'echo $SLURMD_NODENAME'"), "0: n5", "1: n5", "2: n6", "3: n6", "4: n7")
	s.same("-w", s.succeeds("accordion run -N2 -w n[6,8] --ntasks-per-node=1 sh -c 'echo $ACCORDION_PROCID $SLURMD_NODENAME'"), "0 n6", "1 n8")
	s.same("input", s.succeeds("printf 'a\\nb\\n' | accordion run -lN4 -n4 cat"), "0: a", "0: b", "1: a", "1: b", "2: a", "2: b", "3: a", "3: b")
	s.same("one task's input", s.succeeds("head -c 300000 /dev/zero | tr '\\0' x | accordion run -l -i 6 wc -c"),
		"0: 0", "1: 0", "2: 0", "3: 0", "4: 0", "5: 0", "6: 300000", "7: 0")
	s.same("no input", s.succeeds("printf 'a\\nb\\n' | while read x; do accordion run -i none -n1 echo $x; done"), "a", "b")
	s.same("a pipeline", s.succeeds("accordion run -n4 seq 3 | sort | uniq -c | tr -s ' '"), " 4 1", " 4 2", " 4 3")
	s.same("a file for each", s.succeeds("accordion run -n4 -o out.%t.%n sh -c 'echo $ACCORDION_PROCID; echo e >&2' && cat out.3.3 && echo out.*"),
		"3", "e", "out.0.0 out.1.1 out.2.2 out.3.3")
	s.same("one file", s.succeeds("accordion run -l -n4 -o one sh -c 'echo $ACCORDION_PROCID; echo e >&2' && sort one"),
		"0: 0", "0: e", "1: 1", "1: e", "2: 2", "2: e", "3: 3", "3: e")
	s.same("one task's output", s.succeeds("accordion run -n4 -o 3 sh -c 'echo $ACCORDION_PROCID'"), "3")

	// A plain srun runs on the job's own nodes. Without companions these are all nodes.
	s.same("srun", s.succeeds("srun --ntasks-per-node=2 sh -c 'echo $SLURMD_NODENAME'"), "n5", "n5", "n6", "n6")
	s.steps(3)
	s.same("the environment without companions", s.succeeds("env | grep -cE '^(ACCORDION_ALLOCATIONS|HYDRA_LAUNCHER|OMPI_MCA_plm|PRTE_MCA_plm)=' || true"), "0")
	s.same("accordion run without companions", s.succeeds("accordion run -l -n2 -N2 --ntasks-per-node=1 sh -c 'echo $SLURMD_NODENAME'"), "0: n5", "1: n6")
}

func TestTheStatusIsTheWorstOfAllAllocations(t *testing.T) {
	s, one, _ := growing(t)
	for commands, want := range map[string]int{
		"accordion run sh -c 'exit $ACCORDION_PROCID'":                                               7,
		"accordion run sh -c '[ $ACCORDION_PROCID = 2 ] && exit 3; exit 0'":                          3,
		"accordion run sh -c '[ $ACCORDION_PROCID = 5 ] && kill -SEGV $$; exit 0'":                   139,
		"accordion run -n1 nosuchprogram":                                                            127,
		"accordion run -l sh -c 'exit 4' | sed d; exit_status=${PIPESTATUS[0]}; (exit $exit_status)": 4,
	} {
		out, errs, status := s.does(commands)
		if status != want {
			t.Errorf("%s: status %d, want %d\n%s%s", commands, status, want, out, errs)
		}
	}
	// Task numbers in srun's own messages count over all parts.
	_, errs, _ := s.does("accordion run sh -c '[ $ACCORDION_PROCID = 5 ] && exit 3; exit 0'")
	if want := "srun: error: n7: task 5: Exited with exit code 3\n"; errs != want {
		t.Errorf("the message is %q, want %q", errs, want)
	}

	// With -K, a failing task immediately ends the tasks of the other allocations.
	begun := time.Now()
	if _, errs, status := s.does("accordion run -K sh -c '[ $ACCORDION_PROCID = 5 ] && exit 3; exec sleep 300'"); status < 3 || time.Since(begun) > time.Minute {
		t.Errorf("-K: status %d after %v\n%s", status, time.Since(begun), errs)
	}

	// In one allocation nothing can be started. One line contains the allocation and the reason, and the other parts are ended.
	_, errs, status := s.does(`ACCORDION_ALLOCATIONS="$ACCORDION_ALLOCATIONS 99999:n1" accordion run sleep 300`)
	if want := "accordion run: allocation 99999:n1: its tasks could not be started: Unable to confirm allocation for job 99999: Invalid job id specified; the others are ended\n"; status != 1 || !strings.Contains(errs, want) {
		t.Errorf("status %d, message %q, want %q", status, errs, want)
	}

	// A companion ends while its tasks run. The exit status of these tasks counts, one line reports the end of the companion, and the other
	// tasks run to their end.
	end := s.begins("accordion run sh -c 'echo $ACCORDION_PROCID >>began; until [ -e over ]; do sleep 0.1; done; echo $ACCORDION_PROCID'")
	s.lab.Await(t, lab.Patience, "all tasks run", func() bool { return len(strings.Fields(s.read("began"))) == 8 })
	s.lab.Run(t, "alice", "scancel", fmt.Sprint(one.Job))
	s.lab.Await(t, lab.Patience, "the companion has ended, and none of its tasks is left", func() bool {
		return s.lab.Run(t, "alice", "squeue", "-h", "-j", fmt.Sprintf("%d,%d", one.Job, s.id), "-t", "R,CG", "-o", "%A") == fmt.Sprint(s.id)
	})
	s.lab.Run(t, "alice", "touch", filepath.Join(s.home, "over"))
	out, errs, status := end()
	s.same("the tasks that went on", strings.Fields(out), "0", "1", "2", "3", "6", "7")
	if want := fmt.Sprintf("accordion run: allocation %d:n7 has ended (", one.Job); status <= 128 || !strings.Contains(errs, want) {
		t.Errorf("status %d, message %q, want %q", status, errs, want)
	}
}

// listening prints each signal that it gets.
const listening = `#!/bin/bash
trap 'echo "$ACCORDION_PROCID USR1"' USR1
echo $ACCORDION_PROCID >>began
for ((i = 0; i < 3000; i++)); do sleep 0.1; done
`

func TestSignalsReachTheTasksOfAllAllocations(t *testing.T) {
	s, _, _ := growing(t)
	if err := os.WriteFile(filepath.Join(s.home, "listening"), []byte(listening), 0o755); err != nil {
		t.Fatal(err)
	}
	for signal, want := range map[string]int{"USR1 TERM": 137, "INT INT": 137, "KILL": 137} {
		s.lab.Run(t, "alice", "rm", "-f", filepath.Join(s.home, "began"), filepath.Join(s.home, "pid"))
		end := s.begins("accordion run ./listening & echo $! >pid; wait $!")
		s.lab.Await(t, lab.Patience, "all tasks run", func() bool { return len(strings.Fields(s.read("began"))) == 8 })
		pid := strings.TrimSpace(s.read("pid"))
		first, then, _ := strings.Cut(signal, " ")
		out := fmt.Sprintf("%s/c%d", s.home, s.said)
		kill := fmt.Sprintf("kill -%s %s", first, pid)
		switch then {
		case "TERM": // sent after all tasks have received the first signal
			kill += fmt.Sprintf("; until [ $(grep -c USR1 %s.out) = 8 ]; do sleep 0.1; done; kill -TERM %s", out, pid)
		case "INT": // sent within the second in which srun expects the second ^C; on a busy machine this may be too late, and counts as the first ^C again
			kill += fmt.Sprintf("; until grep -q 'one more within 1 sec' %s.err; do sleep 0.1; done; while kill -INT %s; do sleep 0.2; done", out, pid)
		}
		s.lab.Run(t, "alice", "sh", "-c", kill)
		if out, errs, status := end(); status != want {
			t.Errorf("%s: status %d, want %d\n%s%s", signal, status, want, out, errs)
		}
		s.lab.Await(t, lab.Patience, "no step is left after "+signal, func() bool {
			return !strings.Contains(s.lab.Run(t, "alice", "squeue", "-h", "-s", "-o", "%j"), "listening")
		})
	}
}

// The script of a job that never calls accordion step has no list in its environment. The list is in the hosts file,
// which the sidecar writes.
func TestListOfAJobWithoutStepIsInItsHostsFile(t *testing.T) {
	w := newWorld(t)
	s := w.batch("n1", "--ntasks-per-node=2")
	companion := w.companion("n2", "--ntasks-per-node=2")
	s.same("before", s.succeeds("accordion run sh -c 'echo $SLURMD_NODENAME'"), "n1", "n1")
	s.succeeds(fmt.Sprintf(`mkdir -p -m 700 /tmp/accordion-$(id -u)
printf '%%s\n' '# generation=1 step=2 steps=3 nodes=2 from=1 until=2' '# allocations %s' n1 n2 >/tmp/accordion-$(id -u)/$SLURM_CLUSTER_NAME-$SLURM_JOB_ID.hosts`,
		allocation.List{s.own, companion}))
	s.same("after", s.succeeds("accordion run sh -c 'echo $ACCORDION_PROCID $SLURMD_NODENAME'"), "0 n1", "1 n1", "2 n2", "3 n2")
	s.same("by the agent", s.succeeds("accordion agent n2 'echo $SLURMD_NODENAME $SLURM_JOB_ID'"), fmt.Sprintf("n2 %d", companion.Job))
	w.needs("mpiexec.hydra")
	s.same("by mpiexec", s.succeeds(`eval "$(accordion nodes)" && mpiexec.hydra sh -c 'echo $SLURMD_NODENAME'`), "n1", "n1", "n2", "n2")
	s.succeeds("rm /tmp/accordion-$(id -u)/$SLURM_CLUSTER_NAME-$SLURM_JOB_ID.hosts")
}

// An srun in a companion must not request the whole job's totals, or the job's numbers per node, because the companion
// may not have as much.
func TestACompanionIsNotAskedForWhatOnlyTheJobHas(t *testing.T) {
	w := newWorld(t)
	s := w.batch("n[5-6]", "--ntasks-per-node=2", "--gpus=4", "--mem=1000")
	s.steps(2, w.companion("n7", "--ntasks-per-node=2", "--gpus=2", "--mem=600"))
	s.same("tasks", s.succeeds("accordion run sh -c 'echo $ACCORDION_PROCID $SLURMD_NODENAME $SLURM_NNODES $SLURM_NTASKS'"),
		"0 n5 2 4", "1 n5 2 4", "2 n6 2 4", "3 n6 2 4", "4 n7 1 2", "5 n7 1 2")
}

// The table of options in package srun agrees with the output of srun --help.
func TestEveryOptionOfSrunIsKnown(t *testing.T) {
	for _, release := range []string{"this machine's", "20.11", "24.11", "26.05"} {
		t.Run(release, func(t *testing.T) {
			var w *world
			if release == "this machine's" {
				w = newWorld(t)
			} else {
				w = newWorld(t, lab.Release(release))
			}
			help := w.lab.Run(t, "alice", "srun", "--help")
			options := regexp.MustCompile(`(?m)^\s+(?:-\w, +)?--([a-z0-9-]+)`).FindAllStringSubmatch(help, -1)
			for _, o := range options {
				parsed, err := srun.Parse([]string{"--" + o[1], "value"}, nil)
				if err != nil || parsed.Options[0].Name != o[1] {
					t.Errorf("srun's help has --%s: %v, %v", o[1], parsed, err)
				}
			}
			if len(options) < 100 {
				t.Errorf("only %d options were found in srun's help:\n%s", len(options), help)
			}
		})
	}
}
