package oar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/core/policy"
	"accordion/internal/lab"
	"accordion/internal/pairs"
)

// Under the policy patient, an evolving job starts when all steps of its profile fit. For a waiting job, accordion
// explain shows the time from which the job may get the reservation. A pass begins as soon as nodes become free, and
// leaves these nodes to an evolving job that comes before the pass's own jobs.
func TestEvolvingJobsArePlannedByPatient(t *testing.T) {
	t.Parallel()
	lab := lab.OAR(t, 4, lab.Plain(), lab.Users("alice", "bob"))
	servesBy(t, lab, `ACCORDION_POLICY="patient"`)
	t.Cleanup(func() { showSidecarLog(t, lab) })
	for try := 1; !inItsTurn(t, lab, fmt.Sprintf("gone%d", try)); try++ {
		if try == 5 {
			t.Fatalf("%d times others had the nodes, since the sidecar had not taken them when a pass had left them to it for as long as it does", try)
		}
	}
	awaitNothingLeft(t, lab)
	checkNoOverlap(t, lab)
}

// inItsTurn makes an evolving job, and two jobs behind it, wait until all nodes become free, which happens when the
// file `gone` exists. It reports whether the evolving job got the nodes first. On a busy machine, the time for which a
// pass keeps nodes for the sidecar may be too short. In that case inItsTurn checks that the other jobs did not get the
// nodes during that time.
func inItsTurn(t *testing.T, lab *lab.OARLab, gone string) bool {
	t.Helper()
	const leaves = 3 // seconds, as in package scheduler
	holds := lab.Submit(t, "bob", "while [ ! -e "+gone+" ]; do sleep 0.1; done", "-q", "evolve", "-l", "nodes=4,walltime=0:5:0")
	lab.Await(t, long, "the first job runs", func() bool { return lab.State(t, holds) == "Running" })
	evolves := lab.Submit(t, "alice", `sleep 7; eval "$(accordion step)" || exit 1; sleep 5; eval "$(accordion step)" || exit 1; sleep 4`, "-q", "evolve", "-t", "ep=3x8s,4x6s,1x10s")
	behind := lab.Submit(t, "bob", "sleep 1", "-q", "evolve", "-l", "nodes=2,walltime=0:0:40")
	small := lab.Submit(t, "bob", "sleep 2", "-q", "evolve", "-l", "nodes=1,walltime=0:0:7")
	explains(t, lab, evolves, "it has no reservation", "It is due for a reservation from ")
	lab.Run(t, "bob", "touch", gone)
	for _, job := range []string{evolves, behind, small} {
		ends(t, lab, job)
	}
	at := func(column, job string) int64 {
		return second(t, lab.SQL(t, "select "+column+" from jobs where job_id = "+job))
	}
	free, begun, over, other := at("stop_time", holds), at("start_time", evolves), at("stop_time", evolves), at("start_time", behind)
	// A job's recorded start is the second in which OAR asked for the pass that started the job. The pass reads the tables later, and uses
	// the second in which it reads.
	given := second(t, lab.SQL(t, "select min(date_start) from job_state_logs where job_state = 'toLaunch' and job_id = "+behind))
	lab.Await(t, time.Minute, "the journal shows that job "+evolves+" has been through its steps", func() bool {
		return strings.Contains(lab.Run(t, "root", "accordion", "journal")+"\n", " job "+evolves+" ended: after step 3 of 3\n")
	})
	switch {
	case other < begun && given <= free+leaves:
		t.Errorf("the nodes became free at %d, and the evolving job began at %d; the one of two nodes behind it had them at %d, though a pass leaves them to the sidecar for %d s",
			free, begun, given, leaves)
	case other < begun:
		t.Logf("the nodes became free at %d; the sidecar had not taken them when the pass gave them to others at %d, and began its job at %d", free, given, begun)
		return false
	}
	if beside := at("start_time", small); beside > over {
		t.Errorf("the evolving job ran from %d to %d; want the small one, which began at %d, at the same time", begun, over, beside)
	}
	return true
}

// explains waits until the output of accordion explain about a job contains some words.
func explains(t *testing.T, lab *lab.OARLab, job string, words ...string) {
	t.Helper()
	said := ""
	defer func() {
		if t.Failed() {
			t.Log(said)
		}
	}()
	lab.Await(t, time.Minute, fmt.Sprintf("explain shows %q for job %s", words, job), func() bool {
		said, _, _ = lab.Exec("root", "accordion", "explain", job)
		for _, w := range words {
			if !strings.Contains(said, w) {
				return false
			}
		}
		return true
	})
}

// The test measures how long jobs wait under different policies. It submits the same jobs at the same seconds to OAR's own scheduler, and
// to Accordion's scheduler with two policies. For OAR's scheduler, evolving jobs become rigid jobs with their maximum size. The test checks
// only that all jobs ran, and prints the figures. To run it: go test ./oar -run InPairs -timeout 2h -v -args -accordion.long -accordion.lengths 3
func TestPoliciesAreComparedInPairs(t *testing.T) {
	if !*everything {
		t.Skip("measures waits, on a machine that does nothing else: -args -accordion.long")
	}
	const stock, seeds, many = "OAR's own", 3, 10
	mix := pairs.Mix{Evolving: 45, Others: 105, Users: len(crowdUsers), Nodes: 16, Load: 1.2, Sizes: 6, Least: 3, Mean: 5, Step: 4}.Longer(*lengths)
	measured := map[string][]pairs.Measured{}
	for seed := *crowdSeed; seed < *crowdSeed+seeds; seed++ {
		for _, by := range []string{"repeated", "patient"} {
			planner, err := policy.Pass(by)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, seed %d, in the replay: %v", by, seed, pairs.Measure(pairs.Replayed(mix.Jobs(seed), mix.Nodes, planner)))
		}
		for _, by := range []string{stock, "repeated", "patient"} {
			t.Run(fmt.Sprintf("%s, seed %d", by, seed), func(t *testing.T) {
				lab := lab.OAR(t, mix.Nodes, lab.Plain(), lab.Users(crowdUsers...))
				queue := stockQueue
				if by != stock {
					queue = "evolve"
					servesBy(t, lab, fmt.Sprintf("ACCORDION_POLICY=%q", by))
					t.Cleanup(func() { showSidecarLog(t, lab) })
					t.Cleanup(func() { checkAudit(t, lab) })
				}
				ran, begin := runWorkload(t, lab, queue, mix.Jobs(seed))
				m := pairs.Measure(ran)
				measured[by] = append(measured[by], m)
				t.Logf("%s, seed %d: %v; %.1f nodes are held in the mean while %d jobs wait", by, seed, m, pairs.Busy(ran, holds(t, lab, begin), many), many)
				checkNoOverlap(t, lab)
			})
		}
		for _, pair := range [][2]string{{"patient", stock}, {"patient", "repeated"}, {"repeated", stock}} {
			if one, other := measured[pair[0]], measured[pair[1]]; len(one) > 0 && len(one) == len(other) {
				t.Logf("%s to %s, %d seeds:\n%s", pair[0], pair[1], len(one), pairs.Table(one, other))
			}
		}
	}
}

// holds returns how many nodes each job or companion has held since `begin`, and when.
func holds(t *testing.T, lab *lab.OARLab, begin time.Time) (all []pairs.Hold) {
	t.Helper()
	said := lab.SQL(t, `select j.start_time, j.stop_time, count(distinct r.network_address) from jobs j join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job
		join resources r on r.resource_id = a.resource_id where j.start_time > 0 group by j.job_id, j.start_time, j.stop_time`)
	for line := range strings.Lines(said) {
		f := strings.Split(strings.TrimSpace(line), "|")
		since := func(text string) float64 { return float64(second(t, text)) - float64(begin.UnixMilli())/1000 }
		all = append(all, pairs.Hold{From: since(f[0]), To: since(f[1]), Nodes: int(second(t, f[2]))})
	}
	return all
}

// runWorkload submits the jobs of a workload to a queue at their times. It returns the result of each job, and when the workload began.
func runWorkload(t *testing.T, lab *lab.OARLab, queue string, all []pairs.Job) (ran []pairs.Run, begin time.Time) {
	t.Helper()
	begin = time.Now().Add(2 * time.Second)
	var users sync.WaitGroup
	for user, name := range crowdUsers {
		var script strings.Builder
		script.WriteString(`submit() { # MICROSECOND OPTION...
	local left=$(($1 - ${EPOCHREALTIME/./}))
	shift
	((left <= 0)) || sleep $(printf %d.%06d $((left / 1000000)) $((left % 1000000)))
	oarsub "$@" >/dev/null || exit
}
`)
		for i, j := range all {
			if j.User == user {
				fmt.Fprintf(&script, "submit %d -q %s -n pair%d %s\n", begin.Add(j.At).UnixMicro(), queue, i, asks(j, queue))
			}
		}
		file := filepath.Join(lab.Dir, "home", name, "all.sh")
		if err := os.WriteFile(file, []byte(script.String()), 0o755); err != nil {
			t.Fatal(err)
		}
		users.Go(func() {
			if _, says, err := lab.ExecWithin(20*time.Minute, name, "bash", file); err != nil {
				t.Errorf("submitting: %v\n%s", err, says)
			}
		})
	}
	users.Wait()
	lab.Await(t, 20*time.Minute, "all jobs have ended", func() bool {
		return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error') and job_type = 'PASSIVE' and job_name like 'pair%'") == "0"
	})
	seen := map[string]bool{} // the first entry of a name is the job itself
	for line := range strings.Lines(lab.SQL(t, "select job_name, start_time, stop_time, state from jobs where job_name like 'pair%' order by job_id")) {
		f := strings.Split(strings.TrimSpace(line), "|")
		i, err := strconv.Atoi(strings.TrimPrefix(f[0], "pair"))
		if err != nil || seen[f[0]] {
			continue
		}
		if seen[f[0]] = true; f[3] != "Terminated" {
			t.Errorf("job %s ended as %s", f[0], f[3])
		}
		since := func(text string) float64 { return float64(second(t, text)) - float64(begin.UnixMilli())/1000 }
		ran = append(ran, pairs.Run{Job: all[i], Start: since(f[1]), End: since(f[2])})
	}
	if len(ran) != len(all) {
		t.Errorf("OAR has %d of %d jobs", len(ran), len(all))
	}
	return ran, begin
}

// asks returns the options of oarsub for a job.
func asks(j pairs.Job, queue string) string {
	if j.Profile == nil || queue == stockQueue {
		return fmt.Sprintf("-l nodes=%d,walltime=0:0:%d 'sleep %d'", j.Nodes, j.Asks, j.Runs)
	}
	command, left := "", j.Runs
	for i, s := range j.Profile {
		if i > 0 {
			command += `; eval "$(accordion step)" || exit 1; `
		}
		if i < len(j.Profile)-1 {
			command += fmt.Sprintf("sleep %d", s.Duration-1)
			left -= s.Duration
		}
	}
	return fmt.Sprintf("-t ep=%s '%ssleep %d'", j.Profile, command, left)
}
