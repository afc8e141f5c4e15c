package slurm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/internal/lab"
	"accordion/slurm/sacct"
)

// A sizedJob runs several times on each of several sizes. By Amdahl's law it takes `t1` seconds on one node, and
// the share `p` of that time can run in parallel.
type sizedJob struct {
	user, name string
	t1, p      float64
	sizes      []int
	rounds     int
}

var sizedJobs = []sizedJob{
	{"carol", "advised-curve", 90, 0.8, []int{8, 4, 2, 1}, 4},
	{"alice", "advised-slope", 72, 0.75, []int{6, 3, 1}, 4},
}

// runTime returns the job's run time in seconds on the given number of nodes.
func (j sizedJob) runTime(nodes int) float64 { return j.t1 * (1 - j.p + j.p/float64(nodes)) }

// script returns a script that sleeps as long as Amdahl's law says for its number of nodes, plus a random delay of
// a tenth of a second or two.
func (j sizedJob) script(line string, jitter int) string {
	return fmt.Sprintf("#!/bin/bash\n%s\nsrun sleep $(awk -v n=$SLURM_JOB_NUM_NODES 'BEGIN { print %g * (1 - %g + %g / n) + %g }') || exit\n", line, j.t1, j.p, j.p, 0.1*float64(jitter%3))
}

// submit runs the job once on each size, waits until these runs have ended, and repeats that. So the runs from
// which the advice derives a #MOLD line cover all sizes. It returns the number of runs.
func (j sizedJob) submit(t *testing.T, lab *lab.SlurmLab) int {
	t.Helper()
	var after []string
	for k := range j.rounds {
		options := []string{"--time=2", fmt.Sprintf("--job-name=%s_%d", j.name, k)}
		if k > 0 {
			options = append(options, "--dependency=afterany:"+strings.Join(after, ":"))
		}
		after = nil
		for _, n := range j.sizes {
			after = append(after, lab.Submit(t, j.user, j.script("", k), append(options, fmt.Sprintf("-N%d", n), fmt.Sprintf("--ntasks=%d", n))...))
		}
	}
	return j.runs()
}

// A sizing is the part of the advice that tests check for jobs that ran on several sizes.
type sizing struct {
	User, Name, Line, Curve string
	Runs                    int
}

func (j sizedJob) runs() int { return j.rounds * len(j.sizes) }

// find checks the advised run times: without their margin they are within 15 % of the true run time on each size.
func (j sizedJob) find(t *testing.T, a *advised) (line string) {
	t.Helper()
	for _, one := range a.Advice {
		if one.Name == j.name+"_#" {
			t.Errorf("%s is advised %s, although it uses all that it holds", j.name, one.Line)
		}
	}
	for _, one := range a.Sizes {
		if one.Name != j.name+"_#" {
			continue
		}
		if one.User != j.user || one.Runs != j.runs() || one.Curve == "" {
			t.Errorf("%s is advised %+v, want a curve of all its runs", j.name, one)
		}
		const margin, within = 1.1, 0.15
		told := choices(t, one.Line)
		for _, n := range j.sizes {
			says, law := float64(told[n])/margin, j.runTime(n)
			t.Logf("%s on %d nodes: %.1f s are told beside a margin, and %.1f are true: %+.0f %%", j.name, n, says, law, 100*(says/law-1))
			if math.Abs(says/law-1) > within {
				t.Errorf("%s: on %d nodes %s says %.1f s, without its margin, where it takes %.1f", j.name, n, one.Line, says, law)
			}
		}
		return one.Line
	}
	t.Errorf("no advice for %s: %+v", j.name, a.Sizes)
	return ""
}

// choices returns the time limit that a #MOLD line has for each of its sizes.
func choices(t *testing.T, line string) map[int]core.Time {
	t.Helper()
	all, err := moldable.Parse(strings.TrimPrefix(line, "#MOLD "))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	on := map[int]core.Time{}
	for _, c := range all {
		on[c[0].Nodes] = c[0].Duration
	}
	return on
}

// rerun runs the job with its #MOLD line. Each run gets one of the line's sizes, and four of five runs end within
// the line's time for that size.
func (j sizedJob) rerun(t *testing.T, lab *lab.SlurmLab, line string) reruns {
	t.Helper()
	r := reruns{ids: submitted{}}
	for k := range runsAgain {
		r.ids.add(t, lab.Submit(t, j.user, j.script(line, k), "--job-name="+j.name+"-again"))
	}
	r.judge = func(t *testing.T, jobs []sacct.Job) {
		t.Helper()
		on := choices(t, line)
		onTime := 0
		for _, job := range jobs {
			if len(job.Holds) != 1 || on[len(job.Holds[0].Nodes)] == 0 {
				t.Errorf("%s: run %d with %s held %v", j.name, job.ID, line, job.Holds)
				continue
			}
			h := job.Holds[0]
			told := on[len(h.Nodes)]
			t.Logf("%s with %s: run %d took %d s on %d nodes, where %d s were told", j.name, line, job.ID, h.To-h.From, len(h.Nodes), told)
			if h.To-h.From <= told {
				onTime++
			}
		}
		if onTime*5 < runsAgain*4 {
			t.Errorf("%s: %d of %d runs with the line were on time", j.name, onTime, runsAgain)
		}
	}
	return r
}
