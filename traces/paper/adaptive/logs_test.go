package adaptive

import (
	"fmt"
	"strings"
	"testing"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// crowded returns a log on 16 processors whose jobs have to wait.
func crowded(t *testing.T) Log {
	t.Helper()
	var text strings.Builder
	text.WriteString("; MaxNodes: 16\n; MaxProcs: 16\n")
	for i := range 60 {
		run, processors := 100+37*(i%11), 1+5*i%16
		fmt.Fprintf(&text, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 1 1 1 -1 -1\n", i+1, 40*i, run, processors, processors, 2*run)
	}
	log, err := swf.Read(strings.NewReader(text.String()), "crowded.swf", swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Log{Name: "crowded", Log: log, Selection: workload.Selection{ProcsPerNode: 1}}
}

// The moldable jobs of one replay are compared with the same jobs in a replay in which no job is moldable.
func TestRigidPolicyReplaysTheLogItself(t *testing.T) {
	log := crowded(t)
	selected, err := log.Select(log.Log)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Named(rigid, sched.FirstCome)
	if err != nil {
		t.Fatal(err)
	}
	from, to := kept(len(selected.Workload.Jobs))
	want := 0.0
	for i, o := range replay.Run(selected.Workload, p).Outcomes[from:to] {
		want += float64(o.End-selected.Workload.Jobs[from+i].Submit) / float64(to-from)
	}
	runs := make([]logRun, 2)
	if err := (Experiment{Seed: 1}).onLog([]logUnit{{log, 100, rigid}, {log, 100, "repeated+share"}}, runs); err != nil {
		t.Fatal(err)
	}
	if got := runs[0].metrics; got.Moldable == 0 || got.MoldableTurnaround < want*(1-1e-9) || got.MoldableTurnaround > want*(1+1e-9) {
		t.Errorf("%d moldable jobs are in the system for %v, as the log has them %v", got.Moldable, got.MoldableTurnaround, want)
	}
	if got := runs[1].metrics.MoldableTurnaround; got >= want {
		t.Errorf("with sizes they are for %v", got)
	}
}

func TestClaimsOnLogsHaveVerdicts(t *testing.T) {
	runs := make([]logRun, len(onReal))
	for i, name := range onReal {
		runs[i] = logRun{logUnit: logUnit{Log{Name: "KTH"}, 20, name}}
		m := &runs[i].metrics
		m.Turnaround.Mean, m.MoldableTurnaround = 100, 100
		switch name {
		case "repeated+share":
			m.Turnaround.Mean, m.MoldableTurnaround = 90, 110
		case "easy+share":
			m.Turnaround.Mean = 99
		case "share":
			m.Turnaround.Mean = 101
		}
	}
	verdicts := func(share int) map[string]Verdict {
		all := map[string]Verdict{}
		for i := range runs {
			runs[i].moldable = share
		}
		for _, r := range (&Data{logs: runs}).onLogs() {
			if r.Verdict != "" && strings.HasPrefix(r.ID, "14.") {
				all[r.ID+" "+r.Metric] = r.Verdict
			}
		}
		return all
	}
	for _, c := range []struct {
		share int
		want  string
	}{
		{20, "map[14.easy+share/easy turnaround:holds 14.repeated+share/repeated turnaround of moldable jobs:not 14.repeated+share/repeated+reference turnaround:holds]"},
		{50, "map[14.easy+share/easy turnaround:holds 14.repeated+share/repeated turnaround of moldable jobs:not 14.repeated+share/repeated+reference turnaround:holds 14.share/scojo-p turnaround:not]"},
	} {
		if got := fmt.Sprint(verdicts(c.share)); got != c.want {
			t.Errorf("with %d %% moldable: %s, want %s", c.share, got, c.want)
		}
	}
}

func TestMissingLogsAreNamed(t *testing.T) {
	all, missing, err := ReadLogs(t.TempDir())
	if err != nil || len(all) != 0 || len(missing) != len(realLogs) || missing[0] != realLogs[0].File {
		t.Errorf("%d logs, missing %v, %v", len(all), missing, err)
	}
}
