package limits

import (
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// Miscounted returns how many more jobs slurmctld counts as running than there are.
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

// NearLimit reports whether the owner of a managed job may soon be unable to run or submit another one.
func (p Policies) NearLimit(jobs []output.Record) bool {
	return slices.ContainsFunc(jobs, func(r output.Record) bool {
		return adapter.RequestOf(&r.Job) != "" && slices.ContainsFunc(p.over(&r), func(l Set) bool {
			close := func(b bound) bool { return b.limit >= 0 && b.limit-b.used <= nearMargin }
			return close(l.jobs) || close(l.submits)
		})
	})
}

// nearMargin is how many jobs below a limit count as near it.
const nearMargin = 2

// A Miscount is the last seen miscount.
type Miscount struct {
	at   time.Time // when associations were read
	Jobs int64
	seen int // consecutive readings that saw no fewer
}

// Record records a reading of associations and reports whether the miscount is certain. A job may start or end between
// two readings of one moment.
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
