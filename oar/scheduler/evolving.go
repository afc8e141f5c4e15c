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

// Under a policy by which few jobs have a reservation most evolving jobs that wait have no place in OAR's tables. A pass gives them their
// turn all the same, as long as a sidecar lives: it is to start them, and comes some seconds after nodes have become free, when a pass has
// already given these to whoever was behind. What it has had the time to take and has not taken, others may have: it knows more of such a job
// than a pass does.

// leaves is for how many seconds a pass leaves to the sidecar what has become free. It hears of a job's end at once, looks a second later at most
// ([plan] interval), and launches without a pass. To leave it more than it needs is to leave nodes idle, each time that a job ends, for those
// that it does not begin: it counts on ordinary jobs to end later than a pass does.
const leaves core.Time = 3

// sidecar is what a pass knows of it.
type sidecar struct {
	lives  bool
	second core.Time // in which it was looked at, by the database's clock: the second of a pass may be two ahead of it
	fresh  []int64   // resources that became free in the last moment
}

// readSidecar reads it where evolving jobs wait that the policy has to give their turn.
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
	// There is no index of ends. Jobs that are older than so many others are left out: what they had is for everybody at once.
	const latest = 20_000
	query := fmt.Sprintf(`SELECT DISTINCT a.resource_id FROM jobs j JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job
		WHERE j.job_id > (SELECT MAX(k.job_id) - %d FROM jobs k) AND j.stop_time >= %d AND j.state IN ('Terminated', 'Error')`, latest, now-leaves)
	return database.Rows(ctx, d.Sql, "what has become free", query, nil, func(r *sql.Rows) error {
		var id int64
		err := r.Scan(&id)
		s.sidecar.fresh = append(s.sidecar.fresh, id)
		return err
	})
}

// turns is the evolving jobs that wait for the sidecar and for which it keeps nothing yet.
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
		if choices == nil || !adopted && !t.state.sidecar.isNew(w.submitted) || o.Base != 0 || o.Released || kept[tables.FirstOf(w.id)] || t.waits(w) {
			continue
		}
		if tree, err := t.tree(ctx, w, w.choices[0].groups[0], []planner.Property{each}); err == nil {
			all = append(all, planner.Job{ID: w.id, Submit: w.submitted, Profiles: t.beyond(w.id, early(choices, conf.LateKill)), Hosts: tree})
		}
	}
	return all
}

// early is profiles that grow so many seconds earlier than they say, and shrink when they say. The sidecar counts on nobody's nodes for a growth before
// so long after his walltime. A pass that did would keep nodes for a job that the sidecar cannot begin.
func early(choices []core.EP, by core.Time) []core.EP {
	all := make([]core.EP, len(choices))
	for i, ep := range choices {
		var changes []core.Time
		for _, begin := range begins(ep) {
			changes = append(changes, begin, begin-by)
		}
		all[i] = stepped(ep.Total(), changes, func(at core.Time) int { return most(ep, at, at+by) })
	}
	return all
}

// begins are the seconds in which a profile's steps begin.
func begins(ep core.EP) (all []core.Time) {
	begin := core.Time(0)
	for _, step := range ep {
		all = append(all, begin)
		begin += step.Duration
	}
	return all
}

// stepped is a profile that is so long, and has a step from each of some seconds on, with as many nodes as are said for that second.
func stepped(total core.Time, changes []core.Time, nodes func(at core.Time) int) (ep core.EP) {
	changes = slices.DeleteFunc(append(changes, 0), func(at core.Time) bool { return at < 0 || at >= total })
	slices.Sort(changes)
	changes = append(slices.Compact(changes), total)
	for k, at := range changes[:len(changes)-1] {
		ep = append(ep, core.Step{Duration: changes[k+1] - at, Nodes: nodes(at)})
	}
	return ep
}

// beyond is what profiles ask for from now on beyond the hosts that the sidecar keeps for the job's later steps: it keeps these before it keeps
// those of the start, and a pass between the two must not take the job's own reservation for another's. A step asks for one node at least.
func (t *translator) beyond(job int64, choices []core.EP) []core.EP {
	var own []tables.Reservation
	for _, r := range t.state.orders.Reservations {
		if tables.IsOf(r.Name, job) {
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
		all[i] = stepped(ep.Total(), changes, func(at core.Time) int { return max(most(ep, at, at)-t.keptAt(own, t.now+at), 1) })
	}
	return all
}

// keptAt is how many hosts some reservations have at a second.
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

// most is how many nodes a profile has at most from one of its seconds to another, both included.
func most(ep core.EP, from, to core.Time) (nodes int) {
	begin := core.Time(0)
	for _, step := range ep {
		if begin <= to && begin+step.Duration > from {
			nodes = max(nodes, step.Nodes)
		}
		begin += step.Duration
	}
	return nodes
}

// isNew says whether a job was submitted so lately that the sidecar may not have seen it.
func (s sidecar) isNew(submitted core.Time) bool { return submitted >= s.second-leaves }

// waits says whether a job is not to begin now, or asks for what is not known here.
func (t *translator) waits(w *waiting) bool {
	others := slices.DeleteFunc(slices.Clone(w.types), isSidecars)
	kind, err := ReadTypes(others)
	return err != nil || kind.Postpone > t.now || len(w.choices) == 0 || len(w.choices[0].groups) != 1 ||
		slices.ContainsFunc(w.after, func(on dependency) bool { return on.state != "Terminated" && on.state != "Error" })
}

// fresh is what became free in the last moment, of so many resources.
func (t *translator) fresh(n int) planner.Set {
	set := planner.NewSet(n)
	for _, id := range t.state.sidecar.fresh {
		if i, known := t.index[id]; known {
			set.Add(i)
		}
	}
	return set
}

// queue is the jobs that a pass plans, and those that have their turn among them, in the order of their numbers.
func (p *problem) queue() []planner.Job {
	all := slices.Concat(p.jobs, p.turns)
	slices.SortStableFunc(all, func(a, b planner.Job) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// withoutTurns is the places of the jobs that a pass plans. What is kept for those others is not written; missed is those for which all was there
// before, and the sidecar has not begun them.
func (p *problem) withoutTurns(now core.Time, plan []planner.Placed) (own []planner.Placed, missed map[int64]bool) {
	missed = map[int64]bool{}
	its, lately := map[int64]bool{}, map[int64]bool{}
	for _, j := range p.turns {
		its[j.ID], lately[j.ID] = true, p.sidecar.isNew(j.Submit)
	}
	for _, one := range plan {
		switch {
		case !its[one.Job]:
			own = append(own, one)
		case one.Why == "" && one.Start <= now && !lately[one.Job] && !one.Resources.Meets(p.fresh):
			missed[one.Job] = true
		}
	}
	return own, missed
}
