package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
)

func TestAnUpdateOfAReservationHasOnlyTheChanges(t *testing.T) {
	now := time.Unix(1000, 0)
	base := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2", "n10"}, Start: 900, End: 2000, User: "ana"}
	with := func(change func(*adapter.Reservation)) adapter.Reservation {
		r := base
		change(&r)
		return r
	}
	future := with(func(r *adapter.Reservation) { r.Start = 1500 })
	for _, c := range []struct {
		name string
		old  *adapter.Reservation
		r    adapter.Reservation
		want string
	}{
		{"new, from now", nil, base, "Flags=OVERLAP StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, later", nil, future, "Flags=OVERLAP StartTime=uts1500 EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, over managed jobs", nil, with(func(r *adapter.Reservation) { r.OverManaged = true }),
			"Flags=OVERLAP,IGNORE_JOBS StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"new, for a start", nil, with(func(r *adapter.Reservation) { r.Idle = 60 }),
			"Flags=OVERLAP,PURGE_COMP=1 StartTime=now EndTime=uts2000 Users=ana Nodes=n[1-2,10]"},
		{"over managed jobs no more", new(with(func(r *adapter.Reservation) { r.OverManaged = true })), base, "Flags-=IGNORE_JOBS"},
		{"unchanged", &base, with(func(r *adapter.Reservation) { r.Nodes = []string{"n10", "n2", "n1"} }), ""},
		{"active: its start stays", &base, with(func(r *adapter.Reservation) { r.Start, r.End = 950, 2100 }), "EndTime=uts2100"},
		{"not begun: its start moves", &future, with(func(r *adapter.Reservation) { r.Start = 1600 }), "StartTime=uts1600"},
		{"other nodes", &base, with(func(r *adapter.Reservation) { r.Nodes = []string{"n3"} }), "Nodes=n3"},
	} {
		if got := strings.Join(reservationChanges(c.old, c.r, now), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNodesThatAnUpdateDoesNotCheckAreTriedFirst(t *testing.T) {
	now := time.Unix(1000, 0)
	old := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2"}, Start: 1500, End: 2000, User: "ana"}
	for _, c := range []struct {
		name   string
		change func(*adapter.Reservation)
		want   []string
	}{
		{"fewer nodes, later, longer", func(r *adapter.Reservation) { r.Nodes, r.Start, r.End = r.Nodes[:1], 1600, 3000 }, nil},
		{"a node more", func(r *adapter.Reservation) { r.Nodes = []string{"n1", "n2", "n3"} }, []string{"accordion-7-more n3 1500-2000"}},
		{"sooner", func(r *adapter.Reservation) { r.Start = 1200 }, []string{"accordion-7-sooner n1,n2 1200-1500"}},
		{"both", func(r *adapter.Reservation) { r.Nodes, r.Start = []string{"n2", "n3"}, 0 },
			[]string{"accordion-7-more n3 0-2000", "accordion-7-sooner n2 0-1500"}},
		{"both, over managed jobs", func(r *adapter.Reservation) { r.Nodes, r.Start, r.OverManaged = []string{"n3"}, 0, true }, nil},
	} {
		r := old
		c.change(&r)
		var got []string
		for _, p := range probes(old, r, now) {
			got = append(got, fmt.Sprintf("%s %s %d-%d", p.Name, strings.Join(p.Nodes, ","), p.Start, p.End))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReservationsOfOthersAreInTheWay(t *testing.T) {
	r := adapter.Reservation{Name: "accordion-7", Nodes: []string{"n1", "n2"}, Start: 1000, End: 2000}
	for _, c := range []struct {
		other adapter.Reservation
		want  bool
	}{
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 1999, End: 3000}, true},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 2000, End: 3000}, false},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n2", "n3"}, Start: 0, End: 1000}, false},
		{adapter.Reservation{Name: "maint", Nodes: []string{"n3"}, Start: 0, End: 3000}, false},
		{adapter.Reservation{Name: "accordion-8", Nodes: []string{"n1"}, Start: 0, End: 3000}, false},
	} {
		if got := conflicting([]adapter.Reservation{c.other}, r) != nil; got != c.want {
			t.Errorf("%+v in the way: %v, want %v", c.other, got, c.want)
		}
	}
}
