package slurm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/internal/testenv"
)

// A jobState is the state of a job as scontrol shows it.
type jobState struct {
	state string
	nodes []string
	cpus  int
	alone bool // squeue shows no other job of the user, such as an expander
}

// A peer is a program that people use with Slurm and that queries a job. The test checks the program's answer while
// the job grows and shrinks.
//
// Debian 12 has ClusterShell, Snakemake and slurmrestd, and the test runs these. The other programs are in neither
// Debian nor Go's module proxy. For them the test runs the commands that they run, and parses the output as they
// do. The commands come from submitit (slurm/slurm.py), dask-jobqueue (dask_jobqueue/slurm.py), and the Prometheus
// exporters of vpenso (users.go, cpus.go) and rivosinc (exporter/jobs.go). slurm-drmaa and pyslurm are not tested.
// They call libslurm, as squeue and slurmrestd do.
type peer struct {
	name, program string
	ask           string // shell code, in which $JOB is the job's id
	judge         func(out string, is jobState, job string) error
	counts        bool // the answer is a sum over all jobs, or over all jobs of the user
}

var peersOfSlurm = []peer{
	{"submitit", "", `sacct -o JobID,State,NodeList --parsable2 -j "$JOB"`, judgeSubmitit, false},
	{"vpenso's exporter, users", "", `squeue -a -r -h "-o %A|%u|%T|%C"`, judgeUsers, true},
	{"vpenso's exporter, CPUs", "", `sinfo -h "-o %C"`, judgeCPUs, true},
	{"rivosinc's exporter", "", `squeue --states=all -h -r -o '{"a": "%a", "id": %A, "end_time": "%e", "u": "%u", "state": "%T", "p": "%P", "cpu": %C, "mem": "%m", "array_id": "%K", "r": "%R"}'`, judgeJSON, false},
	{"ClusterShell", "nodeset", `CLUSTERSHELL_CFGDIR="$PEERS" nodeset -f -s slurmjob @"$JOB"`, judgeNodes, false},
	{"slurmrestd", "slurmrestd", `v=$(slurmrestd -s list 2>&1 | grep -oE 'openapi/v0[.]0[.][0-9]+' | sort -V | tail -n 1)
printf 'GET /slurm/%s/job/%s HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nConnection: Close\r\n\r\n' "${v#*/}" "$JOB" | slurmrestd -a rest_auth/local -s "$v" 2>/dev/null`, judgeREST, false},
}

// judgeSubmitit parses sacct's output as submitit does. The last of the job's own rows counts. A state that is not
// in the list means that the job has ended.
func judgeSubmitit(out string, is jobState, job string) error {
	lines := strings.Split(out, "\n")
	if len(lines) < 2 {
		return fmt.Errorf("sacct has no row")
	}
	state := ""
	for _, line := range lines[1:] {
		if f := strings.Split(line, "|"); len(f) == 3 && f[0] == job {
			state = f[1]
		}
	}
	waits := []string{"READY", "PENDING", "RUNNING", "UNKNOWN", "REQUEUED", "COMPLETING", "PREEMPTED"}
	if is.state == "RUNNING" && !slices.Contains(waits, state) {
		return fmt.Errorf("the job is taken for ended: %s", state)
	}
	return nil
}

// judgeUsers adds up the CPUs of a user's running jobs as the exporter does.
func judgeUsers(out string, is jobState, job string) error {
	sum := 0
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			return fmt.Errorf("%q has %d fields", line, len(f))
		}
		n, err := strconv.Atoi(f[3])
		if err != nil {
			return err
		}
		if f[1] == "alice" && f[2] == "RUNNING" {
			sum += n
		}
	}
	if sum != is.cpus {
		return fmt.Errorf("alice's jobs have %d CPUs, want %d", sum, is.cpus)
	}
	return nil
}

// judgeCPUs parses allocated/idle/other/total.
func judgeCPUs(out string, is jobState, _ string) error {
	f := strings.Split(strings.TrimSpace(out), "/")
	if len(f) != 4 || f[0] != fmt.Sprint(is.cpus) {
		return fmt.Errorf("%q, want %d allocated CPUs", out, is.cpus)
	}
	return nil
}

func judgeJSON(out string, is jobState, job string) error {
	for line := range strings.Lines(out) {
		var row struct {
			ID, CPU int
			State   string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if fmt.Sprint(row.ID) == job && (row.State != is.state || row.CPU != is.cpus) {
			return fmt.Errorf("%s, want %s with %d CPUs", line, is.state, is.cpus)
		}
	}
	return nil
}

func judgeNodes(out string, is jobState, _ string) error {
	if out != strings.Join(is.nodes, ",") && !slices.Equal(expanded(out), is.nodes) {
		return fmt.Errorf("nodes %s, want %v", out, is.nodes)
	}
	return nil
}

func judgeREST(out string, is jobState, _ string) error {
	_, body, _ := strings.Cut(out, "\r\n\r\n")
	var answer struct {
		Jobs []struct {
			State string `json:"job_state"`
			Nodes string `json:"nodes"`
		}
	}
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&answer); err != nil || len(answer.Jobs) != 1 {
		return fmt.Errorf("%.200q, error %w", out, err)
	}
	if got := answer.Jobs[0]; got.State != is.state || !slices.Equal(expanded(got.Nodes), is.nodes) {
		return fmt.Errorf("%+v, want %v", got, is)
	}
	return nil
}

// has reports whether the program is installed. At the level of real Slurm a missing program fails the test.
func (p peer) has(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath(p.program); p.program == "" || err == nil {
		return true
	}
	if testenv.Required("slurm") {
		t.Errorf("%s does not run: no %s (scripts/test --real installs it)", p.name, p.program)
	}
	return false
}

// shown returns the state of a job as scontrol shows it.
func shown(t *testing.T, lab *lab.SlurmLab, job string) (is jobState) {
	t.Helper()
	text := runClient(t, lab, "scontrol", "-o", "show", "job", job)
	value := func(key string) string {
		m := regexp.MustCompile(`(?: |^)` + key + `=(\S*)`).FindStringSubmatch(text)
		if m == nil {
			return ""
		}
		return m[1]
	}
	is.state = value("JobState")
	is.cpus, _ = strconv.Atoi(value("NumCPUs"))
	is.alone = runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == job
	if is.state == "RUNNING" {
		is.nodes = expanded(value("NodeList"))
	}
	return is
}

// expanded returns the nodes of a host list, or nil if the text is not a host list.
func expanded(list string) []string {
	all, _ := hostlist.Expand(list)
	return all
}

func onThisMachine(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/run/accordion-world"); err == nil {
		t.Skip("peers are installed on this machine only")
	}
}

func TestPeersSeeAJobThatGrowsAsItIs(t *testing.T) {
	t.Parallel()
	onThisMachine(t)
	lab := quickLab(t)
	p := serving(t, lab, "")
	groups := filepath.Join(openFolder(t), "groups.conf")
	text := "[Main]\ndefault: slurmjob\n[slurmjob]\nmap: squeue -h -j $GROUP -o \"%N\"\nlist: squeue -h -o \"%i\" -t R\n" // clustershell's slurm.conf.example
	if err := os.WriteFile(groups, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	job := lab.Submit(t, "alice", "sleep 12\neval \"$(accordion step)\"\nsleep 12\neval \"$(accordion step)\"\nsleep 6", "-H", "-N1", "--comment=ep=1x12s,4x12s,2x6s")
	sizes, answers := map[int]bool{}, map[string]int{}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		for _, each := range peersOfSlurm {
			if !each.has(t) {
				continue
			}
			before := shown(t, lab, job)
			if len(before.nodes) == 0 {
				break
			}
			out, said, err := lab.Exec("alice", "", "env", "JOB="+job, "PEERS="+filepath.Dir(groups), "bash", "-c", each.ask)
			after := shown(t, lab, job)
			if each.counts && !(before.alone && after.alone) {
				continue // an expander is counted, too, until it is merged
			}
			if before.state != after.state || !slices.Equal(before.nodes, after.nodes) || before.cpus != after.cpus {
				continue // the job changed meanwhile
			}
			sizes[len(after.nodes)] = true
			answers[each.name]++
			if err == nil {
				err = each.judge(out, after, job)
			}
			if err != nil {
				t.Errorf("%s, of %+v: %v %s", each.name, after, err, said)
			}
		}
		if len(p.events(job, "ended")) > 0 {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, size := range []int{1, 2, 4} {
		if !sizes[size] {
			t.Errorf("no peer ran while the job had %d nodes: %v", size, sizes)
		}
	}
	t.Logf("answers: %v", answers)
	lab.Await(t, time.Minute, "submitit sees the job's end", func() bool {
		out, _, _ := lab.Exec("alice", "", "sacct", "-o", "JobID,State,NodeList", "--parsable2", "-j", job)
		return strings.Contains(out, "\n"+job+"|COMPLETED|")
	})
	assertClean(t, p)
}

// Snakemake submits with sbatch, takes the last word of its output as the job's id, and asks sacct until the job has
// ended. dask-jobqueue takes the first number of sbatch's output.
func TestPeersSubmitJobsThatGrow(t *testing.T) {
	t.Parallel()
	onThisMachine(t)
	testenv.Program(t, "snakemake")
	lab := lab.TakeSlurm(t, 4, lab.Users("alice", "bob"))
	lab.Do(t, "serve")
	t.Cleanup(func() { lab.Do(t, "serve-stop") })
	auditAtEnd(t, lab)
	dask := `#!/usr/bin/env bash
#SBATCH -J dask-worker
#SBATCH -p main
#SBATCH -n 1
#SBATCH -N 1
#SBATCH --cpus-per-task=1
#SBATCH --mem=100M
#SBATCH --comment=ep=1x10s,2x10s

eval "$(accordion step)"
srun -N2 -n2 hostname >hosts
`
	lab.Run(t, "alice", "rm", "-rf", "flow", "hosts") // left by an earlier run
	out, said, err := lab.Exec("alice", dask, "sbatch")
	job := regexp.MustCompile(`(\d+)`).FindString(out)
	if err != nil || job == "" {
		t.Fatalf("dask-jobqueue's script: %v: %s %s", err, out, said)
	}
	rule := "rule grows:\n    output: \"done\"\n    resources: mem_mb=100, slurm_extra=\"--comment=ep=1x20s,2x20s\"\n    shell: 'eval \"$(accordion step)\"; scontrol show hostnames \"$SLURM_JOB_NODELIST\" >done'\n"
	home := filepath.Join(lab.Dir, "home", "alice", "flow")
	lab.Run(t, "alice", "mkdir", "-p", home)
	if err := os.WriteFile(filepath.Join(home, "Snakefile"), []byte(rule), 0o644); err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "alice", "bash", "-c", `cd flow; setsid bash -c 'snakemake --slurm -j1 --max-status-checks-per-second 1 --latency-wait 10 \
		--default-resources slurm_partition=main slurm_account=phys; echo $? >status.new; mv status.new status' </dev/null >log 2>&1 &`)
	status := filepath.Join(home, "status")
	lab.Await(t, 4*time.Minute, "snakemake ends", func() bool { _, err := os.Stat(status); return err == nil })
	if strings.TrimSpace(lab.File("alice", "flow/status")) != "0" {
		t.Errorf("snakemake: %s", lab.File("alice", "flow/log"))
	}
	if nodes := strings.Fields(lab.File("alice", "flow/done")); len(nodes) != 2 {
		t.Errorf("the rule had the nodes %v, want two", nodes)
	}
	lab.Await(t, time.Minute, "dask-jobqueue's job ends", func() bool { return lab.Run(t, "alice", "squeue", "-h", "-j", job) == "" })
	if hosts := strings.Fields(lab.File("alice", "hosts")); len(hosts) != 2 {
		t.Errorf("dask-jobqueue's job ran on %v, want two nodes", hosts)
	}
}
