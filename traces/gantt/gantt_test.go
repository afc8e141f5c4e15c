package gantt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/traces/workload"
)

var begin = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func at(second float64) time.Time { return begin.Add(time.Duration(second * float64(time.Second))) }

// holds parses texts such as "n1 0-20".
func holds(texts ...string) []Hold {
	var out []Hold
	for _, text := range texts {
		var node string
		var from, to float64
		if _, err := fmt.Sscanf(text, "%s %f-%f", &node, &from, &to); err != nil {
			panic(fmt.Sprintf("%q is not NODE FROM-TO: %v", text, err))
		}
		out = append(out, Hold{Node: node, From: at(from), To: at(to)})
	}
	return out
}

// small returns a chart of an evolving job of 1, 3 and 2 nodes and a rigid job.
func small() Chart {
	return Chart{
		Title: "Small", Note: "two jobs", Nodes: []string{"n1", "n2", "n3", "n4"},
		Jobs: []Job{
			{
				ID: 7, Name: "solve", User: "ada", Kind: workload.Evolving, Request: "ep=1x40s,3x40s,2x20s", Outcome: "COMPLETED",
				Submit:  at(0),
				Holds:   holds("n1 0-100", "n2 41-80", "n3 41-100"),
				Planned: []Size{{at(0), 1}, {at(40), 3}, {at(80), 2}, {at(100), 0}},
			},
			{ID: 8, Name: "post", Kind: workload.Rigid, Submit: at(10), Holds: holds("n4 10-60")},
		},
	}
}

func written(t *testing.T, g Chart) string {
	t.Helper()
	var b strings.Builder
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawn returns what the page draws for each job: its stretches on the rows, and its promises.
func drawn(t *testing.T, g Chart) string {
	t.Helper()
	page, err := g.page()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, j := range page.Workload.Jobs {
		fmt.Fprintf(&b, "%d %s %s by %d:", j.Number, page.Real.Jobs[i].Name, j.Kind(), j.User)
		for _, s := range page.Replays[0].Held[i] {
			fmt.Fprintf(&b, " %d-%d on %s;", s.From, s.To, s.Nodes)
		}
		for _, p := range page.Real.Jobs[i].Promises {
			fmt.Fprintf(&b, " %d→%d at %g", p.From, p.To, p.At)
			if p.Came != nil {
				fmt.Fprintf(&b, " came %g on row %d;", *p.Came, p.Row)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestJobIsDrawnWithItsHoldsAndPromises(t *testing.T) {
	want := `7 solve evolving by 0: 0-41 on 0; 41-80 on 0-2; 80-100 on 0 2; 0→1 at 0 came 0 on row 0; 1→3 at 40 came 41 on row 1;
8 post rigid by -1: 10-60 on 3;
`
	if diff := cmp.Diff(want, drawn(t, small())); diff != "" {
		t.Errorf("what is drawn differs (-want +got):\n%s", diff)
	}
}

func TestOverlappingHoldsOfANodeAreDrawnOnce(t *testing.T) {
	g := Chart{Nodes: []string{"n1", "n2"}, Jobs: []Job{{ID: 1, Name: "grown", Holds: holds("n1 0-50", "n2 20-40", "n2 30.2-50")}}}
	if got, want := drawn(t, g), "1 grown evolving by -1: 0-20 on 0; 20-30 on 0-1; 30-40 on 0-1; 40-50 on 0-1;\n"; got != want {
		t.Errorf("drawn is %q, want %q", got, want)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	const hostile = `"><script>alert(1)</script>&'` + "`\x00"
	g := small()
	g.Title, g.Note = hostile, hostile
	g.Nodes[0] = hostile
	for i := range g.Jobs {
		j := &g.Jobs[i]
		j.Name, j.User, j.Request, j.Outcome = hostile, hostile, hostile, hostile
		for k := range j.Holds {
			if j.Holds[k].Node == "n1" {
				j.Holds[k].Node = hostile
			}
		}
	}
	html := written(t, g)
	if strings.Contains(html, "<script>alert") {
		t.Error("a job's name became a script")
	}
}

func TestFiguresOfASmallChart(t *testing.T) {
	got := small().Figures()
	want := Figures{
		Jobs: 2, ByKind: map[workload.Kind]int{workload.Evolving: 1, workload.Rigid: 1}, Growths: 1, Shrinks: 1,
		Lateness: time.Second, Worst: time.Second,
		Utilization: (100 + 39 + 59 + 50) / 400.0,
		Held:        198 * time.Second, AtPeak: 300 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
	if got.Saved() != 102*time.Second {
		t.Errorf("saved %v, want 1m42s", got.Saved())
	}
}

func TestSharedNodeCountsOnce(t *testing.T) {
	g := Chart{Nodes: []string{"n1", "n2"}, Jobs: []Job{
		{ID: 1, Holds: holds("n1 0-100")}, {ID: 2, Holds: holds("n1 10-60", "n2 10-60")}, {ID: 3, Holds: holds("n1 20-100")},
	}}
	if got, want := Summary(g), "3 jobs on 2 nodes, 75 % of the machine held."; !strings.HasPrefix(got, want) {
		t.Errorf("the summary is %q, want one that begins with %q", got, want)
	}
}

func TestMarksPairPromisesWithChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		holds   []Hold
		planned []Size
		want    []string
	}{
		{
			"in two moves: late until the last came", holds("a 0-90", "b 20-90", "c 23-90"),
			[]Size{{at(0), 1}, {at(20), 3}}, []string{"0→1 0s", "1→3 3s"},
		},
		{
			"never: the job ended before", holds("a 0-20"),
			[]Size{{at(0), 1}, {at(20), 3}}, []string{"0→1 0s", "1→3 never"},
		},
		{
			"a size that comes again is not paired twice", holds("a 0-100", "b 10-20", "b 55-70"),
			[]Size{{at(0), 1}, {at(10), 2}, {at(20), 1}, {at(50), 2}, {at(70), 1}},
			[]string{"0→1 0s", "1→2 0s", "2→1 0s", "1→2 5s", "2→1 0s"},
		},
		{
			"early", holds("a 0-100", "b 9.5-100"),
			[]Size{{at(0), 1}, {at(10), 2}}, []string{"0→1 0s", "1→2 -500ms"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, m := range (Job{Holds: c.holds, Planned: c.planned}).Marks() {
				late := m.Late().String()
				if m.Real.IsZero() {
					late = "never"
				}
				got = append(got, fmt.Sprintf("%d→%d %s", m.From, m.To, late))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("marks differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidChartIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Chart){
		"needs nodes":        func(g *Chart) { g.Nodes = nil },
		"named twice":        func(g *Chart) { g.Nodes[1] = "n1" },
		"not among the rows": func(g *Chart) { g.Nodes = g.Nodes[:2] },
		"no period":          func(g *Chart) { g.Jobs[0].Holds[0].To = at(0) },
	} {
		g := small()
		spoil(&g)
		var b strings.Builder
		err := g.Write(&b)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: a partial page was written", want)
		}
	}
}

func TestChartWithoutHoldsIsAPage(t *testing.T) {
	g := Chart{Title: "Empty", Nodes: []string{"n1"}, Jobs: []Job{{ID: 1, Name: "waits", Kind: workload.Evolving, Submit: at(0)}}}
	if html := written(t, g); !strings.Contains(html, "waits") {
		t.Error("the job that waits is missing from the table")
	}
}

func TestPageIsSavedCompletelyOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	bad := Chart{}
	if err := bad.Save(path); err == nil {
		t.Error("a chart without rows was saved")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	good := Chart{Nodes: []string{"n1"}, Jobs: []Job{{ID: 1, Kind: workload.Rigid, Holds: []Hold{
		{Node: "n1", From: time.Unix(0, 0), To: time.Unix(9, 0)}}}}}
	if err := good.Save(path); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "</html>") {
		t.Errorf("saved %d bytes, %v", len(data), err)
	}
}
