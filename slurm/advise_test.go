package slurm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/scripts/lab"
	"accordion/slurm/sacct"
)

// A stagedJob is run several times: programs of so many seconds on so many nodes, one after the other.
type stagedJob struct {
	user, name string
	runs       int
	nodes      int // asked for
	stages     core.EP
	advised    bool // it wastes some of what it holds
}

var stagedJobs = []stagedJob{
	{"alice", "advised-mesh", 9, 6, core.EP{{Duration: 9, Nodes: 2}, {Duration: 14, Nodes: 6}, {Duration: 11, Nodes: 1}}, true},
	{"bob", "advised-sum", 9, 5, core.EP{{Duration: 12, Nodes: 5}, {Duration: 16, Nodes: 1}}, true},
	{"carol", "advised-rigid", 12, 3, core.EP{{Duration: 8, Nodes: 3}}, false},
	{"bob", "advised-flat", 10, 2, core.EP{{Duration: 5, Nodes: 2}, {Duration: 5, Nodes: 2}}, false},
}

// script runs the stages, with a word to Accordion between two where the job carries a line.
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

// advised is what of `accordion advise --json` is looked at.
type advised struct {
	Advice []struct {
		User, Name, Kind, Line string
		EP                     core.EP
		Runs                   int
		Checked                int
		OnTime                 int `json:"on_time"`
		Held, Saved            int64
	}
}

// Who would gain is found among jobs that really ran; and what was advised, once it is done, is what was said: issue 18's first point. It takes five
// minutes: go test ./slurm -run Advised -v -args -accordion.long
func TestWhatIsAdvisedOfRealJobsComesTrue(t *testing.T) {
	if !*long {
		t.Skip("runs 40 jobs, and some of them again as they are advised: -args -accordion.long")
	}
	lab := defaultLab(t)
	for _, j := range stagedJobs {
		for k := range j.runs {
			lab.Submit(t, j.user, j.script("", k), fmt.Sprintf("-N%d", j.nodes), fmt.Sprintf("--ntasks=%d", j.nodes), "--time=2", fmt.Sprintf("--job-name=%s_%d", j.name, k))
		}
	}
	atRest(t, lab)

	var a advised
	ask := []string{filepath.Join(lab.Dir, "bin", "accordion"), "advise", "--since", "1h", "--shortest", "3s"}
	lab.Await(t, time.Minute, "the accounting has all jobs", func() bool {
		a = advised{}
		text := lab.Run(t, "root", append(ask, "--json")...)
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		runs := 0
		for _, one := range a.Advice {
			runs += one.Runs
		}
		return runs >= stagedJobs[0].runs+stagedJobs[1].runs
	})
	t.Log("\n" + lab.Run(t, "root", ask...))
	if text := lab.Run(t, "alice", append(ask, "-u", "alice")...); !strings.Contains(text, "advised-mesh_#") || strings.Contains(text, "bob") {
		t.Errorf("alice is told of her own jobs:\n%s", text)
	}

	serving(t, lab, "")
	for _, j := range stagedJobs {
		j.judge(t, lab, &a)
	}
}

// judge looks at the advice for a job: it is there or not, its sizes are those staged, its durations with their margin within 10 % (and half a second,
// which a step takes to begin, and a second by which it is rounded), and a script with the line does what was said.
func (j stagedJob) judge(t *testing.T, lab *lab.SlurmLab, a *advised) {
	t.Helper()
	for _, one := range a.Advice {
		if one.Name != j.name+"_#" {
			continue
		}
		if !j.advised {
			t.Errorf("%s is advised %s, though it uses what it holds", j.name, one.Line)
			return
		}
		if one.User != j.user || one.Kind != "evolving" || one.Runs != j.runs || len(one.EP) != len(j.stages) {
			t.Errorf("%s is advised %+v, want a line of %s", j.name, one, j.stages)
			return
		}
		for i, s := range j.stages {
			longest := 1.1 * (1.1*(float64(s.Duration)+0.9) + 1.5)
			if got := one.EP[i]; got.Nodes != s.Nodes || got.Duration <= s.Duration || float64(got.Duration) > longest {
				t.Errorf("%s: step %d is %d nodes for %d s, want %d for %d and up to %.1f", j.name, i+1, got.Nodes, got.Duration, s.Nodes, s.Duration+1, longest)
			}
		}
		j.again(t, lab, one.Line, one.EP, float64(one.Held)/float64(one.Runs), float64(one.Saved)/float64(one.Runs))
		return
	}
	if j.advised {
		t.Errorf("nothing is advised to %s: %+v", j.name, a.Advice)
	}
}

// again runs the job with its line: it completes, on time in four of five cases, and holds less by what was said.
func (j stagedJob) again(t *testing.T, lab *lab.SlurmLab, line string, ep core.EP, held, said float64) {
	t.Helper()
	const runs = 5
	ids := map[core.JobID]bool{}
	for k := range runs {
		id := lab.Submit(t, j.user, j.script(line, k), "--job-name="+j.name+"-again")
		var n core.JobID
		if _, err := fmt.Sscan(id, &n); err != nil {
			t.Fatal(err)
		}
		ids[n] = true
	}
	atRest(t, lab)
	var jobs []sacct.Job
	lab.Await(t, time.Minute, "the accounting has these runs", func() bool {
		text := lab.Run(t, "root", "env", "SLURM_TIME_FORMAT=%s", "sacct", "--allusers", "--duplicates", "--allocations", "--parsable2", "--noheader", "--format="+sacct.Format)
		all, err := sacct.Read(strings.NewReader(text), time.Now().Unix())
		if err != nil {
			t.Fatal(err)
		}
		jobs = nil
		done := 0
		for _, one := range all {
			if ids[one.ID] && one.Name == j.name+"-again" {
				jobs = append(jobs, one)
				if one.State == "COMPLETED" {
					done++
				}
			} else if ids[one.Expands] {
				jobs = append(jobs, one)
			}
		}
		return done == runs
	})
	onTime, used := 0, 0.0
	for _, one := range jobs {
		var from, to core.Time
		for i, h := range one.Holds {
			if i == 0 {
				from = h.From
			}
			to = h.To
			used += float64(len(h.Nodes)) * float64(h.To-h.From)
		}
		if one.Expands == 0 && to-from <= ep.Total() {
			onTime++
		}
	}
	fell := held - used/runs
	t.Logf("%s with %s: %d of %d on time; a run held %.0f node-seconds, and now %.0f; %.0f less were said, and are %.0f", j.name, line, onTime, runs, held, used/runs, said, fell)
	if onTime*5 < runs*4 {
		t.Errorf("%s: %d of %d runs with the line were on time", j.name, onTime, runs)
	}
	if math.Abs(fell-said) > 0.1*held {
		t.Errorf("%s: each run holds %.0f node-seconds less, and %.0f were said; that is more than a tenth of %.0f beside it", j.name, fell, said, held)
	}
}

// atRest waits until no job waits or runs.
func atRest(t *testing.T, lab *lab.SlurmLab) {
	t.Helper()
	lab.Await(t, 10*time.Minute, "no job is left", func() bool { return client(t, lab, "squeue", "-h", "-a", "-o", "%A") == "" })
}
