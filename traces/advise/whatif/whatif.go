// Package whatif replays a site's own jobs with the lines that package advise writes for them, and computes what the lines change for the
// jobs that carry them and for the others.
//
//	study, err := whatif.Run(ctx, whatif.Input{Runs: runs, Report: &report, Policies: policies, Seed: 1})
//	for _, loss := range study.Result.Others.Losses() {
//		fmt.Println(loss.Policy, loss.Of) // which means of the other jobs become worse
//	}
//
// site.go and whatif.go make the two workloads, compare.go measures the replays, bootstrap.go computes confidence intervals, and loss.go
// finds the groups that lose.
package whatif

import (
	"accordion/core"
	"accordion/traces/advise"
	"accordion/traces/workload"
)

// Supposed is a workload in which some jobs carry lines.
type Supposed struct {
	workload.Workload        // the same jobs in the same order
	Carries           []bool // which jobs carry a line
	Evolving          int    // number of jobs with a profile
	Moldable          int    // number of jobs with several sizes
	Fewer             int    // number of jobs that ask for fewer nodes
	Late              int    // number of jobs that carry no line because they would not have kept to the line of their group
}

// Carriers returns the number of jobs that carry a line.
func (s *Supposed) Carriers() int { return s.Evolving + s.Moldable + s.Fewer }

// Suppose adds lines to the jobs of a site. Each job gets the line of its run. `runs` has one run for each record from which the jobs were
// selected. A policy for rigid jobs treats a job with a profile or with several sizes as it was.
func Suppose(site *workload.Selected, runs []advise.Run, lines *advise.Lines) Supposed {
	s := Supposed{Workload: site.Workload, Carries: make([]bool, len(site.Jobs))}
	s.Jobs = append([]workload.Job(nil), site.Jobs...)
	for i := range s.Jobs {
		projection, has := lines.Project(&runs[site.Records[i]])
		if !has {
			continue
		}
		if projection.Late {
			s.Late++
			continue
		}
		s.Carries[i] = s.addLine(&s.Jobs[i], projection)
	}
	return s
}

// addLine adds a line to a job. It returns false if the line would change nothing on this machine.
func (s *Supposed) addLine(j *workload.Job, projection advise.Projection) bool {
	if projection.Fewer > 0 {
		if projection.Fewer >= j.Size {
			return false
		}
		j.Size = projection.Fewer
		s.Fewer++
		return true
	}
	var (
		choices []core.EP
		work    []core.Time
	)
	for i, ep := range projection.Choices {
		if ep.Peak() <= s.Machine.Nodes && ep.Total() <= workload.MaxTime {
			choices, work = append(choices, ep), append(work, projection.Runs[i])
		}
	}
	if len(choices) == 0 || len(choices) == 1 && len(choices[0]) == 1 && choices[0][0].Nodes == j.Size {
		return false
	}
	j.Choices, j.Runs = choices, work
	if j.Kind() == workload.Evolving {
		s.Evolving++
	} else {
		s.Moldable++
	}
	return true
}
