package oar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
)

// speaker is the script of an evolving job that calls accordion step between its steps. Twice a second it writes the time, the step, and
// the hosts of its node file. When a step begins, it connects to each host by oarsh, and writes its cpuset and processors on that host.
const speaker = `#!/bin/bash
#OAR -q evolve
#OAR -t ep=%s
where() { echo "$(date +%%s.%%N) ${ACCORDION_STEP:-1} $(sort -u "$OAR_NODEFILE" | paste -sd,)" >>seen.$OAR_JOB_ID; }
reach() { for node in $(sort -u "$OAR_NODEFILE"); do
	echo "${ACCORDION_STEP:-1} $node $(oarsh $node 'hostname; cat /proc/self/cpuset; sed -n "s/Cpus_allowed_list:\t//p" /proc/self/status' | paste -sd' ')" >>reached.$OAR_JOB_ID
done; }
work() { reach; for _ in $(seq $((2 * $1))); do where; sleep 0.5; done; }
work %d
for seconds in %s; do
	eval "$(accordion step)" || exit 1
	work $seconds
done
`

// silent is the script of an evolving job that never calls accordion step. At each change its node file is rewritten and it gets a signal.
// Before a shrink both happen ten seconds in advance.
const silent = `#!/bin/bash
#OAR -q evolve
#OAR -t ep=%s
trap 'echo "$(date +%%s.%%N) told" >>told.$OAR_JOB_ID' URG
for _ in $(seq %d); do
	echo "$(date +%%s.%%N) 1 $(sort -u "$OAR_NODEFILE" | paste -sd,)" >>seen.$OAR_JOB_ID
	sleep 0.5
done
`

func TestEvolvingJobsGrowAndShrinkOnARealOAR(t *testing.T) {
	t.Parallel()
	const n = 20 // seconds of each step; with 10 s on a busy machine, too few samples would be clearly before or after a change
	for _, world := range []struct {
		database string
		cores    int // cores of a node
	}{{lab.PostgreSQL, 1}, {lab.MariaDB, 2}} {
		t.Run(world.database, func(t *testing.T) {
			t.Parallel()
			lab := lab.OAR(t, 12, lab.Database(world.database), lab.Cores(world.cores), lab.Users("alice", "bob"))
			lab.Do(t, "serve")
			t.Cleanup(func() { showSidecarLog(t, lab) })
			grows := submitScript(t, lab, "alice", fmt.Sprintf(speaker, fmt.Sprintf("2x%ds,5x%ds,3x%ds", n, n, n), n-2, fmt.Sprint(n-2, n-2)))
			wide := submitScript(t, lab, "bob", fmt.Sprintf(speaker, fmt.Sprintf("3x%ds,1x%ds,2x%ds", n, n, n), n-2, fmt.Sprint(n-2, n-2)))
			mute := submitScript(t, lab, "alice", fmt.Sprintf(silent, fmt.Sprintf("1x%ds,3x%ds,2x%ds", n, 2*n, n), 8*n))
			for _, job := range []string{grows, wide, mute} {
				ends(t, lab, job)
			}
			if got := stepSizes(t, lab, "alice", grows); !slices.Equal(got, []int{2, 5, 3}) {
				t.Errorf("from inside, the steps of job %s had %v nodes, want 2, 5, 3", grows, got)
			}
			if got := stepSizes(t, lab, "bob", wide); !slices.Equal(got, []int{3, 1, 2}) {
				t.Errorf("from inside, the steps of job %s had %v nodes, want 3, 1, 2", wide, got)
			}
			checkReached(t, lab, "alice", grows, []int{2, 5, 3})
			checkReached(t, lab, "bob", wide, []int{3, 1, 2})
			awaitNothingLeft(t, lab)
			nodesAreClean(t, lab)
			if said := lab.Run(t, "root", "accordion", "journal") + "\n"; !strings.Contains(said, " job "+grows+" ended: after step 3 of 3\n") {
				t.Errorf("job %s ended by itself, and the journal has other lines:\n%s", grows, said)
			}
			promisesAreSoft(t, lab)
			checkNodeFile(t, lab, "alice", grows, slices.Equal)
			checkNodeFile(t, lab, "bob", wide, slices.Equal)
			// The job sees its new nodes soon after it gets them. It sees the loss of a node some seconds before the
			// loss.
			checkNodeFile(t, lab, "alice", mute, within)
			if got := sizesSeen(t, lab, "alice", mute); !slices.Equal(got, []int{1, 3, 2}) {
				t.Errorf("from inside, job %s had %v nodes in turn, want 1, 3, 2", mute, got)
			}
			checkLeftAhead(t, lab, "alice", mute)
			checkNoOverlap(t, lab)
			anAdvanceReservationIsPunctual(t, lab)
			t.Run("asks over the network", func(t *testing.T) { asksOverTheNetwork(t, lab) })
		})
	}
}

// promisesAreSoft checks that accordion status warns while another queue has priority, because promises are then not certain.
func promisesAreSoft(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	soft := func() bool {
		return strings.Contains(lab.Run(t, "root", "accordion", "status"), "PROMISES ARE SOFT: OAR plans the jobs of urgent (")
	}
	if soft() {
		t.Error("without another queue, status reports that promises are soft")
	}
	lab.Run(t, "root", "oarnotify", "--add-queue", "urgent,30,oar_sched_gantt_with_timesharing")
	lab.Await(t, time.Minute, "status reports that promises are soft", soft)
	lab.Run(t, "root", "oarnotify", "--remove-queue", "urgent")
	lab.Await(t, time.Minute, "status does not report it any more", func() bool { return !soft() })
}

// anAdvanceReservationIsPunctual checks that an advance reservation begins at its second even if nothing else happens at that time. Without
// Accordion, OAR would run its next pass a minute after the pass that made the reservation, and deduct the delay from the walltime. On a
// busy machine OAR's pass may begin seconds after the request, sometimes more than the permitted delay. So only one of three reservations
// has to be punctual; without Accordion none would be.
func anAdvanceReservationIsPunctual(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	var late []int64
	for range 3 {
		lab.Run(t, "alice", "bash", "-c", `oarsub -r "$(date -d '+15 seconds' '+%F %T')" -l nodes=2,walltime=0:2:0 'sleep 1'`)
		job := lab.SQL(t, "select max(job_id) from jobs where reservation = 'Scheduled'")
		wanted := lab.SQL(t, "select start_time from jobs where job_id = "+job)
		ends(t, lab, job)
		begun := lab.SQL(t, "select start_time from jobs where job_id = "+job)
		by := second(t, begun) - second(t, wanted)
		if by < 0 {
			t.Errorf("an advance reservation for second %s began in %s", wanted, begun)
		}
		if late = append(late, by); by <= 5 {
			return
		}
	}
	t.Errorf("advance reservations began %v s late, want 5 at most", late)
}

func second(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("a second of the database: %v", err)
	}
	return n
}

// submitScript submits a script with oarsub -S, as a user does, and returns the job's number.
func submitScript(t *testing.T, lab *lab.OARLab, owner, text string) string {
	t.Helper()
	u := lab.Run(t, owner, "id", "-u")
	uid, err := strconv.Atoi(u)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(filepath.Join(lab.Dir, "home", owner), "job-*.sh")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Chown(uid, uid); err != nil {
		t.Fatal(err)
	}
	if err := f.Chmod(0o755); err != nil {
		t.Fatal(err)
	}
	return lab.Submit(t, owner, "./"+filepath.Base(f.Name()), "-S")
}

// seen is a line that a job wrote, with the time, the step and the hosts.
type seen struct {
	at    float64
	step  int
	hosts []string
}

func sightings(t *testing.T, lab *lab.OARLab, owner, job string) []seen {
	t.Helper()
	var all []seen
	for line := range strings.Lines(lab.Run(t, owner, "cat", "seen."+job)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("job %s wrote %q", job, line)
		}
		at, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		step, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		hosts := strings.Split(f[2], ",")
		slices.Sort(hosts)
		all = append(all, seen{at: at, step: step, hosts: hosts})
	}
	return all
}

// stepSizes returns the number of hosts that a job saw in each of its steps, or -1 for a step in which the number changed.
func stepSizes(t *testing.T, lab *lab.OARLab, owner, job string) []int {
	t.Helper()
	var sizes []int
	for _, s := range sightings(t, lab, owner, job) {
		for len(sizes) < s.step {
			sizes = append(sizes, len(s.hosts))
		}
		if sizes[s.step-1] != len(s.hosts) {
			sizes[s.step-1] = -1
		}
	}
	return sizes
}

// sizesSeen returns the numbers of hosts that a job saw, in order of time.
func sizesSeen(t *testing.T, lab *lab.OARLab, owner, job string) []int {
	t.Helper()
	var sizes []int
	for _, s := range sightings(t, lab, owner, job) {
		sizes = append(sizes, len(s.hosts))
	}
	return slices.Compact(sizes)
}

// held is a host that a job's base or one of its companions held for some time, by OAR's tables.
type held struct {
	host       string
	start, end float64 // Unix seconds; OAR stores whole seconds
}

func holdings(t *testing.T, lab *lab.OARLab, job string) []held {
	t.Helper()
	var all []held
	for line := range strings.Lines(lab.SQL(t, `select distinct r.network_address, j.start_time, j.stop_time from jobs j
		join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job join resources r on r.resource_id = a.resource_id
		where j.start_time > 0 and (j.job_id = `+job+` or j.job_id in (select t.job_id from job_types t where t.type = 'inner=`+job+`'))`)) {
		var h held
		if _, err := fmt.Sscanf(strings.ReplaceAll(line, "|", " "), "%s %f %f", &h.host, &h.start, &h.end); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, h)
	}
	return all
}

// `margin` is a number of seconds before and after a change. Within this time, OAR's times, in whole seconds, do not
// show whether an event came before or after the change. When passes follow each other quickly, the time that OAR
// records for a job's start may be up to `ahead` seconds ahead of the clock.
const (
	margin = 2.0
	ahead  = 2.0
)

// within reports whether all of `hosts` are among `others`.
func within(hosts, others []string) bool {
	return !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(others, h) })
}

// checkNodeFile checks each version of the node file that the job saw. It compares the file with the hosts that, by
// OAR's tables, the job and its companions held at that time. The function `same` decides whether the two agree.
func checkNodeFile(t *testing.T, lab *lab.OARLab, owner, job string, same func(inside, tables []string) bool) {
	t.Helper()
	holdings := holdings(t, lab, job)
	looked, compared := sightings(t, lab, owner, job), 0
	for _, s := range looked {
		var hosts []string
		near := false
		for _, h := range holdings {
			near = near || s.at > h.start-ahead-margin && s.at < h.start+margin || s.at > h.end-margin && s.at < h.end+margin
			if s.at >= h.start && s.at < h.end {
				hosts = append(hosts, h.host)
			}
		}
		slices.Sort(hosts)
		hosts = slices.Compact(hosts)
		if near {
			continue
		}
		if compared++; !same(s.hosts, hosts) {
			t.Errorf("job %s at %.1f, in step %d: from inside it is on %v, by OAR's tables on %v", job, s.at, s.step, s.hosts, hosts)
		}
	}
	if compared < len(looked)/3 {
		t.Errorf("job %s: only %d of %d looks could be compared", job, compared, len(looked))
	}
}

// checkLeftAhead checks that hosts which a running job releases disappear from its node file before the release. Processes that the job
// started there later would be killed immediately.
func checkLeftAhead(t *testing.T, lab *lab.OARLab, owner, job string) {
	t.Helper()
	holdings, looked := holdings(t, lab, job), sightings(t, lab, owner, job)
	over := float64(second(t, lab.SQL(t, "select stop_time from jobs where job_id = "+job))) // on a busy OAR, companions end seconds after their job
	left := 0
	for _, h := range holdings {
		if h.end > over-margin || slices.ContainsFunc(holdings, func(o held) bool { return o.host == h.host && o.end > h.end }) {
			continue
		}
		left++
		for _, s := range looked {
			if s.at > h.end-1 && slices.Contains(s.hosts, h.host) {
				t.Errorf("job %s gave %s back at %.0f, and its node file has it at %.1f; its node file in turn, and the journal:\n%s\n%s", job, h.host, h.end, s.at,
					changesOf(looked), lab.Run(t, "root", "accordion", "journal", "--json", "--job", job))
				break
			}
		}
	}
	if left == 0 {
		t.Errorf("job %s gave no host back: the test sees nothing", job)
	}
}

// changesOf returns what a job saw, reduced to one line for each change.
func changesOf(looked []seen) string {
	var lines strings.Builder
	for i, s := range looked {
		if i == 0 || !slices.Equal(s.hosts, looked[i-1].hosts) {
			fmt.Fprintf(&lines, "%.1f %s\n", s.at, strings.Join(s.hosts, ","))
		}
	}
	return lines.String()
}

// checkNoOverlap checks that no resource was ever given to two jobs at the same time, in the whole history and in all queues. Companions
// count like other jobs.
func checkNoOverlap(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	if twice := lab.SQL(t, `select a.job_id, b.job_id, x.resource_id, a.start_time, a.stop_time, b.start_time, b.stop_time from jobs a
		join assigned_resources x on x.moldable_job_id = a.assigned_moldable_job
		join assigned_resources y on y.resource_id = x.resource_id join jobs b on b.assigned_moldable_job = y.moldable_job_id
		where a.job_id < b.job_id and a.start_time > 0 and b.start_time > 0 and a.start_time < b.stop_time and b.start_time < a.stop_time`); twice != "" {
		t.Errorf("two jobs were on a resource at once:\n%s", twice)
	}
	// Check for overlaps again, now with the log of states. There a job holds its resources from the time when OAR's
	// server receives the job to launch it, until OAR has cleaned up after the job.
	if twice := lab.SQL(t, `with h as (select j.job_id, a.resource_id,
			min(case when l.job_state in ('toLaunch', 'Launching', 'Running') then l.date_start end) as begun,
			max(case when l.job_state in ('Terminated', 'Error') then l.date_start end) as ended
			from jobs j join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job join job_state_logs l on l.job_id = j.job_id
			where j.start_time > 0 group by j.job_id, a.resource_id)
		select x.job_id, y.job_id, x.resource_id, x.begun, x.ended, y.begun, y.ended from h x join h y on y.resource_id = x.resource_id
		where x.job_id < y.job_id and x.begun < y.ended and y.begun < x.ended`); twice != "" {
		t.Errorf("by the log of states two jobs were on a resource at once:\n%s", twice)
	}
}

// awaitNothingLeft waits until no job is left, and checks that `accordion audit` finds nothing.
func awaitNothingLeft(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	lab.Await(t, time.Minute, "no job is left", func() bool {
		return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error')") == "0"
	})
	if state := lab.SQL(t, "select state from queues where queue_name = 'evolve'"); state != "Active" {
		t.Errorf("the queue is %s, want Active", state)
	}
	checkAudit(t, lab)
}

// checkAudit checks that `accordion audit` finds no leftovers, no promise that was broken without a message, no node
// in two jobs, and no sums that differ between the sources.
func checkAudit(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	says, errs, err := lab.ExecWithin(2*time.Minute, "root", "accordion", "audit", "--settle", "1m")
	if err != nil || !strings.HasPrefix(says, "clean: ") {
		t.Errorf("accordion audit found (%v)\n%s%s", err, says, errs)
	}
	t.Log(says)
}

// checkReached checks that at the start of each step a job could connect to each of its nodes, and was bound to all of its processors on
// that node.
func checkReached(t *testing.T, lab *lab.OARLab, owner, job string, sizes []int) {
	t.Helper()
	processors := map[string]string{} // as the kernel writes them
	for line := range strings.Lines(lab.SQL(t, "select network_address, min(cpuset), max(cpuset) from resources group by network_address")) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if processors[f[0]] = f[1]; f[1] != f[2] {
			processors[f[0]] += "-" + f[2]
		}
	}
	reached := make([]int, len(sizes))
	for line := range strings.Lines(lab.Run(t, owner, "cat", "reached."+job)) {
		f := strings.Fields(line) // the step, the node, and the values from that node: its name, the cpuset, the processors
		step, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 5 || f[2] != f[1] || lab.Without == "" && (f[3] != "/oar/"+owner+"_"+job || f[4] != processors[f[1]]) {
			t.Errorf("job %s wants to be in /oar/%s_%s on processors %s of a node, and says: %s", job, owner, job, processors[f[1]], line)
			continue
		}
		reached[step-1]++
	}
	if !slices.Equal(reached, sizes) {
		t.Errorf("in its steps job %s reached %v nodes by oarsh, want %v", job, reached, sizes)
	}
}
