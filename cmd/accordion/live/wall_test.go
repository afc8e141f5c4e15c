package live

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter"
	"accordion/adapter/view"
)

func TestLinesOfSeveralBatchSystemsBeginWithTheirNames(t *testing.T) {
	var out strings.Builder
	w := NewWall(&out, Options{Title: "a", Begin: begin}, Options{Title: "far", Begin: begin})
	defer w.Close()
	show := func(i int, s *adapter.Snapshot) {
		t.Helper()
		if err := w.Pane(i).Show(s, view.Status{}); err != nil {
			t.Fatal(err)
		}
	}
	say := func(i int, text string) {
		t.Helper()
		if err := w.Pane(i).Say(text); err != nil {
			t.Fatal(err)
		}
	}
	show(0, two(0, job(7, "mesh", adapter.Running, "n1")))
	say(1, "no answer\x1b")
	say(1, "no answer\x1b")
	show(0, two(1))
	show(1, two(1))
	show(1, two(2, job(7, "other", adapter.Pending)))
	say(1, "no answer\x1b")
	show(1, two(3))
	want := `a             0:00  job 7   mesh       submitted: 1 nodes for 10m
a             0:00  job 7   mesh       starts on 1: n1
far       no answer?
a             0:01  job 7   mesh       ends
far       answers again
far           0:02  job 7   other      submitted: 1 nodes for 10m
far       no answer?
far           0:03  job 7   other      ends
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

func TestPicturesOfSeveralBatchSystemsShareTheTerminal(t *testing.T) {
	var out strings.Builder
	w := NewWall(&out, Options{Title: "First", Begin: begin, Column: 10 * time.Second}, Options{Title: "Second", Begin: begin, Column: 10 * time.Second})
	for _, p := range w.panes {
		p.screen.picture = &picture{}
	}
	w.size(80, 24)
	if err := w.Pane(1).Say("no answer"); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := w.Pane(0).Show(two(0, job(1, "mesh", adapter.Running, "n1")), view.Status{}); err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer("\r", "", clearRight, "", clearBelow, "", "\x1b[1A", "UP 1\n").Replace(out.String())
	want := `UP 1
First   0:00   1 of 2 nodes busy

     n1 B
     n2 .

B    1 mesh         1 nodes  n1
    0:00  job 1   mesh       submitted: 1 nodes for 10m
    0:00  job 1   mesh       starts on 1: n1
Second   no answer
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pictures differ (-want +got):\n%s", diff)
	}

	w.size(80, 4) // too small for both
	out.Reset()
	if err := w.Pane(1).Show(two(1), view.Status{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 3 {
		t.Errorf("%d lines on a terminal of 4", lines)
	}
}
