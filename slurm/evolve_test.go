package slurm_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/internal/lab"
	"accordion/slurm/sacct"
)

// defaultLab returns a Slurm of 16 nodes with default scheduler settings.
func defaultLab(t *testing.T) *lab.SlurmLab {
	t.Helper()
	return lab.TakeSlurm(t, 16, lab.Users("alice", "bob", "carol"))
}

// reportScript is the part of a job script that prints the job's nodes: according to its environment, to its hosts
// file and to srun.
const reportScript = `
tell() {
	step=${ACCORDION_STEP:-1}
	echo "list $step $SLURM_JOB_NODELIST"
	[ -z "$ACCORDION_HOSTFILE" ] || echo "file $step $(paste -sd, "$ACCORDION_HOSTFILE")"
	srun printenv SLURMD_NODENAME | sort | uniq -c | sed "s/^ */task $step /"
	echo "told $step"
}
`

// stepReport is a job's output about one step.
type stepReport struct {
	list, file string         // sorted host lists; file is "" in the first step
	tasks      map[string]int // srun's tasks on each node
}

func (d stepReport) nodes() int { return len(d.tasks) }

// parseStepReports parses a job's output.
func parseStepReports(t *testing.T, output string) map[int]stepReport {
	t.Helper()
	all := map[int]stepReport{}
	for line := range strings.Lines(output) {
		words := strings.Fields(line)
		if len(words) < 3 || !slices.Contains([]string{"list", "file", "task"}, words[0]) {
			continue
		}
		step, err := strconv.Atoi(words[1])
		if err != nil {
			continue
		}
		d := all[step]
		switch words[0] {
		case "list":
			d.list = sorted(t, words[2])
		case "file":
			d.file = sorted(t, words[2])
		case "task":
			if d.tasks == nil {
				d.tasks = map[string]int{}
			}
			n, _ := strconv.Atoi(words[2])
			d.tasks[words[3]] += n
		}
		all[step] = d
	}
	return all
}

// sorted returns a host list in canonical form.
func sorted(t *testing.T, list string) string {
	t.Helper()
	names, err := hostlist.Expand(list)
	if err != nil {
		t.Fatalf("host list %q: %v", list, err)
	}
	hostlist.Sort(names)
	return hostlist.Compact(names)
}

// outputOf returns what the job has printed so far.
func outputOf(lab *lab.SlurmLab, user, job string) string { return lab.File(user, "slurm-"+job+".out") }

func TestAnEvolvingJobRunsOnTwoFiveThreeNodesAndEverybodyAgrees(t *testing.T) {
	t.Parallel()
	lab := defaultLab(t)
	p, since := serving(t, lab, ""), time.Now()
	sizes := []int{2, 5, 3}
	var ordinary []string
	for range 3 { // the ordinary jobs leave room for the job's growth
		ordinary = append(ordinary, lab.Submit(t, "bob", "sleep 30", "-N3", "-t1"))
	}
	job := lab.Submit(t, "alice", fmt.Sprintf("#!/bin/bash\n#EP 2x20s,5x20s,3x20s\n#SBATCH -n%d\n", 2*lab.CPUs)+reportScript+
		"tell\nsleep 18\neval \"$(accordion step)\"\ntell\nsleep 18\neval \"$(accordion step)\"\ntell\nsleep 18\n")
	submitted := runClient(t, lab, "squeue", "-h", "-j", job, "-O", "SubmitTime")

	watched := watchNodes(t, lab)
	squeued := map[int]string{}
	for i, size := range sizes {
		step := i + 1
		lab.Await(t, 3*time.Minute, fmt.Sprintf("the job has reported step %d", step), func() bool {
			return strings.Contains(outputOf(lab, "alice", job), fmt.Sprintf("told %d\n", step))
		})
		squeued[step] = sorted(t, runClient(t, lab, "squeue", "-h", "-j", job, "-o", "%N"))
		lab.Await(t, 15*time.Second, fmt.Sprintf("accordion status shows step %d", step), func() bool {
			v := p.view(job)
			return v != nil && v.Step == step && v.Steps == len(sizes) && v.Size == size && v.Kind == "evolving" && sorted(t, v.Nodes) == squeued[step]
		})
	}
	lab.Await(t, 2*time.Minute, "the job has ended", func() bool {
		return runClient(t, lab, "squeue", "-h", "-j", job, "-t", "all", "-o", "%T") == "COMPLETED"
	})

	said := parseStepReports(t, outputOf(lab, "alice", job))
	journalled := journalSizes(t, p, job)
	accounted := accountedSizes(t, lab, job, submitted)
	if len(accounted) != len(sizes) {
		t.Fatalf("sacct -D has the sizes %v, want %v", accounted, sizes)
	}
	assertReplayable(t, lab, job, sizes)
	for i, size := range sizes {
		step := i + 1
		d := said[step]
		if d.nodes() != size {
			t.Errorf("step %d: srun ran on %d nodes, want %d\n%s", step, d.nodes(), size, outputOf(lab, "alice", job))
		}
		for node, n := range d.tasks {
			if n != lab.CPUs {
				t.Errorf("step %d: srun ran %d tasks on %s, want %d", step, n, node, lab.CPUs)
			}
		}
		var names []string
		for node := range d.tasks {
			names = append(names, node)
		}
		sources := map[string]string{
			"SLURM_JOB_NODELIST": d.list, "srun": sorted(t, strings.Join(names, ",")), "squeue": squeued[step],
			"sacct -D": accounted[i], "accordion journal": journalled[i],
		}
		if step > 1 {
			sources["ACCORDION_HOSTFILE"] = d.file
		}
		for source, list := range sources {
			if list != squeued[step] {
				t.Errorf("step %d: %s says %s, squeue says %s", step, source, list, squeued[step])
			}
		}
	}
	watched.freedInTime(t, p, job)
	for _, id := range ordinary {
		lab.Await(t, 3*time.Minute, "ordinary job "+id+" is over", func() bool {
			return runClient(t, lab, "squeue", "-h", "-j", id, "-t", "all", "-o", "%T") == "COMPLETED"
		})
	}
	assertClean(t, p)
	assertTheProcessorsAreBooked(t, lab, since)
}

// journalSizes returns the host list of each step from the journal.
func journalSizes(t *testing.T, p *process, job string) []string {
	t.Helper()
	var lists []string
	for _, e := range p.events(job, "started", "grew", "shrank") {
		lists = append(lists, sorted(t, fmt.Sprint(e.Args["nodes"])))
	}
	for len(lists) < 3 {
		lists = append(lists, "")
	}
	return lists
}

// assertReplayable checks that the workload log made of Slurm's accounting has the job with these sizes, in nodes.
func assertReplayable(t *testing.T, lab *lab.SlurmLab, job string, sizes []int) {
	t.Helper()
	text := lab.Run(t, "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", "--allusers", "--duplicates", "--allocations", "--parsable2",
		"--jobs="+job, "--format=NNodes,"+sacct.Columns) // 20.11 can be converted only with the nodes
	log, left, err := sacct.Workload(strings.NewReader(text), "sacct", time.UTC)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	last := log.Records[len(log.Records)-1] // earlier records may be of an older job with the same id
	var got []int
	for _, step := range log.EPs[last.Number] {
		got = append(got, step.Nodes/lab.CPUs)
	}
	if !slices.Equal(got, sizes) || log.EPs[last.Number].Total() != last.Run || left.String() != "" {
		t.Errorf("the workload log has job %s with %v nodes for %d s, want %v; left out: %s\n%s", job, got, last.Run, sizes, left, text)
	}
}

// accountedSizes returns the host list of each of the job's sizes in accounting, in order of time, once accounting
// has the job's end, which slurmdbd gets with a delay. Accounting may also have an older job with the same id.
func accountedSizes(t *testing.T, lab *lab.SlurmLab, job, submitted string) []string {
	t.Helper()
	since, err := time.ParseInLocation("2006-01-02T15:04:05", strings.TrimSpace(submitted), time.Local)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.ParseInt(job, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var lists []string
	lab.Await(t, 90*time.Second, fmt.Sprintf("sacct -D knows the end of job %s", job), func() bool {
		rows := slices.DeleteFunc(readAccounts(t, lab, since), func(r account) bool { return r.submit < since.Unix() })
		lists = nil
		for _, nodes := range sizes(rows, id) {
			lists = append(lists, hostlist.Compact(nodes))
		}
		return len(lists) > 0 && slices.ContainsFunc(rows, func(r account) bool { return r.id == id && r.state == "COMPLETED" }) &&
			!slices.ContainsFunc(rows, func(r account) bool { return len(r.nodes) > 0 && r.end == 0 })
	})
	return lists
}
