package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

// The long profile, name or list of nodes of one user's job must not make tables unreadable for other users.
func TestJobOf600StepsIsShortened(t *testing.T) {
	var plan core.EP
	var request, nodes []string
	for i := range 600 {
		plan = append(plan, core.Step{Duration: 10, Nodes: 1 + i%3})
		request = append(request, fmt.Sprintf("%dx10s", 1+i%3))
		nodes = append(nodes, fmt.Sprintf("n%d", 7*i))
	}
	ep := "ep=" + strings.Join(request, ",")
	q := queue()
	runs := view.Entry{ID: 70, Submitted: second("10:00:00"), User: "eve", Name: strings.Repeat("wide", 100), Kind: "evolving", Phase: "running", Request: ep, Step: 1,
		Nodes: strings.Join(nodes, ","), Size: 1, Start: second("11:59:00"), End: second("13:39:00"), Free: second("13:39:00"), Plan: plan}
	waits := runs
	waits.ID, waits.Phase, waits.Nodes, waits.Step, waits.Rank, waits.Why = 71, "waiting", "", 0, 9, strings.Repeat("because ", 100)
	waits.Start, waits.End, waits.Free = second("14:00:00"), second("15:40:00"), second("15:40:00")
	q.Jobs = append(q.Jobs, runs, waits)
	j := lab(t, q)
	for _, id := range []int64{70, 71} {
		if err := j.Event(journal.Event{At: noon, Job: id, Submitted: second("10:00:00"), Kind: "accepted", Text: ep}); err != nil {
			t.Fatal(err)
		}
	}
	var table strings.Builder
	r, err := status.ReadQueue(j)
	if err == nil {
		err = r.Table(&table, noon, time.UTC)
	}
	if err != nil {
		t.Fatal(err)
	}
	var managed strings.Builder
	s := status.Report{Status: view.Status{At: noon.Unix(), Jobs: []view.Job{{ID: 70, User: "eve", Name: runs.Name, Kind: "evolving", Phase: "running", Step: 1, Steps: 600,
		Nodes: runs.Nodes, Size: 600, Start: runs.Start, Promised: runs.End, Why: waits.Why}}}}
	if err := s.Table(&managed, noon, time.UTC); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"queue": table.String(), "status": managed.String(), "explain, it runs": explained(t, j, 70, noon), "explain, it waits": explained(t, j, 71, noon),
	} {
		lines := strings.Split(text, "\n")
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 420 {
				t.Errorf("%s: a line of %d characters: %.60s…", name, n, line)
			}
		}
		if len(lines) > 100 {
			t.Errorf("%s: %d lines", name, len(lines))
		}
	}
	if want := "1,2,3,1,2,3,1,… (600 steps)"; !strings.Contains(table.String(), want) {
		t.Errorf("no %q in\n%s", want, table.String())
	}
}
