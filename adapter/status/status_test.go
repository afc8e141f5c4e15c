package status_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(clock string) core.Time {
	t, err := time.Parse(time.DateTime, clock)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func jobs() []view.Job {
	return []view.Job{
		{ID: 7, Submitted: at("2026-03-01 11:00:00"), User: "ann", Name: "cfd", Kind: "evolving", Phase: "running",
			Request: "ep=2x20s,5x20s,3x20s", Step: 2, Steps: 3, Nodes: "n[1-3,7-8]", Size: 5, Start: at("2026-03-01 11:59:30"),
			Plan: core.EP{{Duration: 20, Nodes: 2}, {Duration: 20, Nodes: 5}, {Duration: 20, Nodes: 3}}, Promised: at("2026-03-01 12:00:30")},
		{ID: 8, User: "bob", Name: "evil\x1b[2Jname", Kind: "moldable", Phase: "waiting", Request: "mold=4x2h|8x70m", Steps: 1,
			Start: at("2026-03-01 23:00:00"), Plan: core.EP{{Duration: 7200, Nodes: 4}}, Why: "nodes"},
		{ID: 9, User: "bob", Name: "wide", Kind: "evolving", Phase: "waiting", Steps: 2, Why: "no place in the plan"},
	}
}

func TestStatusTableHasALineForEachManagedJob(t *testing.T) {
	for _, c := range []struct {
		name   string
		report status.Report
		want   string
	}{
		{"three jobs", status.Report{Sidecar: status.Sidecar{Running: true, PID: 5}, Status: view.Status{At: noon.Unix(), Cluster: "lab", Jobs: jobs()}}, `
Accordion on lab: 3 managed jobs, as of 12:00:00
JOB  USER  NAME          KIND      PHASE    STEP  NODES           START     END                   WHY
  7  ann   cfd           evolving  running  2/3   n[1-3,7-8] (5)  11:59:30  12:00:30              -
  8  bob   evil?[2Jname  moldable  waiting  -/1   -               23:00:00  ~2026-03-02T01:00:00  nodes
  9  bob   wide          evolving  waiting  -/2   -               -         -                     no place in the plan
`},
		{"no jobs", status.Report{Sidecar: status.Sidecar{Running: true}, Status: view.Status{At: noon.Unix() - 5}},
			"\nAccordion: no managed jobs, as of 11:59:55, 5 s ago\n"},
		{"promises that others may break", status.Report{Sidecar: status.Sidecar{Running: true}, Status: view.Status{At: noon.Unix(), Soft: "OAR plans urgent before evolve"}},
			"\nAccordion: no managed jobs, as of 12:00:00\nPROMISES ARE SOFT: OAR plans urgent before evolve\n"},
		{"a dead batch system", status.Report{Sidecar: status.Sidecar{Running: true}, Status: view.Status{At: noon.Unix() - 86400}},
			"\nAccordion: THE BATCH SYSTEM DOES NOT ANSWER, since 2026-02-28T12:00:00 (24 h ago); then: no managed jobs\n"},
		{"a dead sidecar", status.Report{Status: view.Status{At: noon.Unix() - 90, Cluster: "lab", Jobs: jobs()[2:]}}, `
Accordion on lab: THE SIDECAR IS NOT RUNNING since 11:58:30 (90 s ago); then: 1 managed job
JOB  USER  NAME  KIND      PHASE    STEP  NODES  START  END  WHY
  9  bob   wide  evolving  waiting  -/2   -      -      -    no place in the plan
`},
		{"just started", status.Report{Sidecar: status.Sidecar{Running: true}},
			"\nAccordion: the sidecar has not read the batch system yet\n"},
		{"never started", status.Report{}, "\nAccordion: the sidecar is not running, and has never read the batch system\n"},
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

func TestReportHasTheWrittenStatusAndWhetherASidecarRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	w, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := journal.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := func() string {
		t.Helper()
		report, err := status.Read(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), `"pid":`+itoa(os.Getpid()), `"pid":PID`)
	}
	if got, want := read(), `{"sidecar":{"running":true,"pid":PID},"at":0,"cluster":"","jobs":[]}`; got != want {
		t.Errorf("before the first view:\n got %s\nwant %s", got, want)
	}
	data, err := json.Marshal(view.Status{At: 100, Cluster: "lab", Jobs: jobs()[:1]})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.PutView(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `{"sidecar":{"running":false},"at":100,"cluster":"lab","jobs":[{"id":7,"submitted":1772362800,"user":"ann","name":"cfd",` +
		`"kind":"evolving","phase":"running","request":"ep=2x20s,5x20s,3x20s","step":2,"steps":3,"nodes":"n[1-3,7-8]","size":5,` +
		`"start":1772366370,"plan":[[20,2],[20,5],[20,3]],"promised":1772366430,"why":""}]}`
	if got := read(); got != want {
		t.Errorf("of a dead sidecar:\n got %s\nwant %s", got, want)
	}
}

func TestUnreadableStatusIsAnError(t *testing.T) {
	w, err := journal.Open(filepath.Join(t.TempDir(), "j.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.PutView([]byte(`{"at":"noon"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := status.Read(w); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("error %v, want one that speaks of another version", err)
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }
