package limits

import (
	"slices"
	"time"

	"accordion/adapter"
	"accordion/slurm/output"
)

// Miscounted is how many more jobs run by slurmctld's count than there are.
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

// Pressed says whether the owner of a managed job may soon be kept from running or submitting another one.
func (p Policies) Pressed(jobs []output.Record) bool {
	return slices.ContainsFunc(jobs, func(r output.Record) bool {
		return adapter.RequestOf(&r.Job) != "" && slices.ContainsFunc(p.over(&r), func(l Set) bool {
			close := func(b bound) bool { return b.limit >= 0 && b.limit-b.used <= near }
			return close(l.jobs) || close(l.submits)
		})
	})
}

// near is how many jobs short of a limit its user is in need.
const near = 2

// A Miscount is what was last seen of it.
type Miscount struct {
	at   time.Time // when associations were read
	Jobs int64
	seen int // readings in a row that saw no less
}

// See takes in another reading of associations and says whether the miscount is certain: a job may begin or end between two
// readings of the same moment.
func (m *Miscount) See(at time.Time, jobs int64) bool {
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
