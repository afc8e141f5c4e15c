package demo

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
)

// Workload is the bundled workload, for 16 nodes.
//
//go:embed workload.txt
var Workload string

// MaxJobs is the maximum number of jobs of a workload.
const MaxJobs = 10000

// Job is one line of a workload.
type Job struct {
	At      core.Time // seconds since the beginning
	User    string
	Name    string
	Request string    // "ep=…", "mold=…"; "" for a rigid job
	Choices []core.EP // a rigid job has one choice of one step
	Work    int       // real duration of each step, in percent of the requested one
}

// Parse parses a workload with one job per line, "WHEN USER NAME WHAT WORK%". WHAT is ep=PROFILE, mold=CONFIGURATIONS or NODESxDURATION.
// Parse ignores empty lines and lines that begin with #. Its errors contain the line number.
func Parse(text string) ([]Job, error) {
	var jobs []Job
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		j, err := parseJob(fields)
		if err != nil {
			return nil, fmt.Errorf("workload, line %d: %w", number, err)
		}
		if len(jobs) > 0 && j.At < jobs[len(jobs)-1].At {
			return nil, fmt.Errorf("workload, line %d: submitted at %s, before the job above it", number, fields[0])
		}
		if jobs = append(jobs, j); len(jobs) > MaxJobs {
			return nil, fmt.Errorf("workload, line %d: more than %d jobs", number, MaxJobs)
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("workload: no job in it; a line is WHEN USER NAME WHAT WORK%%, as in: 20s alice mesh ep=2x4m,6x6m 97%%")
	}
	return jobs, nil
}

func parseJob(fields []string) (Job, error) {
	if len(fields) != 5 {
		return Job{}, fmt.Errorf("%d words; a line is WHEN USER NAME WHAT WORK%%", len(fields))
	}
	j := Job{User: fields[1], Name: fields[2]}
	at, ok := core.ParseDuration(fields[0])
	if !ok && fields[0] != "0s" { // a duration in a profile is never 0, but the first job may come at second 0
		return Job{}, fmt.Errorf("%s is not a time such as 0s, 90s or 2m30s", core.Shown(fields[0]))
	}
	j.At = at
	what := fields[3]
	if strings.Contains(what, "=") {
		j.Request = what
	} else {
		what = "ep=" + what
	}
	var err error
	if j.Choices, err = adapter.ParseRequest(what); err != nil {
		return Job{}, err
	}
	if j.Request == "" && len(j.Choices[0]) > 1 {
		return Job{}, fmt.Errorf("%s has several steps: write ep=%s", core.Shown(fields[3]), fields[3])
	}
	work, percent := strings.CutSuffix(fields[4], "%")
	if j.Work, err = strconv.Atoi(work); err != nil || !percent || j.Work < 1 || j.Work > 1000 {
		return Job{}, fmt.Errorf("%s is not a percentage from 1%% to 1000%%", core.Shown(fields[4]))
	}
	return j, nil
}

// Nodes returns the peak of the job in its smallest configuration.
func (j Job) Nodes() int {
	least := j.Choices[0].Peak()
	for _, ep := range j.Choices {
		least = min(least, ep.Peak())
	}
	return least
}

// spec returns the job for the embedded batch system.
func (j Job) spec(uid uint32) embedded.JobSpec {
	first := j.Choices[0]
	spec := embedded.JobSpec{
		Name: j.Name, User: j.User, UID: uid, GID: uid, Nodes: first[0].Nodes, Limit: first.Total(),
		Comment: j.Request, Managed: j.Request != "", Script: j.script,
	}
	return spec
}

// script does the work of the job in each step, and calls accordion step in between.
func (j Job) script(ctx context.Context, h *embedded.Handle) error {
	ep := j.Choices[0]
	held := len(h.Nodes())
	for _, choice := range j.Choices {
		if choice[0].Nodes == held {
			ep = choice
		}
	}
	work := make([]time.Duration, len(ep))
	for i, s := range ep {
		work[i] = time.Duration(s.Duration) * time.Second * time.Duration(j.Work) / 100
	}
	return embedded.Phases(work...)(ctx, h)
}
