// Package whatif supposes that a site's own jobs had carried the lines that package advise writes for them, and says what that would have
// changed: for those that tell, and for all others.
//
//	site, err := whatif.Site(runs, 0)                            // the jobs as they were
//	supposed := whatif.Suppose(site, runs, report.Lines(options)) // and with the lines
//	… replay both under some policies …
//	result := whatif.Compare(cases, supposed.Carries, whatif.Bootstrap{Seed: 1})
//
// It is pure, and replays nothing (package replay): site.go and whatif.go make the two workloads, compare.go measures, bootstrap.go says how far to trust the differences,
// and loss.go who loses.
package whatif

import (
	"accordion/core"
	"accordion/traces/advise"
	"accordion/traces/workload"
)

// Supposed is a workload in which some jobs tell more.
type Supposed struct {
	workload.Workload        // the same jobs in the same order
	Carries           []bool // beside the jobs: it carries a line
	Evolving          int    // of those that tell: they carry a profile
	Moldable          int    // they list sizes
	Fewer             int    // they ask for fewer nodes
	Late              int    // of the same jobs, that carry none: they would not have kept to it
}

// Told is how many jobs carry a line.
func (s *Supposed) Carriers() int { return s.Evolving + s.Moldable + s.Fewer }

// Suppose gives jobs of a site the lines of their runs. Runs are beside the records that the site's jobs were selected from. To a policy
// that knows rigid jobs only a job with a profile or with sizes is as it was.
func Suppose(site *workload.Selected, runs []advise.Run, lines *advise.Lines) Supposed {
	s := Supposed{Workload: site.Workload, Carries: make([]bool, len(site.Jobs))}
	s.Jobs = append([]workload.Job(nil), site.Jobs...)
	for i := range s.Jobs {
		told, has := lines.Project(&runs[site.Records[i]])
		if !has {
			continue
		}
		if told.Late {
			s.Late++
			continue
		}
		s.Carries[i] = s.tell(&s.Jobs[i], told)
	}
	return s
}

// tell gives a job a line; false where it would change nothing on this machine.
func (s *Supposed) tell(j *workload.Job, told advise.Projection) bool {
	if told.Fewer > 0 {
		if told.Fewer >= j.Size {
			return false
		}
		j.Size = told.Fewer
		s.Fewer++
		return true
	}
	var (
		choices []core.EP
		work    []core.Time
	)
	for i, ep := range told.Choices {
		if ep.Peak() <= s.Machine.Nodes && ep.Total() <= workload.MaxTime {
			choices, work = append(choices, ep), append(work, told.Runs[i])
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
