package release

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"accordion/adapter"
	"accordion/core"
)

func job(id core.JobID, state adapter.State, in string) adapter.Job {
	return adapter.Job{Key: adapter.Key{ID: id, Submitted: 50}, State: state, Mark: "accordion:ep=1x1h,2x1h", Reservation: in}
}

func ordinary(id core.JobID, state adapter.State, in string) adapter.Job {
	j := job(id, state, in)
	j.Mark = ""
	return j
}

func TestOnlyReservationsThatProtectNoPromiseAreDeleted(t *testing.T) {
	const now = 1000
	of := func(name string) adapter.Reservation {
		return adapter.Reservation{Name: name, Start: now + 80000, End: now + 80120}
	}
	key := func(id core.JobID) adapter.Key { return adapter.Key{ID: id, Submitted: 50} }
	for _, test := range []struct {
		name        string
		reservation adapter.Reservation
		jobs        []adapter.Job
		removed     bool
		want        []Leftover
	}{
		{name: "ahead of a start", reservation: of("accordion-7-0"), jobs: []adapter.Job{job(7, adapter.Pending, "accordion-park")}, want: []Leftover{{Name: "accordion-7-0"}}},
		{name: "for a later step of a waiting job", reservation: of("accordion-7-2"), jobs: []adapter.Job{job(7, adapter.Pending, "accordion-park")}, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "for a later step of a running job", reservation: of("accordion-7-2"), jobs: []adapter.Job{job(7, adapter.Running, "")}},
		{name: "… when no sidecar comes back", reservation: of("accordion-7-2"), jobs: []adapter.Job{job(7, adapter.Running, "")}, removed: true, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "… of a job that is ending", reservation: of("accordion-7-2"), jobs: []adapter.Job{job(7, adapter.Ending, "")}, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "… of a job that has ended", reservation: of("accordion-7-2"), jobs: []adapter.Job{job(7, adapter.Done, "accordion-7-2")}, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "… of a job that is gone", reservation: of("accordion-7-2"), want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "… whose number an ordinary job has now", reservation: of("accordion-7-2"), jobs: []adapter.Job{ordinary(7, adapter.Running, "")}, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "… whose time has passed", reservation: adapter.Reservation{Name: "accordion-7-2", End: now}, jobs: []adapter.Job{job(7, adapter.Running, "")}, want: []Leftover{{Name: "accordion-7-2"}}},
		{name: "made in order to change another", reservation: of("accordion-7-2-more"), jobs: []adapter.Job{job(7, adapter.Running, "")}, want: []Leftover{{Name: "accordion-7-2-more"}}},
		{name: "of a start whose job waits in it", reservation: of("accordion-7-0"), jobs: []adapter.Job{job(7, adapter.Pending, "accordion-7-0")},
			want: []Leftover{{Name: "accordion-7-0", Hold: []adapter.Key{key(7)}}}},
		{name: "of a start whose job runs in it", reservation: of("accordion-7-0"), jobs: []adapter.Job{job(7, adapter.Running, "accordion-7-0")}},
		{name: "… also when no sidecar comes back", reservation: of("accordion-7-0"), jobs: []adapter.Job{job(7, adapter.Running, "accordion-7-0")}, removed: true},
		{name: "of a start whose job has been untied", reservation: of("accordion-7-0"), jobs: []adapter.Job{job(7, adapter.Running, "")}, want: []Leftover{{Name: "accordion-7-0"}}},
		{name: "in which an expander waits", reservation: of("accordion-7-1"), jobs: []adapter.Job{ordinary(8, adapter.Pending, "accordion-7-1")}},
		{name: "in which an expander runs", reservation: of("accordion-7-1"), jobs: []adapter.Job{ordinary(8, adapter.Running, "accordion-7-1")}},
		{name: "of an application's part", reservation: of("accordion-app-3"), want: []Leftover{{Name: "accordion-app-3"}}},
		{name: "of an application's part that runs", reservation: of("accordion-app-3"), jobs: []adapter.Job{job(9, adapter.Running, "accordion-app-3")}},
		{name: "after an application's part", reservation: of("accordion-app-3-ghost"), want: []Leftover{{Name: "accordion-app-3-ghost"}}},
		{name: "in which jobs wait", reservation: of("accordion-park")},
		{name: "before the gate", reservation: of("accordion-gate"), removed: true},
		{name: "the lease", reservation: of("accordion-lease")},
		{name: "the site's", reservation: of("maintenance"), removed: true},
		{name: "the site's, with a name like ours", reservation: of("accordion-7x")},
	} {
		got := Leftovers([]adapter.Reservation{test.reservation}, test.jobs, Options{Now: now, Removed: test.removed})
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A system is a batch system that records its calls.
type system struct {
	jobs   []adapter.Job
	begins bool // a job starts while it is being held
	did    []string
}

func (s *system) Reserved(context.Context) (all []adapter.Reservation, jobs []adapter.Job, err error) {
	for _, name := range []string{"accordion-7-0", "accordion-8-0", "accordion-9-1"} {
		all = append(all, adapter.Reservation{Name: name, End: 100})
	}
	return all, s.jobs, nil
}

func (s *system) Hold(context.Context, adapter.Key) error {
	s.did = append(s.did, "hold")
	if s.begins {
		return adapter.ErrGone
	}
	return nil
}

func (s *system) Detach(context.Context, adapter.Key) error {
	s.did = append(s.did, "detach")
	return nil
}

func (s *system) Unreserve(_ context.Context, name string) error {
	if s.did = append(s.did, "delete "+name); name == "accordion-8-0" {
		return errors.New("slurmctld is away")
	}
	return nil
}

func TestReservationsAreDeletedAsLongAsNoSidecarLives(t *testing.T) {
	waits := []adapter.Job{job(7, adapter.Pending, "accordion-7-0")}
	for _, test := range []struct {
		name   string
		system system
		lives  int // number of the call, from 1, at which Dead returns false; 0 if it never does
		want   []string
		did    []string
		fails  bool
	}{
		{name: "one fails", system: system{jobs: waits}, want: []string{"accordion-7-0", "accordion-9-1"},
			did: []string{"hold", "delete accordion-7-0", "delete accordion-8-0", "delete accordion-9-1"}, fails: true},
		{name: "a job begins meanwhile", system: system{jobs: waits, begins: true}, want: []string{"accordion-9-1"},
			did: []string{"hold", "detach", "delete accordion-8-0", "delete accordion-9-1"}, fails: true},
		{name: "a sidecar comes back meanwhile", system: system{jobs: waits}, lives: 2, want: []string{"accordion-7-0"}, did: []string{"hold", "delete accordion-7-0"}},
	} {
		asked := 0
		dead := func(context.Context) (bool, error) { asked++; return asked != test.lives, nil }
		got, err := All(t.Context(), &test.system, Options{Now: 10, Dead: dead})
		if !slices.Equal(got, test.want) || !slices.Equal(test.system.did, test.did) || err != nil != test.fails {
			t.Errorf("%s: deleted %q (%v) by %q, want %q by %q", test.name, got, err, test.system.did, test.want, test.did)
		}
	}
}
