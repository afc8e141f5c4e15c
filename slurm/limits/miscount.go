package limits

import (
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// Miscounted returns by how many jobs slurmctld's count of running jobs is too high.
func (p Policies) Miscounted(jobs []output.Record) int64 {
	i := slices.IndexFunc(p.associations, func(a association) bool { return a.parent == "" && a.user == "" })
	if i < 0 {
		return 0
	}
	n := p.associations[i].running.used
	for _, r := range jobs {
		if r.State == adapter.Running {
			n--
		}
	}
	return n
}

// NearLimit reports whether a limit may soon prevent the owner of a managed job from running or submitting another
// job.
func (p Policies) NearLimit(jobs []output.Record) bool {
	return slices.ContainsFunc(jobs, func(r output.Record) bool {
		return adapter.RequestOf(&r.Job) != "" && slices.ContainsFunc(p.over(&r), func(l Set) bool {
			close := func(b bound) bool { return b.limit >= 0 && b.limit-b.used <= nearMargin }
			return close(l.jobs) || close(l.submits)
		})
	})
}

// nearMargin is how many more jobs a limit may allow at most so that the usage counts as near the limit.
const nearMargin = 2

// A Miscount is the miscount that was last seen.
type Miscount struct {
	at   time.Time // when associations were last read
	Jobs int64
	seen int // number of consecutive readings with at least as many miscounted jobs
}

// Record records the miscount of a reading of associations, and reports whether it is certain. After a single
// reading it is not certain, because a job may start or end between the queries for associations and for jobs.
func (m *Miscount) Record(at time.Time, jobs int64) bool {
	if at.Equal(m.at) {
		return false
	}
	if jobs <= 0 || jobs < m.Jobs {
		m.seen = 0
	}
	m.at, m.Jobs = at, jobs
	m.seen++
	return jobs > 0 && m.seen > 2
}
