package plan

import (
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

const day = 24 * 3600

// since adds a moldable managed job that was submitted at the second `at`.
func (s *situation) since(at core.Time, text string) *managed.Job {
	r := s.waits(text)
	r.Submitted, r.Seen.Submitted, s.Snapshot.Jobs[len(s.Snapshot.Jobs)-1].Submitted = at, at, at
	return r
}

// An ordinary job holds six of eight nodes for another 300 s. A second ordinary job waits for all
// eight nodes. A managed job would fit now, and would delay the second job.
func TestOrdinaryJobHasPlaceIfBatchSystemPlansIt(t *testing.T) {
	late := sched.Patient{Factor: 2, Most: day}
	for _, c := range []struct {
		name           string
		policy, passes sched.Policy
		want           string
	}{
		{"by repeated", sched.Repeated{}, nil, "300; 645 n[1-2]"},
		{"by easy-evolving", sched.Patient{}, nil, "300; 645 n[1-2]"},
		{"by patient", late, nil, "300; -"},
		{"by patient, where the batch system is, too", late, late, "-; 4 n[7-8]"},
		{"by easy-evolving, where the batch system is, too", sched.Patient{}, sched.Patient{}, "300; -"},
	} {
		s := newSituation(8, nil)
		s.Settings.Policy, s.Settings.Passes = c.policy, c.passes
		s.runsOrdinary(6, 300)
		s.waitsOrdinary(8, 300)
		s.Snapshot.Jobs[1].Submitted = 990
		s.since(995, "2x400s")
		if got := starts(makePlan(s.Input)); got != c.want {
			t.Errorf("%s they start at %s, want %s", c.name, got, c.want)
		}
	}
}

// An ordinary job that could start now is started in the batch system's next round. A managed job
// gets the nodes later by the length of that round.
func TestPlaceOfOrdinaryJobIsLongerByRoundOfBatchSystem(t *testing.T) {
	for _, c := range []struct {
		policy sched.Policy
		round  core.Time
		want   string
	}{
		{sched.Repeated{}, 0, "0; 300 n[1-2]"},
		{sched.Repeated{}, 3, "0; 303 n[1-2]"},
		{sched.Repeated{}, 45, "0; 345 n[1-2]"},
		{sched.Patient{}, 0, "4; 304 n[1-2]"},
		{sched.Patient{}, 3, "4; 307 n[1-2]"},
		{sched.Patient{}, 45, "4; 349 n[1-2]"},
	} {
		s := newSituation(8, nil)
		s.Settings.Policy, s.Settings.Round = c.policy, c.round
		s.waitsOrdinary(8, 300)
		s.since(995, "2x400s")
		if got := starts(makePlan(s.Input)); got != c.want {
			t.Errorf("with rounds of %d s they start at %s, want %s", c.round, got, c.want)
		}
	}
}

// The last of three waiting jobs is due first. It is protected before the jobs that start now.
func TestJobWithReservationIsProtectedFirst(t *testing.T) {
	s := newSituation(8, nil)
	s.Settings.Policy, s.Settings.Protect = sched.Patient{Factor: 2, Most: day}, 1
	s.runsOrdinary(5, 100)
	young, starts, due := s.since(900, "8x400s"), s.since(999, "2x10s"), s.since(550, "7x200s")
	v := makePlan(s.Input)
	for r, want := range map[*managed.Job]Turn{young: {Due: 1700}, starts: {Due: 1019}, due: {Due: 950, Has: true}} {
		if got := v.Turns[r.ID]; got != want || (r.Course == nil) != (r == young) || v.Waits(r) != true {
			t.Errorf("job %d stands at %+v on %+v, want %+v", r.ID, got, r.Course, want)
		}
	}
	wants, _ := v.Wanted()
	if len(wants) != 1 || wants[0].Name != due.Reservation(0) || wants[0].Start != 1100 {
		t.Errorf("the reservations are %+v", wants)
	}
	s.Snapshot.Nodes[7].Usable = false
	s.OutOfService = func(n adapter.Node) bool { return !n.Usable }
	if v := makePlan(s.Input); v.Waits(young) || !v.Waits(due) {
		t.Error("a job that needs all nodes waits for room when one is gone")
	}
}

// Rigid jobs that are not admitted are planned like managed jobs: a job that fits starts, whichever
// jobs wait before it.
func TestRigidJobThatIsNotAdmittedIsPlannedAsManaged(t *testing.T) {
	in := gated(8, 2)
	in.Settings.Policy = sched.Patient{Factor: 2, Most: day}
	in.Jobs[1].Choices[0][0].Duration = 400
	for i := range in.Snapshot.Jobs {
		if j := &in.Snapshot.Jobs[i]; j.Rigid {
			j.Limit = 400
		}
	}
	if got := starts(makePlan(in)); got != "-; 4 n[7-8]" {
		t.Errorf("they start at %s", got)
	}
}

// Each cycle plans from scratch. The plan equals the plan of core/sched for the same jobs, even if
// the jobs are moldable.
func TestPlanOfCycleIsThatOfCore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		s := newSituation(pick("nodes", 4, 10), nil)
		by := sched.Patient{Factor: int64(pick("factor", 0, 2)), Most: core.Time(pick("most", 0, 300)), Reservations: pick("reservations", 0, 2)}
		s.Settings.Policy = by
		state := by.New(core.Machine{Nodes: len(s.Snapshot.Nodes)})
		if n := pick("held", 0, len(s.free)-1); n > 0 {
			left := core.Time(pick("left", 10, 300))
			s.runsOrdinary(n, left)
			state.Running(1004, core.Allocation{Job: -1, Start: 1000, EP: core.EP{{Duration: left, Nodes: n}}})
		}
		for range pick("jobs", 1, 6) {
			r := s.since(1000-core.Time(pick("ago", 0, 500)), rapid.SampledFrom([]string{"2x100s", "4x50s", "1x300s|2x160s|4x90s", "3x20s", "8x30s|9x10s"}).Draw(t, "sizes"))
			state.Submit(1004, core.Job{ID: r.ID, Submit: r.Submitted, Begin: 1004, Choices: r.Choices, Margin: s.Settings.Margin(r.Choices)})
		}
		if d := cmp.Diff(state.Plan(1004), makePlan(s.Input).Planned, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%+v: (-core +cycle)\n%s", by, d)
		}
	})
}

// Under a sizing rule, too, every planned size is a size that explain names.
func TestSizeIsExplainedUnderPatient(t *testing.T) {
	share, err := policy.WithSizes(sched.Patient{}, "share")
	if err != nil {
		t.Fatal(err)
	}
	s := newSituation(8, nil)
	s.Settings.Policy = share
	r := s.waits("1x400s|2x210s|4x120s|8x80s")
	s.waitsOrdinary(4, 300)
	v := makePlan(s.Input)
	x, told := v.Sizes[r.ID]
	if n := r.Course.EP[0].Nodes; !told || n < x.Sized.Least || n > x.Sized.Most || len(v.Sizing) == 0 || v.Sizing[0].Rule != "share" {
		t.Errorf("it is planned on %d nodes; explained is %+v by %+v", n, x.Sized, v.Sizing)
	}
}

// A growing job gets either all of its reservations or none.
func TestProtectBoundsReservationsForWaitingJobs(t *testing.T) {
	for protect, want := range []string{"", "1-0 1-1 1-2", "1-0 1-1 1-2", "1-0 1-1 1-2", "1-0 1-1 1-2", "1-0 1-1 1-2 2-0 2-1"} {
		s := newSituation(8, nil)
		s.Settings.Protect = protect
		for i, sizes := range [][]int{{1, 2, 3}, {1, 2, 1}, {1, 2, 1}} {
			var ep core.EP
			for _, n := range sizes {
				ep = append(ep, core.Step{Duration: 100, Nodes: n})
			}
			s.since(core.Time(900+i), "1x300s").Choices = []core.EP{ep}
		}
		wants, _ := makePlan(s.Input).Wanted()
		var got []string
		for _, w := range wants {
			got = append(got, strings.TrimPrefix(w.Name, adapter.Prefix))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("with %d to protect there are reservations %q, want %q", protect, text, want)
		}
	}
}
