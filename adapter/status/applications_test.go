package status_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
)

// launched returns a report of noon with four applications on a Slurm and an OAR cluster. The OAR cluster does not answer.
func launched() status.ApplicationsReport {
	return status.NewApplicationsReport(&view.Applications{
		At: second("11:59:58"),
		Clusters: []view.ApplicationCluster{
			{Name: "slurm", Hosts: 128}, {Name: "oar", Hosts: 64, Lost: true}, {Name: "new", Never: true},
		},
		Applications: []view.Application{
			{ID: 3, Name: "stencil", User: "bob", State: "started", Phase: "running", Rank: second("10:00:00"), Tag: 1, Walltime: 7200, View: 2, Acked: 2,
				Why: "its launcher is done with it", At: second("11:30:00"), Went: second("11:30:04"), By: second("13:30:04"), Away: second("11:58:00"), Tries: 1,
				Parts: []view.ApplicationPart{{Cluster: "slurm", Job: 40, Hosts: 3, Stand: "running", Nodes: []string{"n1", "n2", "n3"}}}},
			{ID: 7, Name: "evil\x1b[2Jcem", User: "ann", State: "waiting", Phase: "waiting", Rank: second("11:00:00"), Tag: 12, Walltime: 3600, View: 15, Acked: 14,
				Estimate: second("12:30:00"), Moved: "job 5 of bob ended 10m before its time", Why: "32 hosts of oar are not free before 12:30",
				Launcher: true, Owes: second("11:59:40"), Tries: 3, Failed: "oar: nodes are busy",
				Parts: []view.ApplicationPart{{Cluster: "slurm", Job: 17, Hosts: 64, Stand: "waiting"}, {Cluster: "oar", Job: 12, Hosts: 32, Stand: "waiting"}, {Cluster: "new"}}},
			{ID: 8, User: "ann", State: "waiting", Phase: "preparing", Rank: second("11:10:00"), Tag: 0, Walltime: 60, View: 1, Acked: 1, Estimate: second("11:59:58"),
				Launcher: true, Tries: 1, Parts: []view.ApplicationPart{{Cluster: "oar", Hosts: 1}}},
			{ID: 9, User: "carl", State: "submitted", Phase: "fresh", Tag: -1, Launcher: true},
		},
	}, status.Sidecar{Running: true, PID: 5})
}

func TestApplicationsTable(t *testing.T) {
	dead := status.NewApplicationsReport(&view.Applications{At: second("11:50:00")}, status.Sidecar{})
	for _, c := range []struct {
		name   string
		report status.ApplicationsReport
		want   string
	}{
		{"four", launched(), `
Launchers: 4 applications, last changed at 11:59:58, 2 s ago
CLUSTER oar IS NOT READ, for a minute or longer: to launchers it is all busy, and nothing starts there.
Cluster new was not read yet: launchers do not see it.
APPLICATION  USER  NAME         STATE                PARTS                                          START      LAUNCHER                    WHY
          3  bob   stencil      started              slurm:40 3 running                             11:30:00   away since 11:58:00         its launcher is done with it
          7  ann   evil?[2Jcem  waiting              slurm:17 64 waiting, oar:12 32 waiting, new -  ~12:30:00  there, owes since 11:59:40  32 hosts of oar are not free before 12:30
          8  ann   -            waiting (preparing)  oar 1                                          ~11:59:58  there                       -
          9  carl  -            submitted            -                                              -          there                       -
`},
		{"those of a cluster", launched().On("slurm").On("new"), `
Launchers: 1 application, last changed at 11:59:58, 2 s ago
CLUSTER oar IS NOT READ, for a minute or longer: to launchers it is all busy, and nothing starts there.
Cluster new was not read yet: launchers do not see it.
APPLICATION  USER  NAME         STATE    PARTS                                          START      LAUNCHER                    WHY
          7  ann   evil?[2Jcem  waiting  slurm:17 64 waiting, oar:12 32 waiting, new -  ~12:30:00  there, owes since 11:59:40  32 hosts of oar are not free before 12:30
`},
		{"a dead sidecar", dead, "\nLaunchers: THE SIDECAR IS NOT RUNNING, and wrote last at 11:50:00 (10 min ago); then: 0 applications\n"},
		{"nothing yet", status.NewApplicationsReport(nil, status.Sidecar{Running: true}), "\nLaunchers: no application yet\n"},
		{"never served", status.NewApplicationsReport(nil, status.Sidecar{}), "\nLaunchers: none was served yet\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := c.report.Table(&b, noon, time.UTC); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want[1:], b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplicationsJSONHasEmptyListsInsteadOfNull(t *testing.T) {
	text, err := json.Marshal(status.NewApplicationsReport(nil, status.Sidecar{}))
	if want := `{"sidecar":{"running":false},"at":0,"clusters":[],"applications":[]}`; err != nil || string(text) != want {
		t.Errorf("got %s, error %v, want %s", text, err, want)
	}
}

// launcherJournal returns a journal of applications with the events of application 7, and of an application that has ended.
func launcherJournal(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "delegate.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	for _, e := range []struct {
		clock      string
		id         int64
		verb, text string
	}{
		{"11:20:00", 7, "prepare", "try 3 on slurm (64), oar (32)"},
		{"11:20:01", 7, "abort", "try 3: oar: nodes are busy"},
		{"11:00:00", 2, "go", "all parts are up, 3 s after the decision"},
		{"11:30:00", 2, "done", "all parts are over"},
	} {
		if err := j.Event(journal.Event{At: time.Unix(second(e.clock), 0), Job: e.id, Kind: e.verb, Text: e.text}); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func TestExplainApplication(t *testing.T) {
	j := launcherJournal(t)
	for name, id := range map[string]int64{"application-waits.txt": 7, "application-runs.txt": 3, "application-is-prepared.txt": 8, "application-is-new.txt": 9, "application-is-over.txt": 2} {
		t.Run(name, func(t *testing.T) {
			x, err := status.ExplainApplication(launched(), j, id)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := x.Write(&b, noon, time.UTC); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.String())
		})
	}
	unknown := status.UnknownApplication(0)
	if _, err := status.ExplainApplication(launched(), j, 99); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "application 99") {
		t.Errorf("of one that never was: %v", err)
	}
}

// parts returns a queue in which job 17 is a part of application 7. Another delegated job in the queue belongs to an unknown application.
func parts() view.Queue {
	q := queue()
	for i := range q.Jobs {
		switch e := &q.Jobs[i]; e.ID {
		case 17:
			e.Kind, e.Request, e.Plan = "delegated", "launch=7", e.Plan[1:]
			e.Size = e.Plan[0].Nodes
		case 22:
			e.Kind = "delegated"
		}
	}
	return q
}

func TestPartIsExplainedWithItsApplication(t *testing.T) {
	application, err := status.ExplainApplication(launched(), launcherJournal(t), 7)
	if err != nil {
		t.Fatal(err)
	}
	j := lab(t, parts())
	for _, c := range []struct {
		golden string
		job    int64
		of     *status.ApplicationExplanation
	}{{"part-waits.txt", 17, application}, {"part-is-not-named.txt", 22, nil}, {"part-is-not-seen.txt", 12, application}} {
		t.Run(c.golden, func(t *testing.T) {
			x, err := status.Explain(j, c.job)
			if unknown := (*status.UnknownJob)(nil); err != nil && !errors.As(err, &unknown) {
				t.Fatal(err)
			}
			x.Application = c.of
			var b strings.Builder
			if err := x.Write(&b, noon, time.UTC); err != nil {
				t.Fatal(err)
			}
			golden(t, c.golden, b.String())
		})
	}
}
