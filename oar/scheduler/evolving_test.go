package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/policy"
	"accordion/oar/tables"
)

// The cluster has two hosts of two cores, and a host with a core that is not Alive. It is second 100000. Job 1 is evolving, and was
// submitted before the other jobs.
func TestAnEvolvingJobHasItsTurnInAPass(t *testing.T) {
	const now = 100000
	whole := func(id int64, walltime core.Time, hosts int) *waiting {
		return request(id, walltime, level{"network_address", hosts})
	}
	cores := func(id int64, walltime core.Time, n int) *waiting {
		return request(id, walltime, level{"resource_id", n})
	}
	young := func(tr *translator) { // no job is due for a reservation
		tr.state.waiting[0].submitted, tr.state.waiting[1].submitted = now-500, now-450
	}
	until := func(at core.Time) claim { // includes the pause between two jobs
		return claim{job: 9, state: "Running", from: now - 100, walltime: at - now + 95, resources: []int64{10, 20}}
	}
	runs := claim{job: 9, state: "Running", from: now - 100, walltime: 395, resources: []int64{10, 20}} // holds n1 until 100300, including the pause between two jobs
	for _, c := range []struct {
		name          string
		policy        string
		profile       string
		others        []*waiting
		claims        []claim
		recentlyFreed []int64
		change        func(*translator)
		want          string // where the other jobs are planned
	}{
		{name: "who came behind it leaves it what has just become free", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 at 600 on [10 20]"},
		{name: "… also by cores", profile: "2x600s", others: []*waiting{cores(2, 60, 1), cores(3, 60, 4)}, recentlyFreed: []int64{20}, want: "2 now on [50], 3 at 600 on [10 20 30 40]"},
		{name: "… though it needs no more than a part at first", profile: "1x60s,2x600s", others: []*waiting{whole(2, 600, 1), whole(3, 30, 1)}, recentlyFreed: []int64{10}, want: "2 at 660 on [10 20], 3 now on [30 40]"},
		{name: "… also by cores", profile: "1x60s,2x600s", others: []*waiting{cores(2, 600, 2), cores(3, 30, 2)}, recentlyFreed: []int64{10}, want: "2 at 660 on [10 20], 3 now on [30 40]"},
		{name: "what was there before the sidecar has had the time to take", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, want: "2 now on [10 20]"},
		{name: "a job of this moment it may not have seen", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, want: "2 at 600 on [10 20]",
			change: func(tr *translator) { tr.state.waiting[0].submitted = now - 1; delete(tr.state.orders.Jobs, 1) }},
		{name: "… which a pass may plan for a later second than it is", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, want: "2 at 600 on [10 20]",
			change: func(tr *translator) {
				tr.state.waiting[0].submitted, tr.state.sidecar.second = now-5, now-2
				delete(tr.state.orders.Jobs, 1)
			}},
		{name: "… and it has seen one of before, and left it to OAR", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, want: "2 now on [10 20]",
			change: func(tr *translator) { tr.state.waiting[0].submitted = now - 4; delete(tr.state.orders.Jobs, 1) }},
		{name: "no sidecar lives", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 now on [10 20]",
			change: func(tr *translator) { tr.state.sidecar.lives = false }},
		{name: "it has it by this policy only", policy: "repeated", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 now on [10 20]"},
		{name: "it is released, and nothing is free for it", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, claims: []claim{runs}, want: "2 now on [30 40]",
			change: func(tr *translator) {
				tr.state.orders.Jobs[1], tr.state.orders.Places[1] = tables.Order{Released: true, State: "Waiting"}, []int64{10, 20}
			}},
		{name: "it does not fit: the first that is due has the reservation", profile: "2x600s", others: []*waiting{whole(2, 600, 1), whole(3, 290, 1)}, claims: []claim{runs}, want: "3 now on [30 40]"},
		{name: "… also by cores", profile: "2x600s", others: []*waiting{cores(2, 600, 2), cores(3, 290, 2)}, claims: []claim{runs}, want: "3 now on [30 40]"},
		{name: "… and not who is not due", policy: "patient", profile: "2x600s", others: []*waiting{whole(2, 600, 1), whole(3, 290, 1)}, claims: []claim{runs}, want: "2 at 295 on [30 40], 3 now on [30 40]",
			change: func(tr *translator) { tr.state.waiting[0].submitted = now - 1100 }},
		{name: "a growth to come is in the way as long as it lasts", profile: "1x330s,2x270s", others: []*waiting{whole(2, 400, 1), whole(3, 250, 1)}, claims: []claim{runs}, recentlyFreed: []int64{30}, want: "2 at 600 on [10 20]"},
		{name: "… for which the sidecar counts on no node that may be late", policy: "patient", change: young, profile: "1x300s,2x300s", others: []*waiting{whole(2, 250, 1)}, claims: []claim{until(now + 295)}, recentlyFreed: []int64{30}, want: "2 now on [30 40]"},
		{name: "… and on one that is free in time", policy: "patient", change: young, profile: "1x300s,2x300s", others: []*waiting{whole(2, 250, 1)}, claims: []claim{until(now + 288)}, recentlyFreed: []int64{30}, want: ""},
		{name: "the sidecar has reserved for it, and nothing is kept twice", profile: "2x600s", others: []*waiting{whole(2, 600, 1)}, claims: []claim{runs}, want: "2 now on [30 40]",
			change: func(tr *translator) {
				tr.state.orders.Reservations = []tables.Reservation{{Name: "accordion-1-0", From: now + 3000, To: now + 4000, Holder: 8}}
				tr.state.orders.Places[8] = []int64{10, 20, 30, 40}
			}},
		{name: "the sidecar has reserved for its later steps, and is about to for its start", policy: "patient", profile: "1x60s,2x600s",
			others: []*waiting{whole(2, 250, 1)}, recentlyFreed: []int64{10, 20, 30, 40}, want: "", change: func(tr *translator) {
				young(tr)
				tr.state.orders.Reservations = []tables.Reservation{{Name: "accordion-1-1", From: now - 1, To: now + 4000, Holder: 8}}
				tr.state.orders.Places[8] = []int64{30, 40}
			}},
		{name: "… and not for another's", policy: "patient", profile: "1x60s,2x600s",
			others: []*waiting{whole(2, 250, 1)}, recentlyFreed: []int64{10, 20, 30, 40}, want: "2 now on [10 20]", change: func(tr *translator) {
				young(tr)
				tr.state.orders.Reservations = []tables.Reservation{{Name: "accordion-11-1", From: now - 1, To: now + 4000, Holder: 8}}
				tr.state.orders.Places[8] = []int64{30, 40}
			}},
		{name: "it waits for another job", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 now on [10 20]",
			change: func(tr *translator) { tr.state.waiting[0].after = []dependency{{7, "Running"}} }},
		{name: "it is not to begin yet", profile: "2x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 now on [10 20]",
			change: func(tr *translator) {
				tr.state.waiting[0].types = append(tr.state.waiting[0].types, "postpone=2038-01-01 00:00:00")
			}},
		{name: "it never fits", profile: "3x600s", others: []*waiting{whole(2, 60, 1)}, recentlyFreed: []int64{20}, want: "2 now on [10 20]"},
	} {
		evolves := whole(1, 600, 1)
		evolves.types = []string{"ep=" + c.profile}
		tr := cluster(append([]*waiting{evolves}, c.others...)...)
		by, err := policy.Pass("easy-evolving")
		if c.policy != "" {
			by, err = policy.Pass(c.policy)
		}
		if err != nil {
			t.Fatal(err)
		}
		tr.planner, tr.now, tr.state.claims = by, now, c.claims
		tr.state.orders = &tables.Orders{Jobs: map[int64]tables.Order{1: {State: "Waiting"}}, Places: map[int64][]int64{}}
		tr.state.sidecar = sidecar{lives: true, second: now, recentlyFreed: c.recentlyFreed}
		for i, w := range tr.state.waiting {
			w.submitted = now - 5000 + core.Time(i)
		}
		if c.change != nil {
			c.change(tr)
		}
		p, err := tr.translate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range p.planned(t, now) {
			if one.Why == "" {
				at := "now"
				if one.Start > now {
					at = fmt.Sprint("at ", one.Start-now)
				}
				got = append(got, fmt.Sprint(one.Job, " ", at, " on ", fmt.Sprint(p.names(one.Resources))))
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: planned are %q, want %q", c.name, text, c.want)
		}
	}
}

func TestAJobAsksForNothingThatIsKeptForItAlready(t *testing.T) {
	for _, c := range []struct {
		profile  string
		from, to core.Time // times of the reservation of n1 and n2, relative to `now`
		want     string
	}{
		{"3x8s,4x6s,1x10s", -1, 100, "1x8s,2x6s,1x10s"},
		{"3x8s,4x6s,1x10s", 8, 14, "3x8s,2x6s,1x10s"},
		{"4x20s", 5, 12, "4x5s,2x7s,4x8s"},
		{"4x20s", 20, 30, "4x20s"},
		{"4x20s", -5, 0, "4x20s"},
	} {
		tr := cluster()
		tr.state.orders = &tables.Orders{Places: map[int64][]int64{8: {10, 20, 30}}}
		tr.state.orders.Reservations = []tables.Reservation{{Name: "accordion-1-1", From: tr.now + c.from, To: tr.now + c.to, Holder: 8}}
		if _, err := tr.translate(t.Context()); err != nil {
			t.Fatal(err)
		}
		choices, err := moldable.ParseProfiles(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.withoutReserved(1, choices)[0].String(); got != c.want {
			t.Errorf("of %s two hosts are kept from %d to %d: it asks for %s beyond, want %s", c.profile, c.from, c.to, got, c.want)
		}
	}
}

func TestAGrowthIsPlannedEarlierAndAShrinkIsNot(t *testing.T) {
	for text, want := range map[string]string{
		"2x600s":            "2x600s",
		"1x300s,2x300s":     "1x288s,2x312s",
		"2x300s,1x300s":     "2x300s,1x300s",
		"1x13s,2x5s,4x5s":   "1x1s,2x5s,4x17s",
		"1x5s,2x5s,4x5s":    "4x15s",
		"2x20s,1x5s,4x20s":  "2x13s,4x32s",
		"4x20s,1x30s,3x20s": "4x20s,1x18s,3x32s",
	} {
		choices, err := moldable.ParseProfiles(text)
		if err != nil {
			t.Fatal(err)
		}
		got := early(choices, 12)
		if len(got) != 1 || plainly(got[0]) != want || got[0].Total() != choices[0].Total() {
			t.Errorf("%s is planned as %v, want %s", text, got, want)
		}
	}
}

// plainly returns a profile in which consecutive steps of the same size are joined.
func plainly(ep core.EP) string {
	var all core.EP
	for _, s := range ep {
		if last := len(all) - 1; last >= 0 && all[last].Nodes == s.Nodes {
			all[last].Duration += s.Duration
			continue
		}
		all = append(all, s)
	}
	return all.String()
}
