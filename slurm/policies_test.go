package slurm_test

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"accordion/internal/lab"
	"accordion/internal/pairs"
)

// plannedBy returns the lines of a sidecar's configuration that select a policy.
func plannedBy(name string, protect int) string {
	return fmt.Sprintf("[plan]\npolicy = %q\nprotect = %d", name, protect)
}

// Under easy-evolving a job starts when there is room for all of its profile. Only the first pending job has a
// reservation. The others get no promise of a start.
func TestEvolvingJobsArePlannedByEasyEvolving(t *testing.T) {
	t.Parallel()
	lab := submitLab(t)
	p := serving(t, lab, plannedBy("easy-evolving", 1))
	lab.Run(t, "alice", "rm", "-f", "policies.gone") // left by an earlier run
	holds := lab.Submit(t, "alice", "while [ ! -e policies.gone ]; do sleep 0.2; done", "-N4", "-t2", "--exclusive")
	lab.Await(t, time.Minute, "the first job runs", func() bool { return runClient(t, lab, "squeue", "-h", "-j", holds, "-o", "%T") == "RUNNING" })
	evolve := func(profile string, seconds ...int) string {
		script := "#EP " + profile + "\n"
		for i, s := range seconds {
			if i > 0 {
				script += "eval \"$(accordion step)\" || exit 1\n"
			}
			script += fmt.Sprintf("sleep %d\n", s)
		}
		return lab.Submit(t, "alice", script+"echo done >done.$SLURM_JOB_ID\n")
	}
	first := evolve("2x8s,3x8s,1x10s", 6, 6, 4) // the site's ranking, too, puts the larger job first
	next := evolve("1x8s,2x8s", 6, 4)
	p.awaitQueueExplanation(first, "It has the reservation")
	p.awaitQueueExplanation(next, "Only the first of the queue has a reservation")
	lab.Run(t, "alice", "touch", "policies.gone")
	lab.Await(t, 3*time.Minute, "all have run", everySecond(func() bool { return runClient(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" }))
	awaitAllEnded(t, p)
	for _, job := range []string{first, next} {
		if lab.File("alice", "done."+job) == "" {
			t.Errorf("job %s did not run to its end", job)
		}
	}
	for job, steps := range map[string]int{first: 3, next: 2} {
		if said := p.accordion("journal", "--job", job); !strings.Contains(said, fmt.Sprintf("after step %d of %d", steps, steps)) {
			t.Errorf("job %s did not go through its steps:\n%s", job, said)
		}
	}
}

// lengths is the factor by which the jobs of pairs are longer. Jobs of some seconds are short compared with the
// time that Slurm takes to start and end a job. Their limits, which are whole minutes, are much too long.
var lengths = flag.Int("accordion.lengths", 1, "how many times as long the jobs of pairs are")

// alone is the name of the run by Slurm without Accordion. In that run evolving jobs are rigid, with the largest
// number of nodes of their profile.
const alone = "Slurm alone"

// This test measures waiting times under each policy, while Slurm's own scheduler runs with its default settings,
// and under Slurm alone. All runs have the same jobs at the same seconds. The test checks that all jobs ran, and
// prints the figures of the policies that -run selects. This command runs one lab after the other: go test ./slurm
// -run InPairs/pairs -parallel 1 -timeout 4h -v -args -accordion.long. If jobs are eight times as long
// (-accordion.lengths 8), a machine of two cores can run twelve labs at the same time (-parallel 12).
func TestPoliciesAreComparedInPairs(t *testing.T) {
	if !*long {
		t.Skip("measures waits, on a machine that does nothing else: -args -accordion.long")
	}
	const seeds = 3
	mix := pairs.Mix{Evolving: 40, Others: 150, Users: len(workloadUsers), Nodes: 24, Load: 1.2, Sizes: 8, Least: 5, Mean: 9, Step: 6}.Longer(*lengths)
	policies := []struct{ name, settings string }{
		{alone, ""},
		{"repeated, protect 16", plannedBy("repeated", 16)},
		{"repeated, protect 1", plannedBy("repeated", 1)},
		{"easy-evolving, protect 1", plannedBy("easy-evolving", 1)},
		{"the whole partition by patient", "manage = \"all\"\n" + plannedBy("patient", 16)},
	}
	measured := make([][]pairs.Measured, len(policies)) // by seed
	t.Run("pairs", func(t *testing.T) {
		for i, by := range policies {
			measured[i] = make([]pairs.Measured, seeds)
			for run := range measured[i] {
				t.Run(fmt.Sprintf("%s, seed %d", by.name, *seed+uint64(run)), func(t *testing.T) {
					t.Parallel()
					lab := lab.Slurm(t, mix.Nodes, lab.Users(workloadUsers...))
					if strings.HasPrefix(by.settings, "manage") {
						manageAll(t, lab)
					}
					if by.name != alone {
						serving(t, lab, by.settings)
					} else {
						defer runAudit(t, lab, time.Now(), nil)
					}
					m := pairs.Measure(runPairs(t, lab, mix.Jobs(*seed+uint64(run)), by.name == alone))
					measured[i][run] = m
					t.Logf("%s, seed %d: %v", by.name, *seed+uint64(run), m)
				})
			}
		}
	})
	ran := func(all []pairs.Measured) bool { return !slices.Contains(all, pairs.Measured{}) }
	for i, one := range measured {
		for j, other := range measured[:i] {
			if ran(one) && ran(other) {
				t.Logf("%s, to %s, %d seeds:\n%s", policies[i].name, policies[j].name, seeds, pairs.Table(one, other))
			}
		}
	}
}

// runPairs runs a workload. If `rigid` is set, it submits the evolving jobs as rigid jobs.
func runPairs(t *testing.T, lab *lab.SlurmLab, jobs []pairs.Job, rigid bool) []pairs.Run {
	t.Helper()
	all := make([]*submission, len(jobs))
	for i, j := range jobs {
		all[i] = submissionOf(j, rigid)
	}
	since := time.Now()
	submitAll(t, lab, all)
	begin := float64(all[0].submitted.UnixMilli())/1000 - all[0].at.Seconds()
	awaitNoJobs(t, lab, time.Duration(*lengths)*20*time.Minute)
	ran := make([]pairs.Run, len(jobs))
	lab.Await(t, 2*time.Minute, "accounting knows every job's end", everySecond(func() bool {
		begun, ended, state := map[string]int64{}, map[string]int64{}, map[string]string{}
		for _, r := range readAccounts(t, lab, since) {
			id := strconv.FormatInt(r.id, 10)
			if at, known := begun[id]; r.start > 0 && (!known || r.start < at) {
				begun[id] = r.start
			}
			if at := r.ended(); at >= ended[id] {
				ended[id], state[id] = at, r.state
			}
		}
		for i, s := range all {
			at, known := begun[s.id]
			if !known || ended[s.id] == openEnd {
				return false
			}
			if state[s.id] != "COMPLETED" {
				t.Errorf("job %s is %s: %+v", s.id, state[s.id], jobs[i])
			}
			ran[i] = pairs.Run{Job: jobs[i], Start: float64(at) - begin, End: float64(ended[s.id]) - begin}
		}
		return true
	}))
	return ran
}

// submissionOf returns a job's submission to Slurm. If `rigid` is set, it submits an evolving job as a rigid one.
func submissionOf(j pairs.Job, rigid bool) *submission {
	s := &submission{at: j.At, user: workloadUsers[j.User], kind: "ordinary", script: fmt.Sprintf("sleep %d", j.Runs),
		options: []string{"--partition=main", "--exclusive", fmt.Sprintf("--nodes=%d", j.Nodes), fmt.Sprintf("--time=%d", (j.Asks+59)/60)}}
	if j.Profile == nil || rigid {
		return s
	}
	s.kind, s.options, s.steps, s.script = "evolving", nil, j.Profile, fmt.Sprintf("#!/bin/bash\n#EP %s\n", j.Profile)
	left := j.Runs
	for i, step := range j.Profile[:len(j.Profile)-1] {
		s.script += fmt.Sprintf("sleep %d\neval \"$(accordion step)\" || exit %d\n", step.Duration-1, i+1)
		left -= step.Duration
	}
	s.script += fmt.Sprintf("sleep %d\n", left)
	return s
}
