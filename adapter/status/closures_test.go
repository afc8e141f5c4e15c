package status_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

func TestExplainListsReservationsAheadAndNodesAway(t *testing.T) {
	noon := time.Unix(second("12:00:00"), 0)
	class := view.Closure{Name: "class", Nodes: 2, Start: second("12:10:00"), End: second("12:11:00"), Repeats: "HOURLY",
		Later: []adapter.Span{{Start: second("13:10:00"), End: second("13:11:00")}, {Start: second("14:10:00"), End: second("14:11:00")}}}
	waits := view.Entry{ID: 7, Submitted: second("11:00:00"), User: "ann", Kind: "evolving", Phase: "waiting", Rank: 1, Request: "ep=8x9m", Size: 8,
		Start: second("12:11:00"), End: second("12:20:00"), Free: second("12:20:00"), Plan: core.EP{{Duration: 540, Nodes: 8}}}
	homeless := waits
	homeless.Request, homeless.Start, homeless.End, homeless.Free, homeless.Plan = "ep=8x70m", 0, 0, 0, nil
	homeless.Why = view.NoPlace + " because of reservation class, which comes again and again (HOURLY)"
	lacks := homeless
	lacks.Why = view.NoPlace + ": 8 nodes are needed, and 7 in service; it waits for n5 (IDLE+DRAIN: fan) to come back"
	endless := class
	endless.Repeats, endless.Later = "DAILY", []adapter.Span{{Start: class.End, End: class.End + 60}}
	for _, c := range []struct {
		name    string
		closure view.Closure
		job     view.Entry
		want    []string
		not     string
	}{
		{"its time limit would reach into it", class, waits, []string{
			"Started now, it would lack nodes: it needs 8, and at 12:08:30 others leave it only 6.",
			"Reservation class begins at 12:10:00 on 2 nodes: a job that has them must have ended by then, by its time limit.",
			"It can start when reservation class ends (2 nodes), at 12:11:00",
			"reservation class: 2 nodes from 12:10:00 to 12:11:00, and again (HOURLY)"}, "There is room for it"},
		{"it fits between no two", class, homeless, []string{
			"It has no place in the plan", "class, which comes again and again (HOURLY)",
			"Reservation class keeps 2 nodes for others from 12:10:00 to 12:11:00, and again (HOURLY): from its end to its next start are 59m."}, ""},
		{"there is no time between two", endless, homeless, []string{"and again (DAILY): there is no time in between."}, "0s"},
		{"a node is away", view.Closure{}, lacks, []string{"It has no place in the plan: 8 nodes are needed, and 7 in service; it waits for n5 (IDLE+DRAIN: fan) to come back."}, "would never fit"},
	} {
		q := view.Queue{At: second("12:00:00"), Cluster: "lab", Nodes: 8, Lead: 4, Approach: 90, Jobs: []view.Entry{c.job}}
		if c.closure.Name != "" {
			q.Closures = []view.Closure{c.closure}
		}
		got := explained(t, lab(t, q), 7, noon)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, got)
		}
	}
}
