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
		{GrowPrefix + "7", Park, "", Ordinary}, // any user's jobs may wait in Park, so this reservation proves nothing
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

func TestWithManageAllTheSidecarLetsInRigidJobs(t *testing.T) {
	job := Record{Job: adapter.Job{State: adapter.Pending, UID: 1000, Partition: "main"}}
	for _, test := range []struct {
		name      string
		change    func(*Record)
		told, all bool
	}{
		{"it passed", func(*Record) {}, false, true},
		{"before the gate", func(r *Record) { r.Reservation, r.Held = Gate, true }, true, true},
		{"before the gate, in an older Slurm's word", func(r *Record) { r.Reservation, r.Held, r.Why = Gate, true, "BeginTime" }, true, true},
		{"it runs", func(r *Record) { r.State = adapter.Running }, false, false},
		{"held", func(r *Record) { r.Held = true }, false, false},
		{"in another partition", func(r *Record) { r.Partition = "shared" }, false, false},
		{"in several", func(r *Record) { r.Partition = "main,shared" }, false, false},
		{"in a reservation", func(r *Record) { r.Reservation = "maintenance" }, false, false},
		{"parked", func(r *Record) { r.Reservation, r.Held, r.Mark = Park, true, "accordion:ep=1x1h" }, false, false},
		{"an array", func(r *Record) { r.Array = 7 }, false, false},
		{"heterogeneous", func(r *Record) { r.Unfit = UnfitHet }, false, false},
		{"root's", func(r *Record) { r.UID = 0 }, false, false},
		{"an expander", func(r *Record) { r.Name, r.Reservation = GrowPrefix+"7", "accordion-7-1" }, false, false},
		{"an evolving job that starts", func(r *Record) { r.Mark, r.Reservation = "accordion:ep=1x1h", "accordion-7-0" }, false, false},
	} {
		r := job
		test.change(&r)
		if told, all := r.LetInBySidecar([]string{"main"}, false), r.LetInBySidecar([]string{"main"}, true); told != test.told || all != test.all {
			t.Errorf("%s: %v with manage = told, %v with manage = all, want %v and %v", test.name, told, all, test.told, test.all)
		}
	}
}

func TestWhoHoldsAWaitingJobThatIsOurs(t *testing.T) {
	for _, c := range []struct{ why, reservation, mark, want string }{
		{"Reservation", Park, "accordion:ep=1x1s", ""},
		{"JobHeldAdmin", Park, "accordion:ep=1x1s", "an operator"},
		{"JobHeldUser", Park, "accordion:ep=1x1s", "its owner or an operator"},
		{"JobHeldAdmin", "accordion-7-0", "accordion:ep=1x1s", "an operator"},
		{"JobHeldAdmin", "", "accordion:ep=1x1s", ""}, // the plug-in holds the job until it is adopted
		{"JobHeldUser", "", "", ""},                   // on a site without the plug-in the owner holds the job
		{"BadConstraints", Park, "accordion:ep=1x1s", ""},
		{"launch failed requeued held", "", "accordion:ep=1x1s", ""},
		{"job requeued in held state", "", "accordion:ep=1x1s", "its owner or an operator"}, // as squeue prints it
		{"job_requeued_in_held_state", Park, "accordion:ep=1x1s", "its owner or an operator"},
	} {
		r := Record{}
		r.Why, r.Reservation, r.Mark = c.why, c.reservation, c.mark
		r.SetState("PENDING", "", 0, 0)
		if r.HeldBy != c.want || r.Adopted != (c.reservation == Park && c.mark != "") {
			t.Errorf("%s in %q, mark %q: held by %q, adopted %t; want %q", c.why, c.reservation, c.mark, r.HeldBy, r.Adopted, c.want)
		}
	}
}
