package figures_test

import (
	"bytes"
	"context"
	"flag"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/internal/testenv"
	"accordion/traces/paper/chart/charttest"
	"accordion/traces/paper/delegated"
	"accordion/traces/paper/delegated/figures"
	"accordion/traces/swf"
)

// experiment returns an experiment with the real log.
func experiment(t *testing.T) figures.Experiment {
	t.Helper()
	const atlas = "LLNL-Atlas-2006-2.1-cln.swf.gz"
	log, err := swf.ReadFile(filepath.Join(testenv.Logs(t, atlas), atlas), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return figures.Experiment{Usable: delegated.Usable(log), Seeds: 1, Seed: 1}
}

func run(t *testing.T, e figures.Experiment, names ...string) *figures.Data {
	t.Helper()
	done := 0
	e.Done = func(work int) { done = work }
	data, err := e.Run(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	if work := e.Work(names...); done != work {
		t.Errorf("%d of %d runs were told of", done, work)
	}
	return data
}

// timeless returns the rows that do not depend on the machine.
func timeless(rows []figures.Row) []figures.Row {
	return slices.DeleteFunc(rows, func(r figures.Row) bool { return strings.HasSuffix(r.Figure, "f") })
}

// With long set, tests run that take minutes.
var long = flag.Bool("accordion.long", false, "make Figures 10 and 11, and Figure 7 twice")

func TestFigure7AndItsClaims(t *testing.T) {
	e := experiment(t)
	data := run(t, e, "fig7")
	if *long {
		if d := cmp.Diff(timeless(run(t, e, "fig7").Rows()), timeless(data.Rows())); d != "" {
			t.Errorf("the same seed gives other figures:\n%s", d)
		}
	}
	want := map[string]figures.Verdict{"7a": figures.Holds, "7b": figures.Order, "7c": figures.Partly, "7d": figures.Holds, "7e": figures.Partly, "7g": figures.Partly, "8a": figures.Open, "10b": figures.Open}
	for _, c := range data.Claims() {
		if verdict, ok := want[c.ID]; ok && c.Verdict != verdict {
			t.Errorf("%s %v: %s (%s), want %s", c.ID, c.Verdict, c.Ours, c.Why, verdict)
		}
	}
	for _, words := range []string{"Figure 7: one cluster", "7a: unique configurations", "7e fewer operations in all than OAR: partly"} {
		if text := data.Text(); !strings.Contains(text, words) {
			t.Errorf("%q is not in\n%s", words, text)
		}
	}
	charts := data.Charts()
	if len(charts) != 11 {
		t.Errorf("%d charts", len(charts))
	}
	for _, c := range charts {
		var b bytes.Buffer
		if err := c.Write(&b); err != nil || !strings.Contains(b.String(), "</svg>") {
			t.Errorf("%s: %v, %d bytes", c.File, err, b.Len())
		}
		for _, fault := range charttest.Faults(b.Bytes()) {
			t.Errorf("%s: %s", c.File, fault)
		}
	}
}

func TestWasteAndDelays(t *testing.T) {
	if !*long {
		t.Skip("it makes 155 runs: -accordion.long")
	}
	e := experiment(t)
	e.Draws = 2
	data := run(t, e, "fig10", "fig11")
	for _, c := range data.Claims() {
		switch {
		case c.ID == "11a" && c.Verdict != figures.Holds, c.ID == "11c" && c.Verdict != figures.Holds, strings.HasPrefix(c.ID, "10") && c.Verdict == figures.Open:
			t.Errorf("%s: %s: %s", c.ID, c.Verdict, c.Ours)
		}
	}
	late := 0
	for _, r := range data.Rows() {
		if r.Figure == "10-late" {
			late++
		}
	}
	if late != 50 {
		t.Errorf("%d shares of figure 10, want 50", late)
	}
	if text := data.Text(); !strings.Contains(text, "Work 10 h, 2 draws") {
		t.Error(text)
	}
}

// W1 has its cem application in place 40, or with Experiment.All in each of 200 places.
func TestAllPlacesAreRunOnlyWhereTheyAreWanted(t *testing.T) {
	e := figures.Experiment{Seeds: 2}
	some := e.Work("fig9")
	e.All = true
	if all := e.Work("fig9"); some != 2*8*6 || all != some+2*8*199 {
		t.Errorf("%d runs, and %d of all places", some, all)
	}
}

func TestTheHeadingSaysWhatBecomesOfLargeJobs(t *testing.T) {
	e := experiment(t)
	for sizes, want := range map[delegated.Sizes]string{
		delegated.Cut: "1 seed from 1, sizes cut: 106 of the first 200 jobs are larger than a cluster, and cut", delegated.Skip: "larger than a cluster left out until 200 are drawn",
	} {
		if e.Sizes = sizes; !strings.Contains(e.Heading(), want) {
			t.Errorf("%q, want %q", e.Heading(), want)
		}
	}
}

func TestAnExperimentEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := experiment(t)
	runs := 0
	e.Done = func(work int) {
		if runs = work; work == 2 { // other runs are under way on all cores
			cancel()
		}
	}
	if _, err := e.Run(ctx, "fig7"); err == nil || runs > 2+runtime.GOMAXPROCS(0) {
		t.Errorf("it went on to %d of %d runs: %v", runs, e.Work("fig7"), err)
	}
}
