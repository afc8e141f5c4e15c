package slurm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/internal/lab"
	"accordion/slurm/sacct"
)

// A stagedJob runs several times. Each run starts programs of given lengths on given numbers of nodes, one after
// the other.
type stagedJob struct {
	user, name string
	runs       int
	nodes      int // number of nodes that the job requests
	stages     core.EP
	advised    bool // the job wastes some of its nodes, so `accordion advise` must list it
}

var stagedJobs = []stagedJob{
	{"alice", "advised-mesh", 6, 6, core.EP{{Duration: 20, Nodes: 2}, {Duration: 30, Nodes: 6}, {Duration: 24, Nodes: 1}}, true},
	{"bob", "advised-sum", 6, 5, core.EP{{Duration: 24, Nodes: 5}, {Duration: 32, Nodes: 1}}, true},
	{"carol", "advised-rigid", 6, 3, core.EP{{Duration: 8, Nodes: 3}}, false},
	{"bob", "advised-flat", 6, 2, core.EP{{Duration: 5, Nodes: 2}, {Duration: 5, Nodes: 2}}, false},
}

// script returns a script that runs the stages. If the job has an #EP line, the script calls `accordion step` between
// two stages.
func (j stagedJob) script(line string, jitter int) string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	if line != "" {
		b.WriteString(line + "\n")
	}
	for i, s := range j.stages {
		if i > 0 && line != "" {
			b.WriteString("eval \"$(accordion step)\" || exit\n")
		}
		fmt.Fprintf(&b, "srun -N%d -n%d sleep %d.%d || exit\n", s.Nodes, s.Nodes, s.Duration, (3*jitter+5*i)%10)
	}
	return b.String()
}

// advised is the part of `accordion advise --json` that tests check.
type advised struct {
	Jobs   int
	Advice []suggestion
	Sizes  []sizing
}

type suggestion struct {
	User, Name, Kind, Line string
	EP                     core.EP
	Runs                   int
	Checked                int
	OnTime                 int `json:"on_time"`
	Held, Saved            int64
}

// reruns holds the runs with an advised #EP line, and the checks to make when they have ended.
type reruns struct {
	ids   submitted
	judge func(t *testing.T, jobs []sacct.Job)
}

// runsAgain is the number of runs with the advised #EP line.
const runsAgain = 5

// `accordion advise` finds those among the finished jobs that would gain, and jobs that follow its advice gain as
// promised. The second runs use a planner that expands no step, because the advice is about the sizes in the #EP
// line. The test takes a quarter of an hour: go test ./slurm -run WhatIsAdvised -v -args -accordion.long
func TestWhatIsAdvisedOfRealJobsComesTrue(t *testing.T) {
	if !*long {
		t.Skip("runs 52 jobs, and some of them again as they are advised: -args -accordion.long")
	}
	lab := defaultLab(t)
	begun, submitted := time.Now(), 0
	for _, j := range sizedJobs {
		submitted += j.submit(t, lab)
	}
	for _, j := range stagedJobs {
		for k := range j.runs {
			lab.Submit(t, j.user, j.script("", k), fmt.Sprintf("-N%d", j.nodes), fmt.Sprintf("--ntasks=%d", j.nodes), "--time=2", fmt.Sprintf("--job-name=%s_%d", j.name, k))
		}
		submitted += j.runs
	}
	awaitNoJobs(t, lab, 12*time.Minute)

	var a advised
	ask := func(user string, options ...string) string {
		return lab.Run(t, user, append(adviseSince(lab, begun, "--shortest", "3s"), options...)...)
	}
	lab.Await(t, time.Minute, "the accounting has all jobs", func() bool {
		a = advised{}
		text := ask("root", "--json")
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return a.Jobs >= submitted
	})
	t.Log("\n" + ask("root"))
	if text := ask("alice", "-u", "alice"); !strings.Contains(text, "advised-mesh_#") || strings.Contains(text, "bob") {
		t.Errorf("alice's advice has bob's jobs:\n%s", text)
	}

	sidecar := serving(t, lab, "[plan]\nalgorithm = \"noX\"\n")
	var all []reruns
	for _, j := range stagedJobs {
		if one := j.find(t, &a); one != nil {
			all = append(all, j.rerun(t, lab, one))
		}
	}
	for _, j := range sizedJobs {
		if line := j.find(t, &a); line != "" {
			all = append(all, j.rerun(t, lab, line))
		}
	}
	awaitNoJobs(t, lab, 12*time.Minute)
	for _, r := range all {
		r.judge(t, r.ids.accounted(t, lab, begun))
	}
	reviewed(t, lab, sidecar)
}

// adviseSince returns the command `accordion advise` for jobs since an instant, because the lab also has jobs of
// earlier tests.
func adviseSince(lab *lab.SlurmLab, begun time.Time, options ...string) []string {
	return append([]string{filepath.Join(lab.Dir, "bin", "accordion"), "advise", "--since", fmt.Sprintf("%ds", int(time.Since(begun).Seconds()))}, options...)
}

// reviewed checks the advice about jobs that already had an #EP line. According to this advice each step took at
// least as long as its programs, and at most as long as the line allows.
func reviewed(t *testing.T, lab *lab.SlurmLab, sidecar *process) {
	t.Helper()
	type review struct {
		User  string
		Told  core.EP
		Runs  int
		Steps []struct{ Told, Median core.Time }
	}
	var all struct{ Managed []review }
	ask := func(options ...string) string {
		return lab.Run(t, "root", append(adviseSince(lab, sidecar.since, "--managed", "--config", sidecar.config), options...)...)
	}
	lab.Await(t, time.Minute, "the journal has the ends of all", func() bool {
		all.Managed = nil
		if err := json.Unmarshal([]byte(ask("--json")), &all); err != nil {
			t.Fatal(err)
		}
		runs := 0
		for _, r := range all.Managed {
			runs += r.Runs
		}
		return runs == runsAgain*(len(sizedJobs)+2)
	})
	t.Log("\n" + ask())
	for _, j := range stagedJobs {
		at := slices.IndexFunc(all.Managed, func(r review) bool { return r.User == j.user && len(r.Told) == len(j.stages) && len(r.Told) > 1 })
		if !j.advised {
			continue
		}
		if at < 0 || all.Managed[at].Runs != runsAgain {
			t.Errorf("no advice about %s: %+v", j.name, all.Managed)
			continue
		}
		for i, s := range all.Managed[at].Steps {
			if s.Median < j.stages[i].Duration || s.Median > s.Told {
				t.Errorf("%s: step %d, told %d s, took %d in the median, and its program %d", j.name, i+1, s.Told, s.Median, j.stages[i].Duration)
			}
		}
	}
}

// find fails the test unless there is advice for the job exactly if advice is expected. The advised sizes must be
// those of the stages. The advised durations, with their margin, may differ by 10 %, half a second for the start of
// a step, and a second for rounding. find returns the advice, or nil if none is expected.
func (j stagedJob) find(t *testing.T, a *advised) *suggestion {
	t.Helper()
	for i, one := range a.Advice {
		if one.Name != j.name+"_#" {
			continue
		}
		if !j.advised {
			t.Errorf("%s is advised %s, although it uses all that it holds", j.name, one.Line)
			return nil
		}
		if one.User != j.user || one.Kind != "evolving" || one.Runs != j.runs || len(one.EP) != len(j.stages) {
			t.Errorf("%s is advised %+v, want a line of %s", j.name, one, j.stages)
			return nil
		}
		for i, s := range j.stages {
			longest := 1.1 * (1.1*(float64(s.Duration)+0.9) + 1.5)
			if got := one.EP[i]; got.Nodes != s.Nodes || got.Duration <= s.Duration || float64(got.Duration) > longest {
				t.Errorf("%s: step %d is %d nodes for %d s, want %d for %d and up to %.1f", j.name, i+1, got.Nodes, got.Duration, s.Nodes, s.Duration+1, longest)
			}
		}
		return &a.Advice[i]
	}
	if j.advised {
		t.Errorf("no advice for %s: %+v", j.name, a.Advice)
	}
	return nil
}

// rerun runs the job with its #EP line. The job must complete, in four of five cases on time. Its node-seconds must
// be within a tenth of what the advice promised.
func (j stagedJob) rerun(t *testing.T, lab *lab.SlurmLab, one *suggestion) reruns {
	t.Helper()
	r := reruns{ids: submitted{}}
	for k := range runsAgain {
		r.ids.add(t, lab.Submit(t, j.user, j.script(one.Line, k), "--job-name="+j.name+"-again"))
	}
	r.judge = func(t *testing.T, jobs []sacct.Job) {
		t.Helper()
		held, said := float64(one.Held)/float64(one.Runs), float64(one.Saved)/float64(one.Runs)
		onTime := 0
		for _, job := range jobs {
			if n := len(job.Holds); job.Expands == 0 && n > 0 && job.Holds[n-1].To-job.Holds[0].From <= one.EP.Total() {
				onTime++
			}
			t.Logf("%s: %d beside %d: %v", j.name, job.ID, job.Expands, job.Holds)
		}
		used := float64(nodeSeconds(jobs)) / runsAgain
		fell := held - used
		t.Logf("%s with %s: %d of %d on time; a run held %.0f node-seconds, and now %.0f; %.0f less were said, and are %.0f", j.name, one.Line, onTime, runsAgain, held, used, said, fell)
		if onTime*5 < runsAgain*4 {
			t.Errorf("%s: %d of %d runs with the line were on time", j.name, onTime, runsAgain)
		}
		if math.Abs(fell-said) > 0.1*said {
			t.Errorf("%s: each run holds %.0f node-seconds less, %.0f were promised: more than a tenth off", j.name, fell, said)
		}
	}
	return r
}

// nodeSeconds returns the node-seconds that the jobs held. A node that a job and its expander hold at the same time
// counts once.
func nodeSeconds(jobs []sacct.Job) int {
	type second struct {
		job  core.JobID
		node string
		at   core.Time
	}
	held := map[second]bool{}
	for _, j := range jobs {
		job := j.ID
		if j.Expands != 0 {
			job = j.Expands
		}
		for _, h := range j.Holds {
			for _, n := range h.Nodes {
				for at := h.From; at < h.To; at++ {
					held[second{job, n, at}] = true
				}
			}
		}
	}
	return len(held)
}

// submitted is the set of jobs that were submitted with an #EP line.
type submitted map[core.JobID]bool

func (s submitted) add(t *testing.T, id string) {
	t.Helper()
	var n core.JobID
	if _, err := fmt.Sscan(id, &n); err != nil {
		t.Fatal(err)
	}
	s[n] = true
}

// accounted waits until accounting, read from `since` on, shows all submitted jobs as COMPLETED. It returns these
// jobs and the allocations by which they grew.
func (s submitted) accounted(t *testing.T, lab *lab.SlurmLab, since time.Time) (jobs []sacct.Job) {
	t.Helper()
	lab.Await(t, time.Minute, "the accounting has these runs", func() bool {
		text := lab.Run(t, "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", "--allusers", "--duplicates", "--allocations", "--parsable2", "--noheader", "--format="+sacct.Format,
			since.Format("--starttime=2006-01-02T15:04:05"))
		all, unread, err := sacct.ReadHolds(strings.NewReader(text), "sacct", time.UTC, time.Now().Unix())
		if err != nil || unread.Lines.Count > 0 {
			t.Fatal(err, unread.Warnings())
		}
		jobs = nil
		done := 0
		for _, one := range all {
			if s[one.ID] || s[one.Expands] {
				jobs = append(jobs, one)
			}
			if s[one.ID] && one.State == "COMPLETED" {
				done++
			}
		}
		return done == len(s)
	})
	return jobs
}
