package plan

import (
	"fmt"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// class returns a foreign reservation of a minute over the last two of eight nodes. It begins
// `from` seconds after now, and then `count` more times, each `every` seconds after the previous
// one.
func class(from core.Time, repeats string, every core.Time, count int) adapter.Reservation {
	r := adapter.Reservation{Name: "class", User: "root", Nodes: []string{"n7", "n8"}, Start: 1000 + from, End: 1060 + from, Repeats: repeats}
	for i := range count {
		later := r.Start + core.Time(i+1)*every
		r.Later = append(r.Later, adapter.Span{Start: later, End: later + 60})
	}
	return r
}

// `always` returns a reservation that lasts a day, and repeats each day.
func always(repeats string) adapter.Reservation {
	r := class(0, repeats, 86400, 28)
	r.End = r.Start + 86400
	for i := range r.Later {
		r.Later[i].End = r.Later[i].Start + 86400
	}
	return r
}

// One occurrence has ended, and Slurm has not written the next one yet.
func TestAWaitingJobIsPlannedAroundEveryOccurrenceOfAReservation(t *testing.T) {
	const hour = 3600
	for _, c := range []struct {
		name, request string
		reservation   adapter.Reservation
		want          string
	}{
		{"longer than it is from one to the next, on all nodes", "8x70m", class(-60, "HOURLY", hour, 168), "-"},
		{"on nodes that are never reserved", "6x70m", class(-60, "HOURLY", hour, 168), "4 n[1-6]"},
		{"it fits between two", "8x50m", class(-60, "HOURLY", hour, 168), "4 n[1-8]"},
		{"it fits after the next", "8x50m", class(600, "HOURLY", hour, 168), "660 n[1-8]"},
		{"shorter than a day", "8x23h", class(-60, "DAILY", 24*hour, 28), "4 n[1-8]"},
		{"longer than a day", "8x24h", class(-60, "DAILY", 24*hour, 28), "-"},
		{"nothing is planned after the last that is known", "8x7h", class(-60, "DAILY", 6*hour, 3), "-"},
		{"one without an end, in days", "8x1m", always("DAILY"), "-"},
		{"on the nodes that it leaves", "6x70m", always("DAILY"), "4 n[1-6]"},
		// "Reservations Floating Through Time" in https://slurm.schedmd.com/reservations.html:
		// starttime=now+60minutes duration=100 flags=time_float
		{"shorter than one that floats is ahead", "8x55m", class(3600, "TIME_FLOAT", 0, 0), "4 n[1-8]"},
		{"longer than that", "8x70m", class(3600, "TIME_FLOAT", 0, 0), "-"},
		{"one that does not repeat", "8x70m", class(600, "", 0, 0), "660 n[1-8]"},
		{"its profile fits before it, and its limit does not", "8x507s", class(600, "", 0, 0), "660 n[1-8]"},
		{"its limit fits before it", "8x500s", class(600, "", 0, 0), "4 n[1-8]"},
		{"few of its nodes are needed: others are chosen", "4x507s", class(600, "", 0, 0), "4 n[1-4]"},
		{"one that is ours", "8x70m", adapter.Reservation{Name: "accordion-9-1", Nodes: []string{"n7", "n8"}, Start: 1600, End: 1660}, "4 n[1-8]"},
	} {
		s := newSituation(8, nil)
		s.Settings.Overrun.Least = 30
		s.Snapshot.Reservations = []adapter.Reservation{c.reservation}
		s.waits(c.request)
		if got := starts(makePlan(s.Input)); got != c.want {
			t.Errorf("%s: it starts at %s, want %s", c.name, got, c.want)
		}
	}
}

// Only waiting jobs are planned to end some time before a reservation. A running job keeps its
// planned time to the end.
func TestPromiseIsNotMovedByReservationThatBeginsWhenItEnds(t *testing.T) {
	s := newSituation(8, nil)
	s.Settings.Overrun.Least = 30
	s.runs("8x600s", 0)
	r := s.Jobs[0]
	r.Promise[0] = 1590
	s.Snapshot.Reservations = []adapter.Reservation{class(590, "DAILY", 86400, 28)}
	if v := makePlan(s.Input); r.Promise[0] != 1590 || len(v.Notes) > 0 {
		t.Errorf("the job is promised to end at %d, want 1590; said: %+v", r.Promise[0], v.Notes)
	}
}

func TestReservationsFitBetweenForeignReservations(t *testing.T) {
	s := newSituation(8, nil)
	s.Settings.Overrun.Least, s.Settings.Guard, s.Settings.Protect = 30, 65, 16
	s.Snapshot.Reservations = []adapter.Reservation{class(0, "HOURLY", 400, 168)}
	s.waits("8x200s")
	v := makePlan(s.Input)
	wants, _ := v.Wanted()
	got := fmt.Sprint(len(wants))
	for _, w := range wants {
		got += fmt.Sprintf(" %d-%d", w.Start-1000, w.End-1000)
	}
	if want := "1 60-180"; got != want { // the job starts at 60; its reservation should begin 65 s (Guard) earlier, but the class has not ended then
		t.Errorf("it wants %s, want %s", got, want)
	}
	s.Snapshot.Reservations = []adapter.Reservation{class(60, "", 0, 0)}
	v = makePlan(s.Input)
	at := adapter.Reservation{Nodes: []string{"n1", "n8"}, Start: 940, End: 1120 + Expiry}
	if v.fitBetween(&at, 1005); at.Start != 940 || at.End != 1060 {
		t.Errorf("it lasts from %d to %d, want 940 to 1060", at.Start, at.End)
	}
}

func TestForeignReservationAheadIsWhyJobDoesNotStart(t *testing.T) {
	for _, c := range []struct {
		name, request string
		busy          int
		want          string
	}{
		{"it would be in the way", "8x520s", 0, "class 1600"},
		{"it would not", "8x400s", 0, ""},
		{"there are nodes for it", "6x520s", 0, ""},
		{"it would lack nodes anyway", "8x520s", 2, ""},
	} {
		s := newSituation(8, nil)
		s.Settings.Overrun.Least = 30
		s.Snapshot.Reservations = []adapter.Reservation{class(600, "", 0, 0)}
		if c.busy > 0 {
			s.runsOrdinary(c.busy, 50)
		}
		r := s.waits(c.request)
		got := ""
		if before, at := makePlan(s.Input).BlockingReservation(r.Choices[0]); before != nil {
			got = fmt.Sprint(before.Name, " ", at)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRepeatingReservationIsWhyJobHasNoPlace(t *testing.T) {
	for request, want := range map[string]bool{"8x70m": true, "6x70m": false, "8x70m|6x90m": false, "7x1m": true} {
		s := newSituation(8, nil)
		s.Snapshot.Reservations = []adapter.Reservation{class(-60, "HOURLY", 3600, 168)}
		r := s.waits(request)
		if got := makePlan(s.Input).RepeatingReservation(r) != nil; got != want {
			t.Errorf("%s: %v, want %v", request, got, want)
		}
	}
}
