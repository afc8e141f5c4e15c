package replay_test

import (
	"math"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// peakOnly is a policy that gets every job as a rigid job of the size of its peak.
type peakOnly struct{ sched.Policy }

func (p peakOnly) New(m core.Machine) sched.State { return peaks{p.Policy.New(m)} }

type peaks struct{ sched.State }

func (s peaks) Submit(now core.Time, j core.Job) {
	ep := j.Choices[0]
	j.Choices = []core.EP{{{Duration: ep.Total(), Nodes: ep.Peak()}}}
	s.State.Submit(now, j)
}

// same compares the starts of two policies.
func same(t *testing.T, w workload.Workload, a, b sched.Policy) {
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

// evolves returns a whole log in which 30 % of the jobs are evolving.
func evolves(t *testing.T, name string, jobs int) workload.Workload {
	t.Helper()
	s, err := workload.Selection{Limit: jobs}.Select(realLog(t, name))
	if err != nil {
		t.Fatal(err)
	}
	mountains.Apply(&s.Workload)
	return s.Workload
}

// rigid returns a workload without choices.
func rigid(w workload.Workload) workload.Workload {
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs {
		w.Jobs[i].Choices, w.Jobs[i].Range = nil, nil
	}
	return w
}

func TestPatientWithoutPatienceAndProfilesEqualsEASYOnWholeLogs(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		t.Run(name, func(t *testing.T) {
			w := evolves(t, name, 0)
			same(t, w, peakOnly{sched.Patient{}}, sched.EASY{})
			same(t, rigid(w), sched.Patient{}, sched.EASY{})
			onArrays := easyOnArrays(w, false)
			for i, o := range replay.Run(w, sched.EASY{}).Outcomes {
				if o.Start != onArrays[i] {
					t.Fatalf("job %d starts at %d, and by the plain program on arrays at %d", w.Jobs[i].Number, o.Start, onArrays[i])
				}
			}
		})
	}
}

// recomputed is a policy whose state also has a job with a guard, which affects no other job. Because of the guard, the state recomputes
// everything at each event, as in the definition.
type recomputed struct{ sched.Policy }

func (p recomputed) New(m core.Machine) sched.State {
	s := p.Policy.New(m)
	s.Running(-core.Forever, core.Allocation{Job: -1, Start: -core.Forever, EP: core.EP{{Duration: 1}}, Guard: 1})
	return s
}

// someOf returns how many jobs of a log are replayed in tests that take long; 0 means all. All jobs of KTH-SP2 are replayed, and with
// -accordion.long all jobs of the other logs, too.
func someOf(log string) int {
	if *long || log == "KTH-SP2-1996-2.1-cln" {
		return 0
	}
	return 3000
}

func TestPatientEqualsItsDefinitionOnWholeLogs(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		t.Run(name, func(t *testing.T) {
			w := evolves(t, name, someOf(name))
			for _, p := range []sched.Patient{{}, {Factor: 2, Most: 24 * 3600}, {Factor: 1, Most: 6 * 3600, Reservations: 3}} {
				same(t, w, p, recomputed{p})
				same(t, rigid(w), p, recomputed{p})
			}
		})
	}
}

func TestReservationsForAllWithoutPatienceEqualRepeatedOnWholeLogs(t *testing.T) {
	for _, name := range []string{"KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln", "SDSC-SP2-1998-4.2-cln"} {
		t.Run(name, func(t *testing.T) {
			w := evolves(t, name, someOf(name))
			same(t, w, sched.Patient{Reservations: sched.AllReserved}, sched.Repeated{})
			same(t, rigid(w), sched.Patient{Reservations: sched.AllReserved}, sched.Repeated{})
		})
	}
}

// The expected figures come from the program with which these policies were developed. They are geometric means over two shapes, both values
// of --same and three seeds, relative to EASY, of the mean wait, the mean bounded slowdown and the longest wait.
func TestGainsOverEASYAreThoseOfTheOriginalProgram(t *testing.T) {
	type means [3]float64
	seeds := uint64(1)
	if *long {
		seeds = 3
	}
	for _, c := range []struct {
		log              string
		oldest, patience means
	}{
		{"KTH-SP2-1996-2.1-cln", means{0.57, 0.48, 0.95}, means{0.49, 0.39, 0.92}},
		{"SDSC-SP2-1998-4.2-cln", means{0.48, 0.43, 0.66}, means{0.45, 0.40, 0.68}},
		{"CTC-SP2-1996-3.1-cln", means{0.35, 0.32, 0.48}, means{0.31, 0.28, 0.52}},
	} {
		t.Run(c.log, func(t *testing.T) {
			selected, err := workload.Selection{}.Select(realLog(t, c.log))
			if err != nil {
				t.Fatal(err)
			}
			var sums [2]means
			cases := 0.0
			for seed := uint64(1); seed <= seeds; seed++ {
				for _, how := range []workload.WhatIf{
					{Shape: workload.Mountain, Same: workload.SamePeak}, {Shape: workload.Mountain, Same: workload.SameArea},
					{Shape: workload.RampUp, Same: workload.SamePeak}, {Shape: workload.RampUp, Same: workload.SameArea},
				} {
					w := selected.Workload
					w.Jobs = slices.Clone(w.Jobs)
					how.Evolving, how.Seed = 0.3, seed
					how.Apply(&w)
					measured := func(p sched.Policy) means {
						m := replay.Measure(w, replay.Run(w, p))
						return means{m.Waiting.Mean, m.Slowdown.Mean, m.Waiting.Max}
					}
					easy := measured(sched.EASY{})
					for i, p := range []sched.Patient{{}, {Factor: 2, Most: 24 * 3600}} {
						for k, v := range measured(p) {
							sums[i][k] += math.Log(v / easy[k])
						}
					}
					cases++
				}
			}
			near := 0.03
			if !*long {
				near = 0.12 // a third of the cases
			}
			for i, want := range []means{c.oldest, c.patience} {
				var got means
				for k := range got {
					got[k] = math.Exp(sums[i][k] / cases)
					if math.Abs(got[k]-want[k]) > near {
						t.Errorf("%s: %.3f, want %.2f within %.2f", []string{"wait", "slowdown", "longest wait"}[k], got[k], want[k], near)
					}
				}
				t.Logf("%s: wait %.3f (%.2f), slowdown %.3f (%.2f), longest wait %.3f (%.2f)", []string{"easy-evolving", "patient"}[i], got[0], want[0], got[1], want[1], got[2], want[2])
			}
		})
	}
}
