package replay_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// FuzzWholeReplay checks for any log that the replay of its jobs fits the machine and can be placed, measured and written without a panic.
func FuzzWholeReplay(f *testing.F) {
	f.Add("; MaxProcs: 4\n1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 1 1 1 -1 -1\n2 10 -1 150 1 -1 -1 1 80 -1 1 7 1 1 1 1 -1 -1\n", uint64(1), byte(0))
	f.Add("; EP: 1 2x50s,4x50s\n1 9 -1 100 4 -1 -1 4 100 -1 1 7\n1 5 -1 1e9 2 -1 -1 2 1e9\n", uint64(2), byte(1))
	f.Add("1 9999999999 -1 9999999999 4 -1 -1 4 9999999999\n2 0 -1 1 64 -1 -1 64 -1\n", uint64(3), byte(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64, how byte) {
		log, err := swf.Read(strings.NewReader(text), "fuzzed", swf.Options{})
		if err != nil || len(log.Records) > 200 {
			return
		}
		s, err := workload.Selection{Machine: 64, ProcsPerNode: 1 + int(how%3)}.Select(log)
		if err != nil {
			return
		}
		whatIf := workload.WhatIf{Evolving: 0.5, Moldable: 0.3, Seed: seed, Shape: workload.Shape(how % 5), Same: workload.Same(how / 5 % 2)}
		whatIf.Apply(&s.Workload)
		policy, err := policy.Named([]string{"fcfs", "easy", "conservative", "moldable", "evolving:2X+c"}[how/10%5], sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		r := replay.Run(s.Workload, policy)
		for i, o := range r.Outcomes {
			if o.Start < s.Jobs[i].Submit || o.End <= o.Start {
				t.Fatalf("job %d, submitted at %d, runs from %d to %d", s.Jobs[i].Number, s.Jobs[i].Submit, o.Start, o.End)
			}
		}
		p, err := replay.Place(s.Workload, r)
		if err != nil {
			t.Fatal(err)
		}
		m := replay.Measure(s.Workload, r)
		if m.Utilisation < 0 || m.Utilisation > 100.0001 || m.EffectiveUtilisation > m.Utilisation*1.0001 {
			t.Errorf("utilisation %v %%, effective %v %%", m.Utilisation, m.EffectiveUtilisation)
		}
		var jobs bytes.Buffer
		for what, err := range map[string]error{
			"jobs":    replay.WriteJobs(&jobs, s, r, p),
			"steps":   replay.WriteSteps(io.Discard, s, r, p),
			"metrics": replay.WriteMetrics(io.Discard, m, s),
			"log":     replay.WriteSWF(io.Discard, log, s, r),
		} {
			if err != nil {
				t.Errorf("writing the %s: %v", what, err)
			}
		}
		if lines := strings.Count(jobs.String(), "\n"); lines != 1+len(s.Jobs) {
			t.Errorf("%d lines for %d jobs", lines, len(s.Jobs))
		}
	})
}
