package oar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// listLeftovers prints what jobs have left on the nodes of a lab. It runs inside the lab. Leftovers are OAR's cpusets,
// keys and files, and processes of users if the script's argument is "cpusets". Without cpusets OAR does not end all
// processes of a job.
const listLeftovers = `shopt -s nullglob
for pid in /run/lab/n*.pid; do
	root=/proc/$(cat $pid)/root node=$(basename $pid .pid)
	for left in $root/sys/fs/cgroup/*/oar/*/ $root/var/lib/oar/*.jobkey $root/var/lib/oar/*.env $root/var/lib/oar/[0-9]*; do echo "$node: ${left#$root}"; done
	grep -h OAR_CPUSET $root/var/lib/oar/.ssh/authorized_keys | sed "s/^/$node: key /"
	[[ $1 != cpusets ]] || nsenter --target $(cat $pid) --pid --mount ps -o uid=,args= -e | awk -v node=$node '$1 >= 58000 { print node ": " $0 }'
done`

// nodesAreClean waits until no job has left anything on any node, or in the table of cpusets. It fails the test if that takes too long.
func nodesAreClean(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	left, kind := "", "cpusets"
	if lab.Without != "" {
		kind = "none"
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // OAR has no event to wait for
		left = lab.Run(t, "root", "bash", "-c", listLeftovers, "remains", kind)
		if left += lab.SQL(t, "select base, host, companion, made from accordion_cpusets"); left == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("this is left on nodes:\n%s", left)
		}
	}
}

// everywhere is a shell function that runs a command on each of a job's nodes, by oarsh.
const everywhere = `everywhere() { for node in $(sort -u $OAR_NODEFILE); do oarsh $node "$@" || echo "$node: status $?"; done; }
`

// startDaemon starts a process that outlives the command that started it.
const startDaemon = `setsid sleep 98765 >/dev/null 2>&1 </dev/null &`

// processesOn counts a user's processes on a node.
func processesOn(t *testing.T, lab *lab.OARLab, node, user string) string {
	t.Helper()
	out, errs, err := lab.On(node, "root", "sh", "-c", "pgrep -c -U $(id -u "+user+"); true")
	if err != nil {
		t.Fatalf("%s: %v: %s", node, err, errs)
	}
	return out
}

// story is one scenario of a job that has more nodes than its base.
type story struct {
	name string
	test func(*testing.T, *lab.OARLab)
}

var stories = []story{
	{name: "what runs on a node that leaves is ended before another job has it", test: nodesThatLeave},
	{name: "a job with a key of its own", test: aJobKey},
	{name: "an MPI program over oarsh", test: mpiOverOarsh},
	{name: "a silent job is told when it can reach its nodes", test: aSilentJobReaches},
	{name: "a companion is deleted", test: func(t *testing.T, lab *lab.OARLab) { aCompanionIsDeleted(t, lab, true) }},
	{name: "a companion is deleted while there is no sidecar", test: func(t *testing.T, lab *lab.OARLab) { aCompanionIsDeleted(t, lab, false) }},
	{name: "the sidecar is dead when the job ends", test: noSidecarAtTheEnd},
	{name: "the sidecar is killed before a cpuset is made", test: func(t *testing.T, lab *lab.OARLab) { killedAt(t, lab, "init before") }},
	{name: "the sidecar is killed when a cpuset is made", test: func(t *testing.T, lab *lab.OARLab) { killedAt(t, lab, "init after") }},
	{name: "the sidecar is killed before a cpuset is cleaned", test: func(t *testing.T, lab *lab.OARLab) { killedAt(t, lab, "clean before") }},
	{name: "the sidecar is killed when a cpuset is cleaned", test: func(t *testing.T, lab *lab.OARLab) { killedAt(t, lab, "clean after") }},
	{name: "a node dies and comes back", test: aNodeDies},
	{name: "a node is dead, and OAR takes it for alive", test: aDeadNodeIsTaken},
}

// Whatever happens to a job and to the sidecar, the job's files and processes are on a node as long as the node belongs to the job, and no
// longer.
func TestFilesOfAJobAreOnItsNodesAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 8, lab.Users("alice", "bob"))
	lab.NeedCpusets(t)
	installFatal(t, lab)
	lab.Do(t, "serve")
	t.Cleanup(func() { showSidecarLog(t, lab) })
	for _, s := range stories {
		if !t.Run(s.name, func(t *testing.T) {
			s.test(t, lab)
			awaitNothingLeft(t, lab)
			nodesAreClean(t, lab)
			checkNoOverlap(t, lab)
		}) {
			return // The next story would find what this one has left.
		}
	}
}

// submitGrown submits a job that grows from one node to three soon after its start, reports that in a file, and continues when another file
// exists. It runs the command `then` before the report.
func submitGrown(t *testing.T, lab *lab.OARLab, then string, options ...string) (job string) {
	t.Helper()
	lab.Run(t, "alice", "rm", "-f", "is-grown", "go-on")
	job = lab.Submit(t, "alice", everywhere+`eval "$(accordion step)" || exit 1; `+then+`
		touch is-grown; while [ ! -e go-on ]; do sleep 0.1; done`, append([]string{"-q", "evolve", "-t", "ep=1x20s,3x10m"}, options...)...)
	lab.Await(t, long, "job "+job+" is grown", func() bool { _, _, err := lab.Exec("alice", "test", "-e", "is-grown"); return err == nil })
	return job
}

func goOn(t *testing.T, lab *lab.OARLab, job string) {
	t.Helper()
	lab.Run(t, "alice", "touch", "go-on")
	ends(t, lab, job)
}

// nodesOf returns the nodes of a job's companions.
func nodesOf(t *testing.T, lab *lab.OARLab, job string) []string {
	t.Helper()
	return strings.Fields(lab.SQL(t, `select distinct r.network_address from accordion_jobs a join jobs j on j.job_id = a.job_id
		join assigned_resources x on x.moldable_job_id = j.assigned_moldable_job join resources r on r.resource_id = x.resource_id
		where j.state = 'Running' and a.base = `+job+" order by 1"))
}

// The other job waits for all nodes except one, so it begins on nodes that the first job has just released.
func nodesThatLeave(t *testing.T, lab *lab.OARLab) {
	job := lab.Submit(t, "alice", everywhere+`eval "$(accordion step)" || exit 1; everywhere '`+startDaemon+`'; touch ready; while [ ! -e enough ]; do sleep 0.1; done
		eval "$(accordion step)" || exit 1; everywhere hostname; sleep 5`, "-q", "evolve", "-t", "ep=1x20s,8x10m,1x20s")
	lab.Await(t, long, "processes run on eight nodes", func() bool { _, _, err := lab.Exec("alice", "test", "-e", "ready"); return err == nil })
	others := nodesOf(t, lab, job)
	if len(others) != 7 {
		t.Fatalf("the job's companions have %v, want seven nodes", others)
	}
	for _, node := range others {
		if n := processesOn(t, lab, node, "alice"); n == "0" {
			t.Errorf("nothing runs on %s", node)
		}
	}
	next := lab.Submit(t, "bob", everywhere+`everywhere 'pgrep -c -U $(id -u alice)'`, "-q", "evolve", "-l", "nodes=7,walltime=0:1:0")
	lab.Run(t, "alice", "touch", "enough")
	ends(t, lab, next)
	if got := strings.Fields(lab.Run(t, "bob", "grep", "-v", "status", "OAR."+next+".stdout")); !slices.Equal(got, slices.Repeat([]string{"0"}, 7)) {
		t.Errorf("on the nodes that it has next, bob's job finds %v processes of alice's, want none on seven", got)
	}
	ends(t, lab, job)
}

// A job with a key of its own (oarsub -k) connects to its nodes with that key, and not with OAR's key.
func aJobKey(t *testing.T, lab *lab.OARLab) {
	job := submitGrown(t, lab, "everywhere hostname >reached", "-k")
	if got := strings.Fields(lab.Run(t, "alice", "cat", "reached")); len(got) != 3 {
		t.Errorf("it has reached %v, want three nodes", got)
	}
	for _, node := range nodesOf(t, lab, job) {
		if _, _, err := lab.On(node, "root", "grep", "-q", "OAR_CPUSET=/oar/alice_"+job+`"`, "/var/lib/oar/.ssh/authorized_keys"); err != nil {
			t.Errorf("%s does not let its key in", node)
		}
		if _, _, err := lab.On(node, "root", "test", "-s", "/var/lib/oar/alice_"+job+".jobkey"); err != nil {
			t.Errorf("%s does not have its key", node)
		}
	}
	goOn(t, lab, job)
}

var rankLine = regexp.MustCompile(`(?m)^rank \d+ of (\d+) on (\S+) in (\S+): ([0-9 ]+)$`)

// mpiOverOarsh runs the script of examples/mpi with a program whose ranks print where they run. Each rank is in the job's cpuset, on its
// node's processors.
func mpiOverOarsh(t *testing.T, lab *lab.OARLab) {
	home := filepath.Join(lab.Dir, "home", "alice")
	if out, err := exec.CommandContext(t.Context(), "mpicc.mpich", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(home, "bound"), "testdata/bound.c").CombinedOutput(); err != nil {
		t.Fatalf("mpicc.mpich (scripts/test --real installs it): %v\n%s", err, out)
	}
	text, err := os.ReadFile("../examples/mpi/oar.sh")
	if err != nil {
		t.Fatal(err)
	}
	job := submitScript(t, lab, "alice", strings.ReplaceAll(string(text), "./heat", "./bound"))
	ends(t, lab, job)
	out := lab.Run(t, "alice", "cat", "OAR.heat."+job+".stdout")
	ranks := map[string]int{} // number of ranks that printed a line, by the size of the program
	for _, m := range rankLine.FindAllStringSubmatch(out, -1) {
		ranks[m[1]]++
		if processors := lab.SQL(t, "select cpuset from resources where network_address = '"+m[2]+"'"); m[3] != "/oar/alice_"+job || m[4] != processors {
			t.Errorf("a rank on %s is in %s on processors %s, want /oar/alice_%s and %s", m[2], m[3], m[4], job, processors)
		}
	}
	if len(ranks) != 3 || ranks["2"] != 2 || ranks["4"] != 4 || ranks["1"] != 1 {
		t.Errorf("its starts had %v ranks, want 2, 4 and 1\n%s\n%s", ranks, out, lab.Run(t, "alice", "cat", "OAR.heat."+job+".stderr"))
	}
}

// aSilentJobReaches checks a job that never calls accordion step. When the job gets its first signal it has three nodes, and can connect to
// all of them.
func aSilentJobReaches(t *testing.T, lab *lab.OARLab) {
	job := lab.Submit(t, "alice", everywhere+`trap 'everywhere hostname >>reached.$OAR_JOB_ID; told=yes' URG; until [ "$told" ]; do sleep 0.1; done`, "-q", "evolve", "-t", "ep=1x5s,3x30s")
	ends(t, lab, job)
	if got := strings.Fields(lab.Run(t, "alice", "cat", "reached."+job)); len(got) < 3 || slices.ContainsFunc(got, func(word string) bool { return !strings.HasPrefix(word, "n") }) {
		t.Errorf("when it got its signal it reached %v, want three", got)
	}
}

// aCompanionIsDeleted checks that the nodes of a companion are clean before OAR frees them, whether the user or the sidecar deletes the
// companion.
func aCompanionIsDeleted(t *testing.T, lab *lab.OARLab, sidecar bool) {
	job := submitGrown(t, lab, "everywhere '"+startDaemon+"'")
	nodes := nodesOf(t, lab, job)
	companion := lab.SQL(t, "select min(a.job_id) from accordion_jobs a join jobs j on j.job_id = a.job_id where j.state = 'Running' and a.base = "+job)
	if !sidecar {
		lab.Do(t, "serve-stop", "--kill")
	}
	lab.Run(t, "alice", "oardel", companion)
	ends(t, lab, companion)
	for _, node := range nodes {
		if n := processesOn(t, lab, node, "alice"); n != "0" {
			t.Errorf("the companion has ended, but %s processes run on %s, want none", n, node)
		}
	}
	if !sidecar {
		lab.Do(t, "serve")
	}
	goOn(t, lab, job)
}

// noSidecarAtTheEnd checks that the server's epilogue ends the companions and cleans their nodes.
func noSidecarAtTheEnd(t *testing.T, lab *lab.OARLab) {
	job := submitGrown(t, lab, "everywhere '"+startDaemon+"'")
	lab.Do(t, "serve-stop", "--kill")
	goOn(t, lab, job)
	nodesAreClean(t, lab)
	lab.Await(t, long, "its companions have ended", func() bool { return lab.SQL(t, "select count(*) from jobs where state = 'Running'") == "0" })
	lab.Do(t, "serve")
}

// fatal runs in place of ssh. It kills the sidecar once, before or after the sidecar sends OAR's manager to a node.
// The file /run/lab/fatal has the operation of the manager, followed by "before" or "after".
const fatal = `#!/bin/bash
read -r what when 2>/dev/null </run/lab/fatal
if [[ $what && "$*" == *"perl - $what" && $(cat /proc/$PPID/comm) == accordion ]] && mv /run/lab/fatal /run/lab/fatal.done 2>/dev/null; then
	[[ $when == before ]] || ssh "$@"
	exec /usr/lib/oar/oardodo/oardodo kill -KILL $PPID
fi
exec ssh "$@"
`

// installFatal installs the script `fatal` in place of ssh.
func installFatal(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(lab.Dir, "bin", "fatal"), []byte(fatal), 0o755); err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "root", "sed", "-i", "s,^OPENSSH_CMD=.*,OPENSSH_CMD=\"/run/lab/bin/fatal -p 6667 -e none\",", "/etc/oar/oar.conf")
	lab.Run(t, "root", "chmod", "777", "/run/lab")
}

// killedAt kills the sidecar in the middle of a growth or a shrink, which the next sidecar completes.
func killedAt(t *testing.T, lab *lab.OARLab, moment string) {
	lab.Run(t, "root", "sh", "-c", "rm -f /run/lab/fatal.done; echo "+moment+" >/run/lab/fatal")
	job := lab.Submit(t, "alice", everywhere+`for _ in 1 2; do eval "$(accordion step)" || exit 1; everywhere 'hostname; `+startDaemon+`' >>reached.$OAR_JOB_ID; done`,
		"-q", "evolve", "-t", "ep=1x20s,3x20s,1x20s")
	lab.Await(t, long, "the sidecar is killed", func() bool {
		_, _, err := lab.Exec("root", "test", "-e", "/run/lab/fatal.done")
		return err == nil && lab.Try("status") != nil
	})
	lab.Do(t, "serve")
	ends(t, lab, job)
	if got := strings.Fields(lab.Run(t, "alice", "cat", "reached."+job)); len(got) != 4 || slices.ContainsFunc(got, func(word string) bool { return !strings.HasPrefix(word, "n") }) {
		t.Errorf("in its steps it reached %v, want three nodes and one", got)
	}
}

// aNodeDies checks that a dead node is empty after its reboot, and that OAR uses it again.
func aNodeDies(t *testing.T, lab *lab.OARLab) {
	job := submitGrown(t, lab, "everywhere '"+startDaemon+"'")
	node := nodesOf(t, lab, job)[0]
	lab.Do(t, "kill-node", node)
	lab.Do(t, "node", "Absent", node)
	lab.Await(t, long, "the job has it no more", func() bool { return !slices.Contains(nodesOf(t, lab, job), node) })
	first := hosts(t, lab, job)[0]
	lab.Await(t, long, "the job's output names the lost node, and its node file does not contain it any more", func() bool {
		said := lab.Run(t, "alice", "cat", "OAR."+job+".stderr")
		text, _, err := lab.On(first, "root", "cat", "/var/lib/oar/"+job)
		return err == nil && strings.Contains(said, "accordion: this job has lost ") && !slices.Contains(strings.Fields(text), node)
	})
	goOn(t, lab, job)
	lab.Do(t, "boot-node", node)
	lab.Do(t, "node", "Alive", node)
}

// aDeadNodeIsTaken checks that a growth onto a dead node detects the failure. The node becomes Suspected, and another
// node replaces it.
func aDeadNodeIsTaken(t *testing.T, lab *lab.OARLab) {
	lab.Do(t, "kill-node", "n2")
	job := submitGrown(t, lab, "everywhere hostname >reached")
	if got := strings.Fields(lab.Run(t, "alice", "cat", "reached")); len(got) != 3 || slices.Contains(got, "n2") {
		t.Errorf("it has reached %v, want three nodes without n2, which is dead", got)
	}
	if state := lab.SQL(t, "select state from resources where network_address = 'n2'"); state != "Suspected" {
		t.Errorf("the dead node is %s, want Suspected", state)
	}
	goOn(t, lab, job)
	lab.Do(t, "boot-node", "n2")
	// This is OAR's own check of the nodes. Its exit status is not 0 if it has changed something.
	lab.Run(t, "oar", "sh", "-c", "OARDIR=/usr/lib/oar OARCONFFILE=/etc/oar/oar.conf /usr/lib/oar/finaud; true")
	lab.Notify(t, "ChState")
	lab.Await(t, time.Minute, "OAR finds the node well", func() bool { return lab.SQL(t, "select state from resources where network_address = 'n2'") == "Alive" })
}
