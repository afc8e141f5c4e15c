package live

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

var begin = time.Unix(1_000_000, 0)

func at(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }

// two returns a snapshot of two nodes with the given jobs.
func two(second int, jobs ...adapter.Job) *adapter.Snapshot {
	return &adapter.Snapshot{
		At: at(second), Jobs: jobs,
		Nodes: []adapter.Node{{Name: "n1", Usable: true}, {Name: "n2", Usable: true, Idle: true}},
	}
}

func job(id core.JobID, name string, state adapter.State, nodes ...string) adapter.Job {
	return adapter.Job{Key: adapter.Key{ID: id, Submitted: 1}, Name: name, State: state, Nodes: nodes, Want: 1, Limit: 600}
}

func evolving(j adapter.Job) adapter.Job {
	j.Mark = adapter.MarkPrefix + "ep=1x20s,2x20s"
	return j
}

func TestEveryChangeIsALine(t *testing.T) {
	var out strings.Builder
	s := New(&out, Options{Begin: begin})
	expander := job(3, "accordion-grow-1", adapter.Running, "n2")
	expander.Expands = 1
	for _, snapshot := range []*adapter.Snapshot{
		two(0),
		two(5, evolving(job(1, "mesh", adapter.Pending)), job(2, "plain", adapter.Pending)),
		two(9, evolving(job(1, "mesh", adapter.Running, "n1"))),
		two(20, evolving(job(1, "mesh", adapter.Running, "n1")), expander),
		two(21, evolving(job(1, "mesh", adapter.Running, "n1", "n2"))),
		two(21, evolving(job(1, "mesh", adapter.Running, "n1", "n2"))),
		two(61, evolving(job(1, "mesh", adapter.Running, "n1"))),
		two(3725, evolving(job(1, "mesh", adapter.Ending, "n1"))),
		two(3726),
	} {
		if err := s.Show(snapshot, view.Status{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	want := `    0:05  job 1   mesh       submitted: ep=1x20s,2x20s
    0:05  job 2   plain      submitted: 1 nodes for 10m
    0:09  job 1   mesh       starts on 1: n1
    0:09  job 2   plain      ends
    0:21  job 1   mesh       grows 1 → 2: n[1-2]
    1:01  job 1   mesh       shrinks 2 → 1: n1
 1:02:05  job 1   mesh       ends
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestALostTerminalIsAnError(t *testing.T) {
	s := New(broken{}, Options{Begin: begin})
	if err := s.Show(two(0, job(1, "a", adapter.Pending)), view.Status{}); err == nil {
		t.Error("a failed write is no error")
	}
}

// drawn returns a screen that draws without a terminal.
func drawn(width, height int, colour bool) *Screen {
	s := New(&strings.Builder{}, Options{Title: "Two nodes", Begin: begin, Column: 10 * time.Second})
	s.picture = &picture{width: width, height: height, colour: colour}
	return s
}

func (s *Screen) see(now *adapter.Snapshot, view view.Status) []string {
	s.news = append(s.news, s.changes(now)...)
	s.record(now)
	s.last = now
	return s.draw(now, view)
}

func TestThePictureOfTwoNodes(t *testing.T) {
	s := drawn(100, 24, false)
	mesh := evolving(job(1, "mesh", adapter.Running, "n1"))
	waits := evolving(job(2, "fluid", adapter.Pending))
	waits.Why = "JobHeldAdmin"
	s.see(two(0), view.Status{})
	s.see(two(10, mesh, waits), view.Status{})
	mesh.Nodes = []string{"n1", "n2"}
	view := view.Status{Jobs: []view.Job{
		{ID: 1, Submitted: 1, Phase: "running", Step: 2, Steps: 2, Request: "ep=1x20s,2x20s"},
		{ID: 2, Submitted: 1, Start: at(50).Unix()},
	}}
	got := strings.Join(s.see(two(30, mesh, waits), view), "\n")
	want := `Two nodes   0:30   1 of 2 nodes busy

     n1 .BBB
     n2 ...B

B    1 mesh         2 nodes  n[1-2]                    step 2 of 2  running   ep=1x20s,2x20s
C    2 fluid      waits      ep=1x20s,2x20s                     planned for 0:50
    0:10  job 2   fluid      submitted: ep=1x20s,2x20s
    0:30  job 1   mesh       grows 1 → 2: n[1-2]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the picture differs (-want +got):\n%s", diff)
	}
}

func TestNodeThatJobsShareIsNoneOfTheirs(t *testing.T) {
	s := drawn(100, 24, false)
	s.see(two(0, job(1, "mesh", adapter.Running, "n1")), view.Status{})
	got := strings.Join(s.see(two(10, job(1, "mesh", adapter.Running, "n1"), job(2, "plot", adapter.Running, "n1")), view.Status{})[:4], "\n")
	want := `Two nodes   0:10   1 of 2 nodes busy, 1 shared by jobs (+)

     n1 B+
     n2 ..`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the picture differs (-want +got):\n%s", diff)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestThePictureNeverExceedsTheTerminalAndPrintsNoControls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(20, 200).Draw(t, "width"), rapid.IntRange(8, 60).Draw(t, "height")
		s := drawn(width, height, rapid.Bool().Draw(t, "colour"))
		for range rapid.IntRange(1, 6).Draw(t, "snapshots") {
			snapshot := &adapter.Snapshot{At: at(rapid.IntRange(0, 100000).Draw(t, "second"))}
			for range rapid.IntRange(0, 40).Draw(t, "nodes") {
				snapshot.Nodes = append(snapshot.Nodes, adapter.Node{Name: rapid.String().Draw(t, "node"), Usable: rapid.Bool().Draw(t, "usable")})
			}
			for i := range rapid.IntRange(0, 30).Draw(t, "jobs") {
				j := job(core.JobID(i+1), rapid.String().Draw(t, "name"), rapid.SampledFrom([]adapter.State{
					adapter.Pending, adapter.Running, adapter.Ending}).Draw(t, "state"))
				if rapid.Bool().Draw(t, "managed") {
					j.Mark = adapter.MarkPrefix + rapid.String().Draw(t, "request")
				}
				if len(snapshot.Nodes) > 0 && j.State != adapter.Pending {
					j.Nodes = []string{rapid.SampledFrom(snapshot.Nodes).Draw(t, "held").Name}
				}
				snapshot.Jobs = append(snapshot.Jobs, j)
			}
			lines := s.see(snapshot, view.Status{})
			if len(lines) > height-1 {
				t.Fatalf("%d lines on a terminal of %d", len(lines), height)
			}
			for _, line := range lines {
				plain := escape.ReplaceAllString(line, "")
				if utf8.RuneCountInString(plain) > width {
					t.Fatalf("%q is wider than %d", plain, width)
				}
				if strings.ContainsAny(plain, "\x1b\n\r\a\u009b") {
					t.Fatalf("%q has control characters", plain)
				}
			}
		}
	})
}
