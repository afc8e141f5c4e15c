package oar_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/core/hostlist"
	"accordion/internal/lab"
)

var (
	everything = flag.Bool("accordion.long", false, "a crowd of 150 jobs, with both databases, and one whose sidecar is killed at random instants; the database away for half a minute")
	lengths    = flag.Int("accordion.lengths", 1, "how many times as long the jobs of pairs are")
	crowdSeed  = flag.Uint64("accordion.crowd", 1, "seed of the crowd")
)

var crowdUsers = []string{"alice", "bob", "carol"}

// mix has the number of jobs of each kind. Three users submit these jobs as fast as they can.
type mix struct {
	evolving, moldable, rigid int
	kills                     int // how often the sidecar is killed (kill -9)
}

// The test checks the main promise on a real OAR, with many jobs of several users. No resource is ever given to two jobs, every job ends as
// it should, evolving jobs have had all of their sizes, and nothing is left. The test logs the latencies of growths. With -accordion.long,
// on a machine that does nothing else, it also checks their bounds.
func TestManyJobsLeaveAHistoryWithoutOverlap(t *testing.T) {
	t.Parallel()
	type world struct {
		name, database string
		mix
	}
	worlds := []world{{name: "a small crowd", database: lab.PostgreSQL, mix: mix{evolving: 3, moldable: 3, rigid: 8, kills: 1}}}
	if *everything {
		full := mix{evolving: 20, moldable: 30, rigid: 100}
		killed := full
		killed.kills = 12
		worlds = []world{{name: "PostgreSQL", database: lab.PostgreSQL, mix: full}, {name: "MariaDB", database: lab.MariaDB, mix: full}, {name: "its sidecar is killed", database: lab.PostgreSQL, mix: killed}}
	}
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			lab := lab.OAR(t, 16, lab.Database(w.database), lab.Users(crowdUsers...))
			lab.Do(t, "serve")
			t.Cleanup(func() { showSidecarLog(t, lab) })
			all := w.submissions(*crowdSeed)
			over := make(chan struct{})
			var killing sync.WaitGroup
			killing.Go(func() { killRepeatedly(t, lab, w.kills, over) })
			submitAll(t, lab, all)
			lab.Await(t, long, "all jobs have ended", func() bool {
				return lab.SQL(t, "select count(*) from jobs where state not in ('Terminated', 'Error') and job_type = 'PASSIVE' and job_name like 'crowd%'") == "0"
			})
			close(over)
			killing.Wait()
			awaitNothingLeft(t, lab)
			nodesAreClean(t, lab)
			checkNoOverlap(t, lab)
			checkOutcome(t, lab, all, w.kills > 0)
			growths := latencies(t, lab)
			if len(growths) == 0 {
				t.Error("the journal has no growth")
			}
			t.Logf("%d growths, counted from when nodes and application were there: median %.2f s, 95 %% %.2f s, last %.2f s", len(growths),
				quantile(growths, 0.5), quantile(growths, 0.95), quantile(growths, 1))
		})
	}
}

// If only two evolving jobs run, the nodes of a growth are usable within the documented bounds. To run this test: go
// test ./oar -run Calm -v -args -accordion.long
func TestAGrowthOnACalmClusterIsUsableInTime(t *testing.T) {
	if !*everything {
		t.Skip("judges times, on a machine that does nothing else: -args -accordion.long")
	}
	for _, database := range []string{lab.PostgreSQL, lab.MariaDB} {
		t.Run(database, func(t *testing.T) {
			lab := lab.OAR(t, 12, lab.Database(database))
			lab.Do(t, "serve")
			t.Cleanup(func() { checkAudit(t, lab) })
			t.Cleanup(func() { showSidecarLog(t, lab) })
			var jobs []string
			for range 2 {
				jobs = append(jobs, submitScript(t, lab, "alice", fmt.Sprintf(speaker, "1x7s,2x7s,3x7s,4x7s,5x7s,6x7s", 7, "7 7 7 7 2")))
			}
			for _, job := range jobs {
				ends(t, lab, job)
			}
			growths := latencies(t, lab)
			t.Logf("%d growths: median %.2f s, 95 %% %.2f s, last %.2f s", len(growths), quantile(growths, 0.5), quantile(growths, 0.95), quantile(growths, 1))
			if len(growths) != 10 || quantile(growths, 0.5) > 1 || quantile(growths, 0.95) > 2 {
				t.Errorf("growths took %.2f s; want ten, a median under 1 s and 95 %% under 2 s", growths)
			}
		})
	}
}

// showSidecarLog prints the end of the sidecar's log when a test has failed.
func showSidecarLog(t *testing.T, lab *lab.OARLab) {
	t.Helper()
	if !t.Failed() {
		return
	}
	text, err := os.ReadFile(filepath.Join(lab.Dir, "log", "accordion.log"))
	lines := strings.Split(string(text), "\n")
	t.Logf("%v; the end of accordion.log:\n%s", err, strings.Join(lines[max(0, len(lines)-200):], "\n"))
}

// crowdJob is one job of a mix.
type crowdJob struct {
	owner   string
	name    string
	options []string
	command string
	sizes   []int // sizes of the steps of an evolving job
	id      string
}

// submissions returns the jobs in a mixed order. They are the same for the same seed.
func (m mix) submissions(seed uint64) []*crowdJob {
	r := rand.New(rand.NewPCG(seed, 6))
	between := func(least, most int) int { return least + r.IntN(most-least+1) }
	var all []*crowdJob
	for i := range m.evolving {
		s := &crowdJob{owner: crowdUsers[i%len(crowdUsers)]}
		var steps []string
		works := ""
		for range between(2, 4) {
			size, lasts := between(1, 6), between(5, 12)
			if n := len(s.sizes); n > 0 && s.sizes[n-1] == size {
				size = size%6 + 1
			}
			s.sizes = append(s.sizes, size)
			steps = append(steps, fmt.Sprintf("%dx%ds", size, lasts))
			works += fmt.Sprintf(" %d", lasts-1)
		}
		first, rest, _ := strings.Cut(works[1:], " ")
		s.command = fmt.Sprintf(`where() { echo "${ACCORDION_STEP:-1} $(sort -u "$OAR_NODEFILE" | wc -l)" >>sizes.$OAR_JOB_ID; }; where; sleep %s; `+
			`for s in %s; do %s || exit 1; where; sleep $s; done`, first, rest, m.asks())
		s.options = []string{"-t", "ep=" + strings.Join(steps, ",")}
		all = append(all, s)
	}
	for i := range m.moldable {
		wide, lasts := between(3, 6), between(2, 6)
		all = append(all, &crowdJob{owner: crowdUsers[i%len(crowdUsers)], command: fmt.Sprintf("sleep %d", lasts),
			options: []string{"-l", fmt.Sprintf("nodes=%d,walltime=0:0:40", wide), "-l", fmt.Sprintf("nodes=%d,walltime=0:1:10", wide/2)}})
	}
	for i := range m.rigid {
		all = append(all, &crowdJob{owner: crowdUsers[i%len(crowdUsers)], command: fmt.Sprintf("sleep %d", between(1, 8)),
			options: []string{"-l", fmt.Sprintf("nodes=%d,walltime=0:0:%d", between(1, 4), between(35, 45))}})
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, s := range all {
		queue := "evolve"
		if len(s.sizes) == 0 && i%5 == 0 {
			queue = "default" // a queue with lower priority, which OAR's own scheduler plans
		}
		s.name = fmt.Sprintf("crowd%d", i)
		s.options = append(s.options, "-q", queue, "-n", s.name)
	}
	return all
}

// asks returns the command by which an evolving job calls accordion step. While no sidecar runs, accordion step gives up after ten seconds,
// and the command calls it again.
func (m mix) asks() string {
	if m.kills == 0 {
		return `eval "$(accordion step)"`
	}
	return `until eval "$(accordion step)"; do [ $? = 4 ] || exit 1; done`
}

// submitAll submits the jobs of all users in parallel, and the jobs of each user one after another.
func submitAll(t *testing.T, lab *lab.OARLab, all []*crowdJob) {
	t.Helper()
	var users sync.WaitGroup
	for _, user := range crowdUsers {
		users.Go(func() {
			for _, s := range all {
				if s.owner != user {
					continue
				}
				out, says, err := lab.Exec(user, append(append([]string{"oarsub"}, s.options...), s.command)...)
				_, id, found := strings.Cut(out, "OAR_JOB_ID=")
				if err != nil || !found {
					t.Errorf("oarsub %q: %v: %s %s", s.options, err, out, says)
					continue
				}
				s.id = strings.TrimSpace(id)
			}
		})
	}
	users.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// killRepeatedly kills the sidecar a number of times, at random times, and starts it again soon after each.
func killRepeatedly(t *testing.T, lab *lab.OARLab, kills int, over <-chan struct{}) {
	r := rand.New(rand.NewPCG(*crowdSeed, 9))
	for range kills {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(2000+r.IntN(28000)) * time.Millisecond):
		}
		for _, command := range [][]string{{"serve-stop", "--kill"}, {"serve"}} {
			if err := lab.Try(command...); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// checkOutcome checks that every job ended without error, and that each evolving job has had all of its sizes.
func checkOutcome(t *testing.T, lab *lab.OARLab, all []*crowdJob, killed bool) {
	t.Helper()
	state := map[string]string{}
	for line := range strings.Lines(lab.SQL(t, "select job_id, state, message from jobs")) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 3)
		state[f[0]] = f[1]
	}
	for _, s := range all {
		if state[s.id] != "Terminated" {
			t.Errorf("job %s (%q) is %s, want Terminated", s.id, s.options, state[s.id])
			continue
		}
		if len(s.sizes) == 0 {
			continue
		}
		want := ""
		for i, n := range s.sizes {
			want += fmt.Sprintf("%d %d\n", i+1, n)
		}
		if got := lab.Run(t, s.owner, "cat", "sizes."+s.id) + "\n"; got != want {
			t.Errorf("job %s (%q) had from inside, step by step,\n%swant\n%s%s", s.id, s.options, got, want, lab.Run(t, s.owner, "cat", "OAR."+s.name+"."+s.id+".stderr"))
		}
	}
}

// entry is one line of accordion journal --json.
type entry struct {
	Verb string         `json:"verb"`
	Job  int64          `json:"job"`
	Args map[string]any `json:"args"`
}

// latencies returns the latencies of all growths. A latency begins when the planned second has come, the application
// has reached the end of its step, and all of the new nodes are free. It ends when the job can use the nodes. OAR
// stores whole seconds, so some latencies seem longer than they were.
func latencies(t *testing.T, lab *lab.OARLab) []float64 {
	t.Helper()
	type stay struct {
		job  int64
		host string
		end  float64
	}
	var stays []stay
	for line := range strings.Lines(lab.SQL(t, `select j.job_id, r.network_address, j.stop_time from jobs j join assigned_resources a on a.moldable_job_id = j.assigned_moldable_job
		join resources r on r.resource_id = a.resource_id where j.stop_time > 0`)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		id, _ := strconv.ParseInt(f[0], 10, 64)
		end, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		stays = append(stays, stay{job: id, host: f[1], end: end})
	}
	held := map[int64][]string{}
	var all []float64
	for line := range strings.Lines(lab.Run(t, "root", "accordion", "journal", "--json")) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		text, ok := e.Args["nodes"].(string)
		if !ok || e.Verb != "started" && e.Verb != "grew" && e.Verb != "shrank" {
			continue
		}
		nodes, err := hostlist.Expand(text)
		if err != nil {
			t.Fatal(err)
		}
		before := held[e.Job]
		held[e.Job] = nodes
		if e.Verb != "grew" {
			continue
		}
		number := func(name string) float64 { n, _ := e.Args[name].(float64); return n }
		usable, due := number("usable"), number("asked")
		if planned := number("planned"); planned <= usable {
			due = max(due, planned)
		}
		for _, s := range stays {
			if slices.Contains(nodes, s.host) && !slices.Contains(before, s.host) && s.end <= usable {
				due = max(due, s.end)
			}
		}
		all = append(all, usable-due)
		if usable-due > 1 {
			t.Logf("slow: job %d, step %v: %.2f s after everything was there, %v", e.Job, e.Args["step"], usable-due, e.Args)
		}
	}
	return all
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
