package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/oar/tables"
)

// hosts8 draws a cluster of eight hosts of one core each. Some hosts are not Alive. It has running jobs, reservations, decisions of the
// sidecar, and jobs that only the pass plans.
func hosts8(t *rapid.T) *translator {
	const hosts = 8
	tr := cluster()
	s := tr.state
	s.resources = nil
	everything := eligible{}
	for id := int64(1); id <= hosts; id++ {
		s.resources = append(s.resources, resource{id: id, alive: rapid.IntRange(0, 29).Draw(t, "alive") > 0, values: []string{fmt.Sprint("n", id)}})
		everything.resources = append(everything.resources, id)
	}
	tr.eligible.found["(1 = 1) AND (type = 'default')"] = everything
	some := func(least int) []int64 {
		return rapid.SliceOfNDistinct(rapid.Int64Range(1, hosts), least, 4, rapid.ID).Draw(t, "hosts")
	}
	second := func(name string) core.Time { return tr.now + rapid.Int64Range(-200, 300).Draw(t, name) }
	released := func() bool { return rapid.IntRange(0, 3).Draw(t, "released") < 3 }
	length := func() core.Time { return rapid.Int64Range(1, 300).Draw(t, "length") }

	o := &tables.Orders{Jobs: map[int64]tables.Order{}, Places: map[int64][]int64{}}
	s.orders = o
	free := everything.resources
	for n := range rapid.IntRange(0, 3).Draw(t, "claims") {
		if len(free) == 0 {
			break
		}
		cut := rapid.IntRange(1, min(3, len(free))).Draw(t, "claimed")
		s.claims = append(s.claims, claim{job: int64(900 + n), state: "Running", from: second("claim"), walltime: length(), resources: free[:cut]})
		free = free[cut:]
	}
	var id int64
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		id++
		from := second("reservation")
		o.Reservations = append(o.Reservations, tables.Reservation{Name: fmt.Sprint("r", id), From: from, To: from + length(), Idle: rapid.SampledFrom([]core.Time{0, 60}).Draw(t, "idle"), Holder: id})
		o.Places[id] = some(0)
		s.waiting = append(s.waiting, request(id, length(), level{"network_address", max(1, len(o.Places[id]))}))
	}
	for range rapid.IntRange(0, 5).Draw(t, "evolving") {
		id++
		base := id
		wait := rapid.IntRange(0, 3).Draw(t, "waits") > 0
		one := tables.Order{State: rapid.SampledFrom([]string{"Running", "Finishing", "Hold", "Launching"}).Draw(t, "state"), Reservation: rapid.SampledFrom([]string{"", "r1", "r1"}).Draw(t, "in")}
		if wait {
			one.State, one.Released = "Waiting", released()
			o.Places[id] = some(1)
			s.waiting = append(s.waiting, request(id, length(), level{"network_address", rapid.SampledFrom([]int{1, max(1, len(o.Places[id])), max(1, len(o.Places[id]))}).Draw(t, "nodes")}))
		}
		o.Jobs[id] = one
		for range rapid.IntRange(0, 2).Draw(t, "companions") {
			id++
			o.Jobs[id] = tables.Order{Base: base, Released: released(), State: "Waiting"}
			o.Places[id] = some(1)
			s.waiting = append(s.waiting, request(id, length(), level{"network_address", len(o.Places[id])}))
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "others") {
		id++
		s.waiting = append(s.waiting, request(id, length(), level{"network_address", rapid.IntRange(1, hosts).Draw(t, "nodes")}))
	}
	return tr
}

// use states that a job has a resource for some time.
type use struct {
	of       int64
	resource int64
	from, to core.Time
}

func (a use) meets(b use) bool { return a.resource == b.resource && a.from < b.to && b.from < a.to }

// The test checks the written plan second by second and host by host, independently of how it was made.
func TestNothingStartsWhereTheSidecarOrOARSaysOtherwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := hosts8(t)
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		plan := p.plan(tr.now, func() bool { return false })
		if err := p.check(tr.now, plan); err != nil {
			t.Fatal(err)
		}
		out := decided(tr.state, p, plan)
		o := tr.state.orders

		var inTheWay, ours []use
		for _, c := range tr.state.claims {
			for _, r := range c.resources {
				inTheWay = append(inTheWay, use{c.job, r, c.from, c.from + c.walltime + tr.conf.SecurityTime})
			}
		}
		jobs := map[int64]*waiting{}
		for _, w := range tr.state.waiting {
			jobs[w.choices[0].id] = w
		}
		started := map[int64]bool{}
		for i, rows := range [][]start{out.released, out.starts} {
			for _, s := range rows {
				w := jobs[s.moldable]
				if started[w.id] {
					t.Fatalf("job %d is in the plan twice", w.id)
				}
				started[w.id] = true
				released := o.Jobs[w.id].Released
				if released != (i == 0) || !released && evolves(o, w) || o.Holders()[w.id] {
					t.Fatalf("job %d is planned, but another plans it", w.id)
				}
				if released && (s.at != tr.now || !slices.Equal(s.resources, slices.Sorted(slices.Values(o.Places[w.id])))) {
					t.Fatalf("released job %d is planned at %d on %v, want %d and %v", w.id, s.at, s.resources, tr.now, o.Places[w.id])
				}
				if len(s.resources) != w.choices[0].groups[0].levels[0].count || s.at < tr.now {
					t.Fatalf("job %d is planned at %d on %v", w.id, s.at, s.resources)
				}
				for _, r := range s.resources {
					if !tr.state.resources[r-1].alive {
						t.Fatalf("job %d is planned on host %d, which is not Alive", w.id, r)
					}
					one := use{w.id, r, s.at, s.at + lasts(tr, w, started)}
					for _, other := range slices.Concat(inTheWay, ours) {
						if one.meets(other) {
							t.Fatalf("jobs %d and %d are both planned on host %d", w.id, other.of, r)
						}
					}
					one.to += tr.conf.SecurityTime * core.Time(1-i)
					ours = append(ours, one)
				}
			}
		}
		wholeOrNot(t, tr, started)
		reservationsKept(t, tr, out, slices.Concat(inTheWay, ours))
	})
}

// lasts returns how long a job has its hosts for itself. That includes the pause between two jobs, except for a released job, which may
// start late. A companion does not last longer than its job.
func lasts(tr *translator, w *waiting, started map[int64]bool) core.Time {
	one := tr.state.orders.Jobs[w.id]
	length := w.choices[0].walltime
	if !one.Released {
		return length + tr.conf.SecurityTime
	}
	for _, other := range tr.state.waiting {
		if other.id == one.Base && started[one.Base] {
			length = min(length, other.choices[0].walltime)
		}
	}
	for _, c := range tr.state.claims {
		if c.job == one.Base {
			length = min(length, max(c.from+c.walltime-tr.now, 1))
		}
	}
	return length
}

// wholeOrNot checks that a job starts with all of its first companions, and a companion only together with its job.
func wholeOrNot(t *rapid.T, tr *translator, started map[int64]bool) {
	for id, one := range tr.state.orders.Jobs {
		if one.Base == 0 || !one.Released {
			continue
		}
		base := tr.state.orders.Jobs[one.Base]
		if begun := base.State == "Running" || base.State == "Launching"; started[id] && !begun && !started[one.Base] {
			t.Fatalf("companion %d is planned, and its job %d, which is %s, is not", id, one.Base, base.State)
		}
		if started[one.Base] && !started[id] {
			t.Fatalf("job %d is planned without its companion %d", one.Base, id)
		}
	}
}

// reservationsKept checks that the pass plans no job on a host while the host is reserved. Other queues must see all reserved hosts as
// taken for the whole time, by a job that OAR cannot start.
func reservationsKept(t *rapid.T, tr *translator, out outcome, uses []use) {
	o := tr.state.orders
	shownAs := map[int64]shown{}
	for _, s := range out.shown {
		shownAs[s.moldable] = s
	}
	for _, r := range o.Reservations {
		used := false
		for _, one := range o.Jobs {
			used = used || one.Reservation == r.Name && (one.Released || one.State == "Running" || one.State == "Launching" || one.State == "Finishing")
		}
		gone := r.To <= tr.now || r.Idle > 0 && tr.now > r.From+r.Idle && !used
		s, seen := shownAs[100+r.Holder]
		if gone && seen {
			t.Fatalf("reservation %s has ended, but is in the plan", r.Name)
		}
		if seen && (s.at <= tr.now || s.at < r.From || s.at+s.walltime != r.To) {
			t.Fatalf("reservation %s from %d to %d is in the plan from %d to %d; it is %d now", r.Name, r.From, r.To, s.at, s.at+s.walltime, tr.now)
		}
		if gone {
			continue
		}
		for _, host := range o.Places[r.Holder] {
			covered := slices.Contains(s.resources, host)
			for _, u := range uses {
				mine := u.of < 900 && !o.Jobs[u.of].Released
				if mine && u.meets(use{0, host, r.From, r.To}) {
					t.Fatalf("job %d is planned on host %d, which is reserved by %s", u.of, host, r.Name)
				}
				covered = covered || u.resource == host && u.from <= max(r.From, tr.now+1) && u.to >= r.To
			}
			if !covered && max(r.From, tr.now+1) < r.To {
				t.Fatalf("other queues do not see that host %d is reserved by %s", host, r.Name)
			}
		}
	}
}

func TestReservationEndsAtItsEndOrAfterItsIdleLimit(t *testing.T) {
	for _, test := range []struct {
		name string
		in   tables.Reservation
		jobs map[int64]tables.Order
		over bool
	}{
		{"to come", tables.Reservation{From: 2000, To: 3000, Idle: 50}, nil, false},
		{"past its end", tables.Reservation{From: 500, To: 1000}, nil, true},
		{"without a wish to end early", tables.Reservation{From: 500, To: 3000}, nil, false},
		{"nobody's yet", tables.Reservation{From: 950, To: 3000, Idle: 50}, nil, false},
		{"nobody's for too long", tables.Reservation{From: 949, To: 3000, Idle: 50}, nil, true},
		{"of a job that is held", tables.Reservation{From: 500, To: 3000, Idle: 50}, map[int64]tables.Order{7: {Reservation: "r", State: "Waiting"}}, true},
		{"of a job that its user holds", tables.Reservation{From: 500, To: 3000, Idle: 50}, map[int64]tables.Order{7: {Reservation: "r", State: "Hold"}}, true},
		{"of a released job", tables.Reservation{From: 500, To: 3000, Idle: 50}, map[int64]tables.Order{7: {Reservation: "r", State: "Waiting", Released: true}}, false},
		{"of a job that runs", tables.Reservation{From: 500, To: 3000, Idle: 50}, map[int64]tables.Order{7: {Reservation: "r", State: "Running"}}, false},
		{"of another job that runs", tables.Reservation{From: 500, To: 3000, Idle: 50}, map[int64]tables.Order{7: {Reservation: "s", State: "Running"}}, true},
	} {
		test.in.Name = "r"
		if got := (&tables.Orders{Jobs: test.jobs}).Over(test.in, 1000); got != test.over {
			t.Errorf("a reservation %s has ended: %t", test.name, got)
		}
	}
}

// A suspended job leaves resources of some types to other jobs until it resumes.
func TestASuspendedJobKeepsOnlyWhatOARSays(t *testing.T) {
	for _, test := range []struct {
		state string
		free  []string
		start core.Time
	}{
		{"Running", []string{"default"}, 1105},
		{"Suspended", []string{"default"}, 1000},
		{"Suspended", []string{"licence"}, 1105},
		{"Resuming", []string{"default"}, 1105},
	} {
		tr := cluster(request(1, 60, level{"network_address", 2}))
		tr.conf.SuspendedFree = test.free
		tr.state.claims = []claim{{job: 9, state: test.state, from: 900, walltime: 200, resources: []int64{10, 30}}}
		for i := range tr.state.resources {
			tr.state.resources[i].kind = "default"
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.plan(tr.now, func() bool { return false })[0]; got.Start != test.start {
			t.Errorf("next to a job that is %s and leaves %v, a job starts at %d, want %d", test.state, test.free, got.Start, test.start)
		}
	}
}

// A companion's walltime is longer than its job's, but the companion ends together with its job. A plan of another queue between these two
// times does not prevent the start.
func TestCompanionBlocksNobodyAfterItsJob(t *testing.T) {
	for _, test := range []struct {
		other core.Time // the start of the other queue's plan on the companion's host; the job ends at 1100
		begun bool
	}{{1100, true}, {1099, false}, {5000, true}} {
		tr := cluster(request(2, 3600, level{"network_address", 1}))
		tr.state.orders = &tables.Orders{
			Jobs:   map[int64]tables.Order{1: {State: "Running"}, 2: {Base: 1, Released: true, State: "Waiting"}},
			Places: map[int64][]int64{2: {30, 40}},
		}
		tr.state.claims = []claim{
			{job: 1, state: "Running", from: 900, walltime: 200, resources: []int64{10, 20}},
			{job: 3, state: "Waiting", from: test.other, walltime: 60, resources: []int64{30}},
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.check(tr.now, nil); err != nil {
			t.Fatal(err)
		}
		if got := decided(tr.state, p, nil).released; (len(got) == 1) != test.begun {
			t.Errorf("with another's plan from second %d on, begun are %v (%s); want %t", test.other, got, p.refuse[2], test.begun)
		}
	}
}
