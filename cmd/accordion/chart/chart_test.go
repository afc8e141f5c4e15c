package chart

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/journal"
	"accordion/slurm/output"
	"accordion/slurm/sacct"
	"accordion/traces/gantt"
)

// entries returns the journal of job 7, which was submitted at second 90. From second 100 on the job has 2 nodes for 20 s, then 5 nodes for
// 20 s, then 3 nodes for 20 s.
func entries(more ...journal.Entry) iter.Seq2[journal.Entry, error] {
	all := []journal.Entry{
		{Kind: journal.KindEvent, Verb: "accepted", Text: "ep=2x20s,5x20s,3x20s"},
		{Kind: journal.KindIntent, Verb: "reserve", Args: map[string]any{"planned": json.Number("1")}},
		{Kind: journal.KindEvent, Verb: "starting", Args: map[string]any{"planned": json.Number("100"), "profile": "2x20s,5x20s,3x20s"}},
	}
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range append(all, more...) {
			e.Job, e.Submitted = 7, 90
			if !yield(e, nil) {
				return
			}
		}
	}
}

func resized(verb, planned, nodes string) journal.Entry {
	return journal.Entry{Kind: journal.KindEvent, Verb: verb, Args: map[string]any{"planned": json.Number(planned), "nodes": nodes}}
}

func read(t *testing.T, rows string) []sacct.Job {
	t.Helper()
	jobs, unread, err := sacct.ReadHolds(strings.NewReader(rows), "sacct", time.UTC, 1000)
	if err != nil || unread.Lines.Count > 0 {
		t.Fatal(err, unread.Warnings())
	}
	return jobs
}

func marks(g gantt.Chart) string {
	var b strings.Builder
	for _, j := range g.Jobs {
		fmt.Fprintf(&b, "%d %s %s", j.ID, j.Name, j.Kind)
		for _, m := range j.Marks() {
			fmt.Fprintf(&b, "; %d→%d planned %d", m.From, m.To, m.Planned.Unix())
			if m.Real.IsZero() {
				b.WriteString(" missed")
			} else {
				fmt.Fprintf(&b, " came %d", m.Real.Unix())
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestPromisesArePairedWithRecordedChanges(t *testing.T) {
	rows := "7|90|100|121|RESIZING|ada|n[1-2]|mesh\n" +
		"8|120|120|121|COMPLETED|ada|n[3-5]|" + output.GrowPrefix + "7\n" +
		"7|121|121|141|RESIZING|ada|n[1-5]|mesh\n" +
		"7|141|141|160|COMPLETED|ada|n[1-3]|mesh\n" +
		"9|95|100|130|COMPLETED|bob|n10|plain\n"
	g, err := fromSlurm(read(t, rows), entries(resized("grew", "120", "n[1-5]"), resized("shrank", "141", "n[1-3]")))
	if err != nil {
		t.Fatal(err)
	}
	want := "7 mesh evolving; 0→2 planned 100 came 100; 2→5 planned 120 came 121; 5→3 planned 141 came 141\n" +
		"9 plain rigid\n"
	if diff := cmp.Diff(want, marks(g)); diff != "" {
		t.Errorf("promises differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"n1", "n2", "n3", "n4", "n5", "n10"}, g.Nodes); diff != "" {
		t.Errorf("rows differ:\n%s", diff)
	}
}

func TestCompanionNodesBelongToTheJob(t *testing.T) {
	rows := "7|90|100|160|COMPLETED|ada|n[1-2]|mesh\n" + "8|119|120|141|CANCELLED by 0|ada|n[3-5]|accordion-with-7\n"
	g, err := fromSlurm(read(t, rows), entries(resized("grew", "120", "n[1-5]"), resized("shrank", "141", "n[1-2]")))
	if err != nil {
		t.Fatal(err)
	}
	want := "7 mesh evolving; 0→2 planned 100 came 100; 2→5 planned 120 came 120; 5→2 planned 141 came 141\n"
	if diff := cmp.Diff(want, marks(g)); diff != "" {
		t.Errorf("promises differ (-want +got):\n%s", diff)
	}
}

func TestPromisedGrowthThatDidNotHappenIsMissed(t *testing.T) {
	g, err := fromSlurm(read(t, "7|90|100|150|TIMEOUT|ada|n[1-2]|mesh\n"), entries())
	if err != nil {
		t.Fatal(err)
	}
	if f := g.Figures(); f.Missed != 1 || f.Growths != 0 {
		t.Errorf("figures %+v, want one growth missed and none made", f)
	}
}

func TestPromiseAfterTheEndIsNotMissed(t *testing.T) {
	g, err := fromSlurm(read(t, "7|90|100|115|CANCELLED by 1000|ada|n[1-2]|mesh\n"), entries())
	if err != nil {
		t.Fatal(err)
	}
	if f := g.Figures(); f.Missed != 0 {
		t.Errorf("%d growths missed after a cancellation before them", f.Missed)
	}
}

func TestUnmergedExpanderIsShown(t *testing.T) {
	g, err := fromSlurm(read(t, "8|120|120|150|CANCELLED by 0|ada|n[3-5]|"+output.GrowPrefix+"7\n"), entries())
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Jobs) != 1 || g.Jobs[0].ID != 8 {
		t.Errorf("jobs %+v, want the expander", g.Jobs)
	}
}
