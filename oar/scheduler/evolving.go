package scheduler

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/policy"
	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/planner"
	"accordion/oar/tables"
)

// Under a policy that gives few jobs a reservation, most waiting evolving jobs have no place in OAR's tables. The
// sidecar starts such a job some seconds after enough nodes have become free. By then a pass could have given these
// nodes to jobs further behind. So, while a sidecar is alive, a pass keeps nodes for these jobs in their turn. If the
// sidecar does not use the nodes in time, a pass gives them to other jobs. The sidecar has more information, and may
// have had a reason not to start the job.

// sidecarLead is how many seconds a pass keeps newly free nodes for the sidecar. The sidecar is notified of a job's
// end immediately, reads OAR at most a second later ([plan] interval), and launches without a pass. A longer lead
// would leave nodes idle after each job's end, for jobs that the sidecar does not start yet. The reason is that the
// sidecar expects ordinary jobs to end later than a pass does.
const sidecarLead core.Time = 3

// sidecar has what a pass has read about the sidecar and about nodes that have become free.
type sidecar struct {
	lives         bool
	second        core.Time // the time of reading by the database's clock; the second of a pass may be up to two seconds later
	recentlyFreed []int64   // resources that became free within sidecarLead
}

// readSidecar reads s.sidecar, if evolving jobs wait and the policy gives few jobs a reservation.
func (d store) readSidecar(ctx context.Context, s *state, by policy.Policy) error {
	_, few := policy.Patient(by)
	if !few || s.orders == nil || !slices.ContainsFunc(s.waiting, func(w *waiting) bool { return profiles(w.types) != nil }) {
		return nil
	}
	now, err := d.Second(ctx, d.Sql)
	if err != nil {
		return err
	}
	s.sidecar.second = now
	if s.sidecar.lives, err = d.Leased(ctx, s.queue, now); err != nil || !s.sidecar.lives {
		return err
	}
	// The table has no index on end times, so only the latest 20,000 jobs are searched. The nodes of an older job that has just ended are
	// not kept for the sidecar.
	const latest = 20_000
	query := fmt.Sprintf(`SELECT DISTINCT a.resource_id FROM jobs j JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job
		WHERE j.job_id > (SELECT MAX(k.job_id) - %d FROM jobs k) AND j.stop_time >= %d AND j.state IN ('Terminated', 'Error')`, latest, now-sidecarLead)
	return database.Rows(ctx, d.Sql, "what has become free", query, nil, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		s.sidecar.recentlyFreed = append(s.sidecar.recentlyFreed, id)
		return err
	})
}

// turns returns the evolving jobs that wait for the sidecar, and for whose start the sidecar has made no reservation yet.
func (t *translator) turns(ctx context.Context) (all []planner.Job) {
	_, few := policy.Patient(t.planner)
	each, known := t.properties["network_address"]
	if !few || !known || !t.state.sidecar.lives {
		return nil
	}
	kept := map[string]bool{}
	for _, r := range t.state.orders.Reservations {
		kept[r.Name] = true
	}
	for _, w := range t.state.waiting {
		o, adopted := t.state.orders.Jobs[w.id]
		choices := profiles(w.types)
		if choices == nil || !adopted && !t.state.sidecar.mayBeUnseen(w.submitted) || o.Base != 0 || o.Released || kept[tables.StartReservation(w.id)] || t.mustWait(w) {
			continue
		}
		if tree, err := t.tree(ctx, w, w.choices[0].groups[0], []planner.Property{each}); err == nil {
			all = append(all, planner.Job{ID: w.id, Submit: w.submitted, Profiles: t.withoutReserved(w.id, early(choices, conf.LateKill)), Hosts: tree})
		}
	}
	return all
}

// early returns the profiles with each growth moved `by` seconds earlier; shrinks keep their times. For a growth, the
// sidecar counts on another job's nodes only from `by` seconds after the end of that job's walltime. Otherwise a pass
// would keep nodes for a job that the sidecar cannot start yet.
func early(choices []core.EP, by core.Time) []core.EP {
	all := make([]core.EP, len(choices))
	for i, ep := range choices {
		var changes []core.Time
		for _, begin := range begins(ep) {
			changes = append(changes, begin, begin-by)
		}
		all[i] = stepped(ep.Total(), changes, func(at core.Time) int { return mostNodes(ep, at, at+by) })
	}
	return all
}

// begins returns the seconds in which a profile's steps begin.
func begins(ep core.EP) (all []core.Time) {
	begin := core.Time(0)
	for _, step := range ep {
		all = append(all, begin)
		begin += step.Duration
	}
	return all
}

// stepped returns a profile of length `total` in which a step begins at each of `changes`. `nodes` returns the size at a second.
func stepped(total core.Time, changes []core.Time, nodes func(at core.Time) int) (ep core.EP) {
	changes = slices.DeleteFunc(append(changes, 0), func(at core.Time) bool { return at < 0 || at >= total })
	slices.Sort(changes)
	changes = append(slices.Compact(changes), total)
	for k, at := range changes[:len(changes)-1] {
		ep = append(ep, core.Step{Duration: changes[k+1] - at, Nodes: nodes(at)})
	}
	return ep
}

// withoutReserved returns the profiles without the hosts that the sidecar has already reserved for the job's later steps. The sidecar
// reserves these before it reserves the hosts for the start. A pass between the two reservations would otherwise count the job's hosts
// twice. Each step keeps at least one node.
func (t *translator) withoutReserved(job int64, choices []core.EP) []core.EP {
	var own []tables.Reservation
	for _, r := range t.state.orders.Reservations {
		if tables.IsReservationOf(r.Name, job) {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		return choices
	}
	all := make([]core.EP, len(choices))
	for i, ep := range choices {
		changes := begins(ep)
		for _, r := range own {
			changes = append(changes, r.From-t.now, r.To-t.now)
		}
		all[i] = stepped(ep.Total(), changes, func(at core.Time) int { return max(mostNodes(ep, at, at)-t.keptAt(own, t.now+at), 1) })
	}
	return all
}

// keptAt returns how many hosts the reservations have at a second.
func (t *translator) keptAt(reservations []tables.Reservation, at core.Time) int {
	hosts, of := map[int32]bool{}, t.properties["network_address"]
	for _, r := range reservations {
		for _, id := range t.state.orders.Places[r.Holder] {
			if i, known := t.index[id]; known && r.From <= at && at < r.To {
				hosts[of[i]] = true
			}
		}
	}
	return len(hosts)
}

// mostNodes returns the maximum size of a profile between two of its seconds, both included.
func mostNodes(ep core.EP, from, to core.Time) (nodes int) {
	begin := core.Time(0)
	for _, step := range ep {
		if begin <= to && begin+step.Duration > from {
			nodes = max(nodes, step.Nodes)
		}
		begin += step.Duration
	}
	return nodes
}

// mayBeUnseen reports whether a job was submitted so recently that the sidecar may not have seen it.
func (s sidecar) mayBeUnseen(submitted core.Time) bool { return submitted >= s.second-sidecarLead }

// mustWait reports whether a job must not start now, or has a type that this scheduler does not support.
func (t *translator) mustWait(w *waiting) bool {
	others := slices.DeleteFunc(slices.Clone(w.types), isSidecarType)
	kind, err := ReadTypes(others)
	return err != nil || kind.Postpone > t.now || len(w.choices) == 0 || len(w.choices[0].groups) != 1 ||
		slices.ContainsFunc(w.after, func(on dependency) bool { return on.state != "Terminated" && on.state != "Error" })
}

// recentlyFreed returns the resources that became free less than sidecarLead ago, as a set for n resources.
func (t *translator) recentlyFreed(n int) planner.Set {
	set := planner.NewSet(n)
	for _, id := range t.state.sidecar.recentlyFreed {
		if i, known := t.index[id]; known {
			set.Add(i)
		}
	}
	return set
}

// queue returns the jobs that a pass plans and the evolving jobs for which it only keeps nodes, in the order of their
// IDs.
func (p *problem) queue() []planner.Job {
	all := slices.Concat(p.jobs, p.turns)
	slices.SortStableFunc(all, func(a, b planner.Job) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// withoutTurns returns the places of the jobs that a pass plans. It leaves out the places of evolving jobs, which are not written. `missed`
// contains the evolving jobs that the sidecar could have started earlier but has not started.
func (p *problem) withoutTurns(now core.Time, plan []planner.Placed) (own []planner.Placed, missed map[int64]bool) {
	missed = map[int64]bool{}
	its, lately := map[int64]bool{}, map[int64]bool{}
	for _, j := range p.turns {
		its[j.ID], lately[j.ID] = true, p.sidecar.mayBeUnseen(j.Submit)
	}
	for _, one := range plan {
		switch {
		case !its[one.Job]:
			own = append(own, one)
		case one.Why == "" && one.Start <= now && !lately[one.Job] && !one.Resources.Meets(p.recentlyFreed):
			missed[one.Job] = true
		}
	}
	return own, missed
}
