package output

import (
	"testing"

	"accordion/adapter"
)

func TestOnlyAnExpanderInOurReservationIsOne(t *testing.T) {
	for _, test := range []struct {
		name, reservation, mark string
		want                    Role
	}{
		{GrowPrefix + "7", "accordion-7-1", "", Expander},
		{OverPrefix + "7", "accordion-7-1", "", Expander},
		{WithPrefix + "7", "accordion-7-1", "", Companion},
		{WithPrefix + "7", "", companionMark + "7@1795000000", Companion},
		{GrowPrefix + "7", "", "", Ordinary},
		{GrowPrefix + "7", "maintenance", "", Ordinary},
		{GrowPrefix + "7", Park, "", Ordinary}, // in which everybody's jobs may be, also on nodes
		{WithPrefix + "7", Park, "", Ordinary},
		{WithPrefix + "7", "", adapter.MarkPrefix + "ep=1x1h", Ordinary},
		{"x\n" + GrowPrefix + "7", "accordion-7-1", "", Ordinary},
		{GrowPrefix + "7 ", "accordion-7-1", "", Ordinary},
		{GrowPrefix, "accordion-7-1", "", Ordinary},
		{GrowPrefix + "-7", "accordion-7-1", "", Ordinary},
		{GrowPrefix + "7x", "accordion-7-1", "", Ordinary},
		{GrowPrefix + "99999999999", "accordion-7-1", "", Ordinary},
		{"wrap", "accordion-7-1", companionMark + "7@1795000000", Ordinary},
	} {
		r := Record{Job: adapter.Job{Name: test.name, Reservation: test.reservation, Mark: test.mark}}
		if got := r.Role(); got != test.want || (expands(&r) == 7) != (test.want != Ordinary) {
			t.Errorf("%q in %q with the mark %q: role %d of job %d, want Role %d", test.name, test.reservation, test.mark, got, expands(&r), test.want)
		}
	}
}
