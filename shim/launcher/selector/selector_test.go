package selector

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/shim/wire/launcher"
)

// seen returns a cluster with an occupation: pairs of a second and a number of hosts.
func seen(c int, name string, hosts int, speed float64, steps ...int) Seen {
	s := Seen{Cluster: launcher.Cluster{C: c, Name: name, Hosts: hosts, Speed: speed}}
	for i := 0; i < len(steps); i += 2 {
		s.Points = append(s.Points, profile.Point{At: core.Time(steps[i]), Used: steps[i+1]})
	}
	return s
}

func choose(t *testing.T, model string, s Sight, most core.Time) Answer {
	t.Helper()
	m, err := Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Chooser().Choose(s, most)
	if err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	return a
}

func part(c, hosts int) moldable.Part { return moldable.Part{Cluster: c, Hosts: hosts} }

func TestWhatModelsChoose(t *testing.T) {
	free := Sight{Now: 100, Clusters: []Seen{seen(3, "a", 8, 1), seen(5, "b", 4, 2)}}
	busy := Sight{Now: 100, Clusters: []Seen{seen(3, "a", 8, 1, 0, 6, 1100, 0), seen(5, "b", 4, 2, 0, 4, 10_000, 0)}}
	near := Sight{Now: 100, Clusters: free.Clusters, Links: []launcher.Link{{A: 5, B: 3, Latency: 1000}}}
	for _, c := range []struct {
		model string
		sight Sight
		most  core.Time
		want  Answer
	}{
		{"8x1000s|4x1600s", free, 0, Answer{Hosts: []moldable.Part{part(5, 4)}, Walltime: 800}}, // b is twice as fast
		{"8x1000s|2x1600s", busy, 0, Answer{Hosts: []moldable.Part{part(3, 2)}, Walltime: 1600}},
		{"8x100s|2x1600s", busy, 0, Answer{Hosts: []moldable.Part{part(3, 8)}, Walltime: 100}},
		{"8x100s|2x50s", free, 0, Answer{Hosts: []moldable.Part{part(5, 2)}, Walltime: 25}}, // a configuration with more hosts that takes as long is not considered
		{"2x1600s|8x1500s", busy, 1500, Answer{Hosts: []moldable.Part{part(3, 8)}, Walltime: 1500}},
		{"amdahl:p=1,t1=1h,nodes=1-6", free, 0, Answer{Hosts: []moldable.Part{part(5, 4)}, Walltime: 450}},
		{"cem:work=16000,iterations=0", free, 0, Answer{Hosts: []moldable.Part{part(3, 8), part(5, 4)}, Walltime: 1000}},
		{"cem:work=16000,iterations=1000", near, 0, Answer{Hosts: []moldable.Part{part(3, 8), part(5, 4)}, Walltime: 1001}},
		{"cem:work=16000,iterations=100000", free, 0, Answer{Hosts: []moldable.Part{part(3, 8)}, Walltime: 2000}}, // 50 ms where no link is known
		{"cem:work=16000,iterations=0", busy, 4000, Answer{Hosts: []moldable.Part{part(3, 8)}, Walltime: 2000}},
	} {
		if d := cmp.Diff(c.want, choose(t, c.model, c.sight, c.most)); d != "" {
			t.Errorf("%s, at most %d s (-want +got):\n%s", c.model, c.most, d)
		}
	}
}

func TestModelsThatFitNowhereSaySo(t *testing.T) {
	s := Sight{Now: 100, Clusters: []Seen{seen(0, "a", 8, 1)}}
	for model, want := range map[string]string{
		"9x10s":                         "no cluster is ever large enough for 9 hosts within --most 1h",
		"2x2h":                          "no cluster is ever large enough for 2 hosts within --most 1h",
		"cem:work=1000000,iterations=0": "no set of clusters is ever large enough within --most 1h",
	} {
		m, err := Parse(model)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := m.Chooser().Choose(s, 3600); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v, want %s", model, a, err, want)
		}
	}
}

func TestTextsThatAreNoModels(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "the model is empty",
		"fast":                     `"fast" is no model: write configurations`,
		"4x":                       "column 3",
		"amdahl:p=2":               "amdahl:p=SHARE",
		"cem:work=0":               "is no model of an application on several clusters: write cem:work=HOST-SECONDS",
		"cem:work=NaN":             "is no model",
		"cem:iterations=1":         "is no model",
		"cem:work=1,iterations=-1": "is no model",
		"exec:":                    "exec: names no program",
		"exec:'a":                  "Unterminated single-quoted string",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The test tries all configurations and all starts of a moldable application. None completes earlier than the answer.
func TestNothingCompletesEarlierThanAMoldableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sight{Now: 10}
		for c := range rapid.IntRange(1, 3).Draw(t, "clusters") {
			hosts := rapid.IntRange(1, 8).Draw(t, "hosts")
			cluster := seen(c, "", hosts, float64(rapid.IntRange(1, 4).Draw(t, "speed"))/2)
			for at := 0; at < 60; at += rapid.IntRange(1, 30).Draw(t, "gap") {
				cluster.Points = append(cluster.Points, profile.Point{At: core.Time(at), Used: rapid.IntRange(0, hosts).Draw(t, "used")})
			}
			cluster.Points = append(cluster.Points, profile.Point{At: 90, Used: 0})
			s.Clusters = append(s.Clusters, cluster)
		}
		var choices []core.EP
		for range rapid.IntRange(1, 5).Draw(t, "choices") {
			choices = append(choices, core.EP{{Nodes: rapid.IntRange(1, 9).Draw(t, "nodes"), Duration: core.Time(rapid.IntRange(1, 40).Draw(t, "time"))}})
		}
		most := core.Time(rapid.IntRange(0, 40).Draw(t, "most"))
		best := core.Forever
		for i, c := range s.Clusters {
			for _, choice := range choices {
				d := seconds(float64(choice[0].Duration) / s.Clusters[i].Speed)
				for at := s.Now; at <= 100 && d <= Longest(most); at++ {
					if c.free(at, at+d) >= choice[0].Nodes {
						best = min(best, at+d)
						break
					}
				}
			}
		}
		a, err := newMoldable(choices).Choose(s, most)
		if err != nil {
			if best != core.Forever {
				t.Fatalf("%v, but one completes at %d", err, best)
			}
			return
		}
		c, n := s.Clusters[a.Hosts[0].Cluster], a.Hosts[0].Hosts
		at := s.Now
		for c.free(at, at+a.Walltime) < n {
			at++
		}
		if at+a.Walltime != best {
			t.Fatalf("%+v completes at %d, one completes at %d", a, at+a.Walltime, best)
		}
	})
}

// free returns how many hosts are free in all of [from, to).
func (s Seen) free(from, to core.Time) int {
	least := s.Hosts
	for at := from; at < to; at++ {
		used := 0
		for _, p := range s.Points {
			if p.At <= at {
				used = p.Used
			}
		}
		least = min(least, s.Hosts-used)
	}
	return least
}

func TestAComputingModelAnswersTheNewestView(t *testing.T) {
	m, err := Parse("1x10s")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Start(0, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for view := range int64(50) {
		s.See(Sight{View: view + 1, Clusters: []Seen{seen(0, "a", 1, 1)}})
	}
	for said := range s.Answers() {
		if said.Err != nil || said.Walltime != 10 {
			t.Fatalf("%+v", said)
		}
		if said.View == 50 {
			return
		}
	}
}

func TestUnknownSpeedsAndLatencies(t *testing.T) {
	s := Sight{Clusters: []Seen{seen(1, "a", 1, 0), seen(4, "b", 1, math.NaN())}, Links: []launcher.Link{{A: 1, B: 9, Latency: 3}, {A: 1, B: 1, Latency: 3}}}
	if d := cmp.Diff([]float64{1, 1}, s.speeds()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{0, .05, .05, 0}, s.latencies()); d != "" {
		t.Error(d)
	}
}

func TestSightOfAView(t *testing.T) {
	var v launcher.View
	v.Know(&launcher.Clusters{All: []launcher.Cluster{{C: 2, Name: "b", Hosts: 4, Speed: 1}, {C: 1, Name: "a", Hosts: 8, Speed: 2}}, Links: []launcher.Link{{A: 1, B: 2, Latency: 7}}})
	err := v.Apply(&launcher.Change{View: 9, Now: 100, Est: 200, All: []launcher.ClusterChange{{C: 2, Kind: launcher.KindOccupation, From: 100, Steps: []int64{100, 3, 160, 0}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := Of(&v)
	if s.View != 9 || s.Now != 100 || s.Estimate != 200 || len(s.Clusters) != 2 || s.Clusters[0].Name != "a" || s.latencies()[1] != 7e-6 {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]profile.Point{{At: 100, Used: 3}, {At: 160, Used: 0}}, s.Clusters[1].Points); d != "" {
		t.Error(d)
	}
	if s.Cluster(2).Name != "b" || s.Cluster(3) != nil {
		t.Error("clusters go by their numbers")
	}
}

const soon = 20 * time.Millisecond
