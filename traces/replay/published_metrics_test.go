package replay_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"accordion/core/sched"
	"accordion/internal/testenv"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// realLog reads a real log, or skips the test if it is not available.
func realLog(t *testing.T, name string) *swf.Log {
	t.Helper()
	log, err := swf.ReadFile(filepath.Join(testenv.Logs(t, name+".swf.gz"), name+".swf.gz"), swf.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestMetricsOfThePublishedSchedule(t *testing.T) {
	s, err := workload.Selection{}.Select(realLog(t, "KTH-SP2-1996-unfiltered"))
	if err != nil {
		t.Fatal(err)
	}
	r := replay.Run(s.Workload, sched.EASY{})
	m := replay.Measure(s.Workload, r)
	if wait := m.Waiting.Mean; wait != 6836.872090165373 {
		t.Errorf("the mean wait is %v, published 6836.872090165373", wait)
	}
	if slowdown := strconv.FormatFloat(m.Slowdown.Mean, 'g', 15, 64); slowdown != "92.5765397336295" {
		t.Errorf("the mean bounded slowdown is %s, published 92.5765397336295", slowdown)
	}
	if len(s.Jobs) != 28481 || s.LeftOut[workload.NoRun] != 8 || s.LeftOut.Total() != 8 {
		t.Errorf("%d jobs, left out %s; want 28481, and 8 that did not run", len(s.Jobs), s.LeftOut)
	}
	if _, err := replay.Place(s.Workload, r); err != nil {
		t.Error(err)
	}
}

func TestNumberOfJobsKeptOfRealLogs(t *testing.T) {
	for name, want := range map[string]struct{ jobs, nodes int }{
		"LLNL-Atlas-2006-2.1-cln": {31248, 9216},
		"NASA-iPSC-1993-3.1-cln":  {18066, 128}, // without requested times: the run times are used instead
		"lublin_256":              {10000, 256},
	} {
		t.Run(name, func(t *testing.T) {
			log := realLog(t, name)
			s, err := workload.Selection{}.Select(log)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Jobs) != want.jobs || s.Machine.Nodes != want.nodes || len(s.Jobs)+s.LeftOut.Total() != len(log.Records) {
				t.Errorf("%d jobs on %d nodes, left out %s; want %d on %d", len(s.Jobs), s.Machine.Nodes, s.LeftOut, want.jobs, want.nodes)
			}
		})
	}
}
