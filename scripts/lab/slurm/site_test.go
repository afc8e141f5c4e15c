package slurm_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// three boots a lab with a user in each of its three accounts.
func three(t *testing.T) *lab.SlurmLab {
	t.Helper()
	lab := lab.TakeSlurm(t, 4, lab.Users("alice", "bob", "carol"), lab.Fast())
	lab.Clear(t)
	return lab
}

// rows sorts the lines of a text, and returns the words of each line.
func rows(text string) (all [][]string) {
	for _, line := range slices.Sorted(strings.Lines(text)) {
		all = append(all, strings.Fields(line))
	}
	return all
}

func TestEveryTaskHasCoresOfItsOwn(t *testing.T) {
	lab := three(t)
	cores := map[string]bool{}
	tasks := rows(lab.Run(t, "alice", "srun", "-Q", "-p", "shared", "-N2", fmt.Sprintf("--ntasks-per-node=%d", lab.CPUs),
		"bash", "-c", `echo "$SLURMD_NODENAME" $(grep Cpus_allowed_list /proc/self/status)`))
	for _, task := range tasks {
		if _, err := strconv.Atoi(task[2]); err != nil {
			t.Errorf("a task on %s may use the cores %s, want one", task[0], task[2])
		}
		cores[task[0]+":"+task[2]] = true
	}
	if len(tasks) != 2*lab.CPUs || len(cores) != len(tasks) {
		t.Errorf("%d tasks have %d cores, want %d tasks with one each: %v", len(tasks), len(cores), 2*lab.CPUs, tasks)
	}
}

func bound(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	if !lab.Binds {
		t.Skip("this machine cannot bind memory and devices")
	}
}

func TestATaskCannotOpenTheGPUsOfAnother(t *testing.T) {
	lab := three(t)
	bound(t, lab)
	// The device has no driver. If a job has permission to open the device, the error is that of the missing
	// driver.
	const open = `
		for i in 0 1 2 3; do
			case $( { : <"$ACCORDION_LAB/dev/gpu$i"; } 2>&1) in
			*"No such device or address") may+=" $i" ;;
			*"Operation not permitted") ;;
			*) may+=" and what is this?" ;;
			esac
		done
		echo "$SLURMD_NODENAME$may"`
	for _, each := range []struct {
		asks string
		want []string // the GPUs of each node that has GPUs
	}{
		{"--gres=gpu:3 --ntasks-per-node=1", []string{"0 1 2"}},
		{"--gpus-per-task=1 --ntasks-per-node=2", []string{"0", "1"}},
		{"--ntasks-per-node=1", []string{""}},
	} {
		arguments := append([]string{"srun", "-Q", "-p", "shared", "-C", "fat", "-N2"}, strings.Fields(each.asks)...)
		var want []string
		for _, node := range lab.GPUs {
			for _, gpus := range each.want {
				want = append(want, strings.TrimSpace(node+" "+gpus))
			}
		}
		var got []string
		for _, task := range rows(lab.Run(t, "bob", append(arguments, "bash", "-c", open)...)) {
			got = append(got, strings.Join(task, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the tasks can open %q, want %q", each.asks, got, want)
		}
	}
}

func TestATaskThatTakesMoreMemoryThanItsOwnIsKilled(t *testing.T) {
	lab := three(t)
	bound(t, lab)
	takes := func(mb int) error {
		_, _, err := lab.Exec("alice", "", "srun", "-Q", "-p", "shared", "--mem=100", "bash", "-c",
			fmt.Sprintf("all=$(head -c %dM /dev/zero | tr '\\0' x); test ${#all} -gt 0", mb))
		return err
	}
	if err := takes(10); err != nil {
		t.Errorf("a job of 100 MB that takes 10: %v", err)
	}
	if takes(300) == nil {
		t.Error("a job of 100 MB took 300")
	}
}

func TestFairShareAndQOSDecideWhoIsNext(t *testing.T) {
	lab := three(t)
	shares := lab.Run(t, "root", "sshare", "-n", "-P", "-A", "phys,chem,cs", "-o", "Account,RawShares")
	for _, want := range []string{"phys|10", "chem|5", "cs|1"} {
		if !strings.Contains(shares, want) {
			t.Errorf("the accounts have the shares %q, want %s", shares, want)
		}
	}
	lab.Run(t, "bob", "srun", "-Q", "-p", "shared", "-N4", "sleep", "1")
	// slurmctld recomputes usage every five minutes, and when it starts.
	lab.Do(t, "ctl-stop")
	lab.Do(t, "ctl-start")
	first := lab.Submit(t, "alice", "sleep 1000", "-p", "shared", "-N4", "--exclusive")
	lab.Await(t, time.Minute, "the nodes are taken", func() bool { return lab.Run(t, "root", "squeue", "-h", "-j", first, "-o", "%t") == "R" })
	// Carol has no usage. Other tests may have caused usage as bob.
	for _, job := range []struct{ user, name, qos string }{{"bob", "late", "normal"}, {"carol", "next", "normal"}, {"bob", "urgent", "high"}} {
		lab.Submit(t, job.user, "true", "-p", "shared", "-N4", "--exclusive", "-J", job.name, "--qos="+job.qos)
	}
	queue := strings.Fields(lab.Run(t, "root", "squeue", "-h", "-t", "PD", "-S", "-p", "-o", "%j"))
	if len(queue) != 3 || queue[2] != "late" {
		t.Errorf("the next are %v, want late behind those with a better fair share and a better QOS\n%s\n%s",
			queue, lab.Run(t, "root", "sprio", "-l"), lab.Run(t, "root", "sshare", "-a"))
	}
	factors := lab.Run(t, "root", "sprio", "-h", "-o", "%u %A %F %J %P %Q")
	for _, job := range rows(factors) {
		for i, name := range []string{"fair share", "job size", "partition"} {
			if factor, err := strconv.ParseFloat(job[i+2], 64); err != nil || factor <= 0 {
				t.Errorf("%s counts %s for a job of %s, want more than 0", name, job[i+2], job[0])
			}
		}
	}
}

func TestLimitsAndAssociationsHold(t *testing.T) {
	lab := three(t)
	lab.Run(t, "root", "sacctmgr", "-Qi", "modify", "user", "bob", "set", "MaxSubmitJobs=1")
	t.Cleanup(func() { lab.Run(t, "root", "sacctmgr", "-Qi", "modify", "user", "bob", "set", "MaxSubmitJobs=-1") })
	lab.Submit(t, "bob", "sleep 1000")
	for _, refused := range []struct{ user, option, says string }{
		{"bob", "-N1", "policy"},
		{"alice", "--account=chem", "Invalid account"},
	} {
		if _, says, err := lab.Sbatch(refused.user, "true", refused.option); err == nil || !strings.Contains(says, refused.says) {
			t.Errorf("sbatch %s of %s: %v: %q, want a refusal with %q", refused.option, refused.user, err, says, refused.says)
		}
	}
	if _, says, err := lab.Sbatch("root", "true", "--qos=high"); err != nil {
		t.Errorf("root may not use the QOS high: %s", says)
	}
}

func TestTwoPartitionsLieOverTwoKindsOfNodes(t *testing.T) {
	lab := three(t)
	for _, each := range []struct{ partition, kind, gpus, want string }{
		{"main", "thin", "(null)", "n[1-2]"},
		{"main", "fat", "gpu:4", "n[3-4]"},
		{"shared", "thin", "(null)", "n[1-2]"},
		{"shared", "fat", "gpu:4", "n[3-4]"},
	} {
		got := lab.Run(t, "alice", "sinfo", "-h", "-p", each.partition, "-o", "%f %G %N")
		if want := strings.Join([]string{each.kind, each.gpus, each.want}, " "); !slices.Contains(strings.Split(got, "\n"), want) {
			t.Errorf("partition %s has %q, want %q", each.partition, got, want)
		}
		where := lab.Run(t, "alice", "srun", "-Q", "-p", each.partition, "-N2", "-C", each.kind, "--mem=100", "bash", "-c", "echo $SLURM_JOB_NODELIST")
		if want := each.want + "\n" + each.want; where != want {
			t.Errorf("a job for %s in %s ran on %q, want %q", each.kind, each.partition, where, want)
		}
	}
}

func TestLinesOfATestTakeThePlaceOfTheLabs(t *testing.T) {
	lab := lab.Slurm(t, 3, lab.Fast(), lab.Config(`
PartitionName=main Nodes=n[1-2] Default=YES OverSubscribe=FORCE:3 State=UP
PartitionName=debug Nodes=ALL PriorityTier=9 State=UP
NodeName=n[2-3] Feature=new Weight=7
MinJobAge=200`))
	for what, want := range map[string]string{
		"partition main":  "OverSubscribe=FORCE:3",
		"partition debug": "Nodes=n[1-3]",
		"node n1":         "ActiveFeatures=thin",
		"node n2":         "ActiveFeatures=new",
		"node n3":         "Gres=gpu:4",
		"config":          "MinJobAge               = 200 sec",
	} {
		if got := lab.Run(t, "alice", append([]string{"scontrol", "show"}, strings.Fields(what)...)...); !strings.Contains(got, want) {
			t.Errorf("%s does not say %s:\n%s", what, want, got)
		}
	}
}

// Labs have nodes with the same names on one kernel. A fault of one lab's node must not affect the other lab's
// jobs.
func TestTheDeathOfANodeIsNotFeltInTheLabBesideIt(t *testing.T) {
	first, beside := three(t), lab.Slurm(t, 4, lab.Fast())
	for _, each := range []*lab.SlurmLab{first, beside} {
		each.Submit(t, "alice", "echo $$; exec sleep 1000", "-p", "shared", "-w", "n2", "-o", "process")
	}
	var process [2]string
	for i, each := range []*lab.SlurmLab{first, beside} {
		each.Await(t, time.Minute, "the job runs", func() bool {
			process[i] = strings.TrimSpace(each.File("alice", "process"))
			return process[i] != ""
		})
	}
	first.Do(t, "node-kill", "n2")
	if alive(process[0]) {
		t.Error("a job outlived its node")
	}
	if !alive(process[1]) {
		t.Error("a job of the lab beside it ended with the node")
	}
	if binding := beside.Run(t, "alice", "srun", "-Q", "-p", "shared", "-w", "n2", "grep", "Cpus_allowed_list", "/proc/self/status"); binding == "" {
		t.Error("the node n2 of the lab beside it runs no step")
	}
	first.Do(t, "node-start", "n2")
}

// alive reports whether a process lives. A dead process may remain until an idle init reaps it, but no longer has a
// command line.
func alive(process string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", process).Output()
	return err == nil && !strings.HasPrefix(string(out), "Z")
}
