package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// with returns metrics with the given mean waits of all jobs and of evolving jobs.
func with(wait, evolving float64) replay.Metrics {
	m := replay.Metrics{Jobs: 10, Nodes: 4, ByKind: []replay.Kind{{Kind: "evolving", Jobs: 5, Waiting: evolving, Slowdown: 1}}}
	m.Waiting.Mean, m.Waiting.Max, m.Slowdown.Mean = wait, 100, 2
	return m
}

func TestLossesComeFirstAndMeansAreGeometric(t *testing.T) {
	all := cases("log", 2)
	for i := range all {
		for p := range policies {
			all[i].Metrics[p] = with(50, 50)
		}
		all[i].Metrics[0] = with(100, 100)
	}
	for i := range all {
		switch r := &all[i]; {
		case r.Share == 30 && r.Seed == 1:
			r.Metrics[5] = with(200, 100) // the policy patient: in this case twice as long as under EASY, in the other two half as long
		case r.Share == 10:
			r.Metrics[2] = with(300, 50)
		case r.Share == 100:
			r.Metrics[2] = with(100, 150)
		}
	}
	text := page(all, 2)
	for _, want := range []string{
		"| `repeated` | log | 10 % | mean wait | 3.00 (3.00) |\n| `repeated` | log | 100 % | evolving: wait | 1.50 (1.50) |\n\n",
		"    go run ./scripts/gains -logs \"log\" -o docs/gains.md\n",
		"| 30 %, patient | 1.00 (2.00) |",
		"| 0 %, easy-evolving | 0.50 |",
		"10 jobs on 4 nodes; under EASY, where nobody evolves, they wait 0.0 h in the mean and 0 h at most.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
}

// If a log is too large for a policy, the policy has no row for that log. The policy's row over all logs states the
// number of logs that it covers.
func TestPolicyThatWasLeftOutHasNoRow(t *testing.T) {
	all := append(cases("small", 1), cases("large", 1)...)
	for i := range all {
		for p := range policies {
			if all[i].Log == "small" || policies[p] != slow {
				all[i].Metrics[p] = with(100, 100)
			}
		}
	}
	text := page(all, 1)
	if n := strings.Count(text, "| 30 %, conservative |"); n != 1 {
		t.Errorf("%d logs have a row of it, want one:\n%s", n, text)
	}
	if large := page(all[9:], 1); strings.Contains(large, "(0 of them)") {
		t.Errorf("a policy without results has a row:\n%s", large)
	}
	if !strings.Contains(text, "| conservative (1 of them) | 1.00 |") || !strings.Contains(text, "| patient | 1.00 (1.00) |") {
		t.Errorf("its row does not say of how many logs it is:\n%s", text)
	}
}

func TestEveryCaseIsReplayedUnderEveryPolicy(t *testing.T) {
	var text strings.Builder
	text.WriteString("; MaxProcs: 16\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 1 1 1 -1 -1\n", i+1, 40*i, 1000+37*(i%11), 4+5*i%12, 4+5*i%12, 4000)
	}
	records, err := swf.Read(strings.NewReader(text.String()), "crowded.swf", swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	selected, err := (workload.Selection{ProcsPerNode: 1}).Select(records)
	if err != nil {
		t.Fatal(err)
	}
	const tooSlow = "repeated"
	all := cases("crowded", 2)
	if len(all) != 1+4*2*2 || len(replayOrder) != len(policies) {
		t.Fatalf("%d workloads, %d policies in turn", len(all), len(replayOrder))
	}
	for _, p := range replayOrder {
		l := workloads{log: log{name: "crowded", tooSlow: []string{tooSlow}}, jobs: selected.Workload}
		metrics, err := replays(context.Background(), l, policies[p], all)
		if err != nil || len(metrics) != len(all) {
			t.Fatalf("%s: %d results, error %v", policies[p], len(metrics), err)
		}
		for i, m := range metrics {
			r := all[i]
			if policies[p] == tooSlow {
				if m.Jobs > 0 {
					t.Errorf("%s was not left out", tooSlow)
				}
				continue
			}
			if !draws(policies[p], r.Seed) {
				if m.Jobs > 0 {
					t.Errorf("%s was drawn %d times", policies[p], r.Seed)
				}
				continue
			}
			if m.Jobs != 60 || m.Policy != policies[p] || (m.Evolving > 0) != (r.Share > 0) || m.NeverBegan > 0 {
				t.Errorf("%d %%, seed %d, %s: %d jobs, %d evolving, by %s", r.Share, r.Seed, policies[p], m.Jobs, m.Evolving, m.Policy)
			}
		}
	}
}

func TestKeptResultsAreNotComputedAgain(t *testing.T) {
	folder, made := filepath.Join(t.TempDir(), "kept"), 0
	for range 2 {
		metrics, err := kept(folder, "Log ×2", "patient", 1, func() ([]replay.Metrics, error) {
			made++
			return []replay.Metrics{{}, with(7, 5)}, nil
		})
		if err != nil || len(metrics) != 2 || metrics[1].Waiting.Mean != 7 || metrics[1].Of(workload.Evolving).Waiting != 5 {
			t.Errorf("%v, error %v", metrics, err)
		}
	}
	if made != 1 {
		t.Errorf("they were made %d times", made)
	}
}
