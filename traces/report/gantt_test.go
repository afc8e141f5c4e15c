package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var begin = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func at(second float64) time.Time { return begin.Add(time.Duration(second * float64(time.Second))) }

// hold reads "n1 0-20".
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

// small is an evolving job of 1, 3 and 2 nodes beside a rigid one.
func small() Gantt {
	return Gantt{
		Title: "Small", Note: "two jobs", Nodes: []string{"n1", "n2", "n3", "n4"},
		Jobs: []Job{
			{
				ID: "7", Name: "solve", User: "ada", Kind: Evolving, Request: "ep=1x40s,3x40s,2x20s", Outcome: "COMPLETED",
				Submit:  at(0),
				Holds:   holds("n1 0-100", "n2 41-80", "n3 41-100"),
				Planned: []Size{{at(0), 1}, {at(40), 3}, {at(80), 2}, {at(100), 0}},
			},
			{ID: "8", Name: "post", Kind: Rigid, Submit: at(10), Holds: holds("n4 10-60")},
		},
	}
}

func written(t *testing.T, g Gantt) string {
	t.Helper()
	var b strings.Builder
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// structure lists the drawing's jobs with their paths and labels, so that a test can say what must be seen. It fails
// on a drawing that is not well-formed.
func structure(t *testing.T, html string) string {
	t.Helper()
	_, svg, found := strings.Cut(html, `<svg id="chart"`)
	if !found {
		t.Fatal("the page has no chart")
	}
	svg, _, _ = strings.Cut(svg, "</svg>")
	decoder := xml.NewDecoder(strings.NewReader(`<svg` + svg + `</svg>`))
	var b strings.Builder
	inJob, label := 0, false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("the drawing is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range token.Attr {
				attr[a.Name.Local] = a.Value
			}
			if strings.HasPrefix(attr["class"], "job") || inJob > 0 {
				inJob++
				label = token.Name.Local == "text" || token.Name.Local == "desc" || inJob > 2 && token.Name.Local == "title"
				if token.Name.Local == "g" || token.Name.Local == "path" && attr["class"] != "" {
					fmt.Fprintf(&b, "%s %s%s%s\n", token.Name.Local, attr["class"], attr["data-name"], " "+attr["d"])
				}
			}
		case xml.CharData:
			if label {
				fmt.Fprintf(&b, "  %q\n", string(token))
			}
		case xml.EndElement:
			inJob, label = max(0, inJob-1), false
		}
	}
}

func TestAnEvolvingJobIsDrawnAsOneStaircase(t *testing.T) {
	want := `g job evolvingsolve 
path fill c0 M58 108h1160v26h-1160zM533.6 134h452.4v26h-452.4zM533.6 160h684.4v26h-684.4z
path outline M58 108H1218M58 108v26M1218 108v26M58 134H533.6M986 134H1218M533.6 134v26M986 134v26M986 160H1218M533.6 160v26M1218 160v26M533.6 186H1218
  "solve ×1"
  "×3"
  "×2"
  "1 node from 0s to 41s"
  "3 nodes from 41s to 1m20s"
  "2 nodes from 1m20s to 1m40s"
g job rigidpost 
path fill c0 M174 186h580v26h-580z
path outline M174 186H754M174 186v26M754 186v26M174 212H754
  "post ×1"
  "1 node from 10s to 1m"
g job markssolve 
g mark 
  "start as promised"
g mark 
  "growth from 1 to 3 1s late"
`
	if diff := cmp.Diff(want, structure(t, written(t, small()))); diff != "" {
		t.Errorf("what is drawn differs (-want +got):\n%s", diff)
	}
}

func TestNamesAreShownAsTextWhateverTheyAre(t *testing.T) {
	const hostile = `"><script>alert(1)</script>&'` + "`\x00"
	g := small()
	g.Title, g.Note = hostile, hostile
	g.Nodes[0] = hostile
	for i := range g.Jobs {
		j := &g.Jobs[i]
		j.ID, j.Name, j.User, j.Request, j.Outcome = hostile, hostile, hostile, hostile, hostile
		for k := range j.Holds {
			if j.Holds[k].Node == "n1" {
				j.Holds[k].Node = hostile
			}
		}
	}
	html := written(t, g)
	if strings.Contains(html, "<script>alert") || strings.Count(html, "<script") != 1 {
		t.Error("a job's name became a script")
	}
	structure(t, strings.ReplaceAll(html, "\x00", ""))
}

func TestThePageNeedsNoNetwork(t *testing.T) {
	html := written(t, small())
	for _, word := range []string{"http:", "https:", "src=", "@import", "url(", "<link"} {
		if strings.Contains(html, word) {
			t.Errorf("the page contains %q", word)
		}
	}
}

func TestFiguresOfASmallChart(t *testing.T) {
	got := small().Figures()
	want := Figures{
		Jobs: 2, ByKind: map[Kind]int{Evolving: 1, Rigid: 1}, Growths: 1, Shrinks: 1,
		Lateness: time.Second, Worst: time.Second,
		Utilisation: (100 + 39 + 59 + 50) / 400.0,
		Held:        198 * time.Second, AtPeak: 300 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures differ (-want +got):\n%s", diff)
	}
	if got.Saved() != 102*time.Second {
		t.Errorf("saved %v, want 1m42s", got.Saved())
	}
}

func TestMarksPairPromisesWithWhatCame(t *testing.T) {
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
			[]Size{{at(0), 1}, {at(10), 2}}, []string{"0→1 0s", "1→2 -0.5s"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, m := range (Job{Holds: c.holds, Planned: c.planned}).Marks() {
				late := span(m.Late())
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

func TestAChartThatCannotBeDrawnIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Gantt){
		"needs nodes":              func(g *Gantt) { g.Nodes = nil },
		"named twice":              func(g *Gantt) { g.Nodes[1] = "n1" },
		"not among the rows":       func(g *Gantt) { g.Nodes = g.Nodes[:2] },
		"no span":                  func(g *Gantt) { g.Jobs[0].Holds[0].To = at(0) },
		`job 8 is of kind "other"`: func(g *Gantt) { g.Jobs[1].Kind = "other" },
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

func TestAChartOfNothingIsStillAPage(t *testing.T) {
	g := Gantt{Title: "Empty", Nodes: []string{"n1"}, Jobs: []Job{{ID: "1", Name: "waits", Kind: Evolving, Submit: at(0)}}}
	if html := written(t, g); !strings.Contains(html, "waits") {
		t.Error("the job that waits is missing from the table")
	}
}
