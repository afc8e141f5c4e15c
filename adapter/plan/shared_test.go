package plan

import (
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
)

func TestReservationsAreSharedAmongUsers(t *testing.T) {
	var wants []adapter.Reservation
	add := func(user string, starts ...core.Time) {
		for _, s := range starts {
			wants = append(wants, adapter.Reservation{Name: fmt.Sprintf("%s%d", user, s), User: user, Start: s})
		}
	}
	add("eve", 1, 2, 3, 4, 5, 6)
	add("ada", 90, 70)
	add("bob", 80)
	for _, c := range []struct {
		most int
		want string
		left int
	}{
		{9, "[eve1 eve2 eve3 eve4 eve5 eve6 ada90 ada70 bob80]", 0},
		{6, "[eve1 eve2 eve3 ada90 ada70 bob80]", 3},
		{4, "[eve1 eve2 ada70 bob80]", 5},
		{1, "[eve1]", 8},
	} {
		made, left := shared(wants, c.most)
		var names []string
		for _, r := range made {
			names = append(names, r.Name)
		}
		if fmt.Sprint(names) != c.want || left != c.left {
			t.Errorf("of %d: %v, %d left out, want %s, %d", c.most, names, left, c.want, c.left)
		}
	}
}

func TestEachUserHasAJobProtected(t *testing.T) {
	v := &World{}
	v.Settings.Protect = 4
	var all []Waiter
	for id, user := range []uint32{1, 1, 1, 1, 1, 2, 2, 2, 3} {
		r := &managed.Job{Record: managed.Record{UID: user, Phase: managed.Waiting}}
		r.ID = core.JobID(id)
		all = append(all, Waiter{Managed: r})
	}
	all = append(all[:5:5], append([]Waiter{{}}, all[5:]...)...) // an ordinary job
	var got []int
	for _, w := range v.sharedAmongUsers(all) {
		if w.Managed == nil {
			got = append(got, -1)
		} else {
			got = append(got, int(w.Managed.ID))
		}
	}
	if want := "[0 -1 5 8 1 2 3 4 6 7]"; fmt.Sprint(got) != want {
		t.Errorf("the order is %v, want %s", got, want)
	}
}
