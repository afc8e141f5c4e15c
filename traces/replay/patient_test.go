package replay_test

import (
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/patient"
	"accordion/core/queue"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// seen is a policy that is given every job as its peak for its whole time.
type seen struct{ queue.Policy }

func (p seen) New(m core.Machine) queue.State { return peaks{p.Policy.New(m)} }

type peaks struct{ queue.State }

func (s peaks) Submit(now core.Time, j core.Job) {
	ep := j.Choices[0]
	j.Choices = []core.EP{{{Duration: ep.Total(), Nodes: ep.Peak()}}}
	s.State.Submit(now, j)
}

// same compares two policies start by start.
func same(t *testing.T, w workload.Workload, a, b queue.Policy) {
	t.Helper()
	x, y := replay.Run(w, a), replay.Run(w, b)
	starts := func(r replay.Result) (all []core.Time) {
		for _, o := range r.Outcomes {
			all = append(all, o.Start)
		}
		return all
	}
	if !slices.Equal(starts(x), starts(y)) {
		t.Errorf("mean waits of %.2f s and %.2f s, and other starts", meanWait(w, x), meanWait(w, y))
	}
}

// evolves is a whole log with 30 % evolving jobs.
func evolves(t *testing.T, name string, jobs int) workload.Workload {
	t.Helper()
	s, err := workload.Selection{Limit: jobs}.Select(realLog(t, name))
	if err != nil {
		t.Fatal(err)
	}
	mountains.Apply(&s.Workload)
	return s.Workload
}

func TestOnWholeLogsJobsSeenAsTheirPeakAndWithoutPatienceStartAsUnderEASY(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		t.Run(name, func(t *testing.T) {
			w := evolves(t, name, 0)
			same(t, w, seen{patient.EASY{}}, queue.EASY{})
			for i := range w.Jobs {
				w.Jobs[i].Choices = nil
			}
			same(t, w, patient.EASY{}, queue.EASY{})
		})
	}
}

// plainly is a policy whose state was told of a guard, of nobody's: it makes everything anew at each event, as the definition does.
type plainly struct{ queue.Policy }

func (p plainly) New(m core.Machine) queue.State {
	s := p.Policy.New(m)
	s.Running(-core.Forever, core.Allocation{Job: -1, Start: -core.Forever, EP: core.EP{{Duration: 1}}, Guard: 1})
	return s
}

func TestOnWholeLogsTheQuickWayStartsAsThePlainOne(t *testing.T) {
	jobs := 3000
	if *long {
		jobs = 0
	}
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		t.Run(name, func(t *testing.T) {
			w := evolves(t, name, jobs)
			for _, p := range []patient.EASY{{}, {Factor: 2, Most: 24 * 3600}, {Factor: 1, Most: 6 * 3600, Reservations: 3}} {
				same(t, w, p, plainly{p})
			}
		})
	}
}

// Repeated takes minutes for a whole log, so that it is asked for one only where there is time.
func TestOnALogReservationsForAllWithoutPatienceAreRepeated(t *testing.T) {
	jobs := 3000
	if *long {
		jobs = 0
	}
	same(t, evolves(t, "KTH-SP2-1996-2.1-cln", jobs), patient.EASY{Reservations: patient.All}, queue.Repeated{})
}
