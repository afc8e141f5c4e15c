package pairs

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/core/sched"
)

var mix = Mix{Evolving: 45, Others: 105, Users: 3, Nodes: 16, Load: 1.2, Sizes: 6, Least: 3, Mean: 5, Step: 4}

func TestWorkloadDependsOnItsSeedAndHasItsLoad(t *testing.T) {
	for seed := range uint64(20) {
		all := mix.Jobs(seed)
		if !reflect.DeepEqual(all, mix.Jobs(seed)) || reflect.DeepEqual(all, mix.Jobs(seed+1)) {
			t.Fatal("a workload is not its seed's")
		}
		area, evolving := 0.0, 0
		for i, j := range all {
			area += j.area()
			if i > 0 && j.At < all[i-1].At || j.Nodes < 1 || j.Nodes > mix.Sizes || j.Runs < 1 || j.Runs > j.Asks || j.User >= mix.Users {
				t.Errorf("seed %d: %+v", seed, j)
			}
			if j.Profile == nil {
				continue
			}
			if evolving++; j.Profile.Peak() != j.Nodes || j.Profile.Total() != j.Asks || j.Profile[0].Nodes == j.Nodes || j.Runs <= j.Asks-j.Profile[2].Duration {
				t.Errorf("seed %d: %+v", seed, j)
			}
		}
		if load := area / all[len(all)-1].At.Seconds() / float64(mix.Nodes); load < 1.19 || load > 1.3 || len(all) != 150 || evolving != 45 {
			t.Errorf("seed %d: %d jobs, %d of them evolving, load %.2f", seed, len(all), evolving, load)
		}
	}
}

func TestBusyIsTheMeanOfHeldNodesWhileJobsWait(t *testing.T) {
	all := []Run{{Job{At: 0, Runs: 4}, 2, 6}, {Job{At: time.Second, Runs: 4}, 4, 8}}
	holds := []Hold{{2, 6, 3}, {2, 3, 1}, {4, 8, 5}}
	for waiting, want := range map[int]float64{1: 7.0 / 4, 2: 0, 3: 0} { // one job waits from second 0 to 4, two jobs wait in second 1
		if got := Busy(all, holds, waiting); got != want {
			t.Errorf("while %d wait %v nodes are held, want %v", waiting, got, want)
		}
	}
	longer := mix.Longer(3)
	if one, three := mix.Jobs(1), longer.Jobs(1); longer.Least != 9 || longer.Step != 12 || three[len(three)-1].At < 2*one[len(one)-1].At {
		t.Errorf("three times as long are %+v, and the last comes after %v", longer, three[len(three)-1].At)
	}
}

func TestReplayedWorkload(t *testing.T) {
	all := mix.Jobs(1)
	by := map[string]Measured{}
	for name, p := range map[string]sched.Policy{"repeated": sched.Repeated{}, "patient": sched.Patient{Factor: 2, Most: 24 * 3600}} {
		runs := Replayed(all, mix.Nodes, p)
		for _, s := range runs {
			if s.Start < s.At.Seconds()-1 || s.End < s.Start+float64(s.Runs) {
				t.Fatalf("by %s %+v", name, s)
			}
		}
		by[name] = Measure(runs)
	}
	if one, other := by["patient"], by["repeated"]; one.Evolving.Wait >= other.Evolving.Wait || one.Others.Wait >= other.Others.Wait {
		t.Errorf("by patient they wait %v, by repeated %v", one, other)
	}
}

func TestWaitsBeginAtTheIntendedSubmission(t *testing.T) {
	ordinary := Run{Job{At: 10 * time.Second, Nodes: 1, Runs: 4}, 16, 20}
	evolving := Run{Job{At: 20 * time.Second, Profile: core.EP{{Duration: 20, Nodes: 2}}, Nodes: 2, Runs: 20}, 60, 80}
	m := Measure([]Run{ordinary, evolving})
	want := Measured{Figures{23, 2, 40}, Figures{40, 3, 40}, Figures{6, 1, 6}}
	if m != want {
		t.Errorf("%v, want %v", m, want)
	}
	half := m
	half.All.Wait /= 2
	if says := Table([]Measured{half, half}, []Measured{m, m}); !strings.Contains(says, "| all | 0.50 (0.50 to 0.50) | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) |\n") {
		t.Error(says)
	}
}
