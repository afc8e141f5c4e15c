package slurm

import (
	"context"
	"slices"
	"time"

	"accordion/adapter"
)

// A merge makes slurmctld count the expander as a running job of its association and QOS for ever: with a limit on jobs its owner is
// locked out after some growths. Only reading the configuration again (`scontrol reconfigure`) counts anew. That is done
// when no managed job runs, or at once when a limit on jobs is near; not oftener than Config.Reconfigure and countsEvery allow.

// countsEvery is the least pause between two such readings that nobody is in need of.
const countsEvery = 10 * time.Minute

// near is how many jobs short of a limit its user is in need.
const near = 2

// miscounted is how many more jobs run by slurmctld's count than there are.
func (p policies) miscounted(jobs []record) int64 {
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

// pressed says whether the owner of a managed job may soon be kept from running or submitting another one.
func (p policies) pressed(jobs []record) bool {
	return slices.ContainsFunc(jobs, func(r record) bool {
		return adapter.RequestOf(&r.Job) != "" && slices.ContainsFunc(p.over(&r), func(l limits) bool {
			close := func(b bound) bool { return b.limit >= 0 && b.limit-b.used <= near }
			return close(l.jobs) || close(l.submits)
		})
	})
}

// A miscount is what was last seen of it.
type miscount struct {
	at   time.Time // when associations were read
	jobs int64
	seen int // readings in a row that saw no less
}

// see takes in another reading of associations and says whether the miscount is certain: a job may begin or end between two
// readings of the same moment.
func (m *miscount) see(at time.Time, jobs int64) bool {
	if at.Equal(m.at) {
		return false
	}
	if jobs <= 0 || jobs < m.jobs {
		m.seen = 0
	}
	m.at, m.jobs = at, jobs
	m.seen++
	return jobs > 0 && m.seen > 2
}

// recount has slurmctld count its jobs anew where that is due. What fails is tried again after the next reading.
func (s *System) recount(ctx context.Context, rules policies, jobs []record) {
	s.mu.Lock()
	certain := s.miscount.see(s.rulesAt, rules.miscounted(jobs))
	s.mu.Unlock()
	if !certain || slices.ContainsFunc(jobs, func(r record) bool { return r.role() == expander && r.State == adapter.Running }) {
		return
	}
	calm := !slices.ContainsFunc(jobs, func(r record) bool { return r.State == adapter.Running && adapter.RequestOf(&r.Job) != "" })
	s.mending.Lock()
	rested := time.Since(s.reconfigured) >= min(countsEvery, 10*s.config.Reconfigure)
	s.mending.Unlock()
	if calm && rested || rules.pressed(jobs) {
		_ = s.reconfigure(ctx)
	}
}

// counting says whether slurmctld was last seen to count jobs that are not there.
func (s *System) counting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.miscount.jobs > 0
}
