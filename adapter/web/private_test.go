package web

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

// recorded returns a journal that was written before the server started. In it, a job of the user ann grew, and its promise was broken.
func recorded(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	at := func(second core.Time) time.Time { return time.Unix(second, 0) }
	for _, e := range []journal.Event{
		{At: at(noon - 20*3600), Job: 99, Submitted: noon - 21*3600, Kind: "started", Text: "long ago", Fields: map[string]any{"nodes": "n9"}},
		{At: at(noon - 1900), Job: 1, Submitted: noon - 7200, Kind: "accepted", Text: "ep=2x10m,3x2h", Fields: map[string]any{"user": "ann"}},
		{At: at(noon - 1800), Job: 1, Submitted: noon - 7200, Kind: "started", Text: "on 2 nodes", Fields: map[string]any{"nodes": "n[1-2]"}},
		{At: at(noon - 1200), Job: 1, Submitted: noon - 7200, Kind: "grew", Text: "from 2 to 3 nodes; secret words of ann", Fields: map[string]any{"nodes": "n[1-3]"}},
		{At: at(noon - 600), Job: 1, Submitted: noon - 7200, Kind: "promise broken", Text: "its end moves", Fields: map[string]any{"seconds": 90, "cause": "lost node"}},
	} {
		if err := j.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func TestThePastIsReadFromTheJournal(t *testing.T) {
	h, _ := open(t, Options{Journal: recorded(t)})
	s := clusterOf(16, 4, 2)
	e := shows(t, h, s)
	if len(e.state.Past) != 1 || e.state.Past[0] != (piece{ID: 1, User: "ann", Kind: "evolving", Nodes: "n[1-2]", From: noon - 1800, To: noon - 1200}) {
		t.Errorf("the past is %+v", e.state.Past)
	}
	if since := e.state.Jobs[0].Since; since != noon-1200 {
		t.Errorf("job 1 has had its nodes for %d s, want 1200", noon-since)
	}
	if want := (broken{At: noon - 600, ID: 1, User: "ann", Seconds: 90, Cause: "lost node"}); len(e.state.Broken) != 1 || e.state.Broken[0] != want {
		t.Errorf("broken promises are %+v", e.state.Broken)
	}
	n := later(s, 10) // the delay is longer now, but the broken promise must be listed only once
	n.Broken = map[adapter.Key]view.Breach{s.Queue.Jobs[0].Key(): {Slipped: 200, Cause: "late application"}}
	if e = shows(t, h, n); len(e.state.Broken) != 1 || e.state.Broken[0].Seconds != 200 {
		t.Errorf("broken promises are %+v", e.state.Broken)
	}
}

// If jobs are private, no page and no message may contain the name of a user. Nor may it contain a job's name, or the reason why a job
// waits.
func TestPrivateJobsShowNoUser(t *testing.T) {
	h, root := open(t, Options{Journal: recorded(t), Private: true})
	s := clusterOf(16, 4, 6)
	for i := range s.Queue.Jobs {
		e := &s.Queue.Jobs[i]
		e.User, e.Name, e.Why = "ann", "secretname", "secret reason of ann"
		e.Priority, e.Parts, e.Limit = 77, []adapter.RankPart{{Name: "secret", Points: 7}}, &view.Limit{Nodes: 1, Why: "secret account"}
	}
	s.Queue.Closures = []view.Closure{{Name: "secretproject", Nodes: 1, Start: noon, End: noon + 90_000}}
	s.Closed = []view.SnapshotClosure{{Closure: s.Queue.Closures[0], On: "n16"}}
	shows(t, h, s)
	n := later(s, 5)
	n.Queue.Jobs = n.Queue.Jobs[1:] // jobs that have ended must be private, too
	n.Broken = map[adapter.Key]view.Breach{s.Queue.Jobs[1].Key(): {Slipped: 200, Cause: "lost node"}}
	e := shows(t, h, n)
	text, _ := e.whole.bytes()
	for id := range 11 {
		answer := get(t, fmt.Sprintf("%s/job?id=%d", root, id+1), nil)
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, body...)
	}
	for _, bad := range []string{"secret", "ann<", "ann ", `"ann"`, "of ann"} {
		if at := strings.Index(string(text), bad); at >= 0 {
			t.Errorf("%q is to be read: …%s…", bad, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	for _, want := range []string{"a job of somebody", `"private":true`, "Why it waits"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not to be read", want)
		}
	}
	if len(e.state.Past) < 2 || len(e.state.Broken) != 2 {
		t.Errorf("the past is %+v, broken promises are %+v", e.state.Past, e.state.Broken)
	}
}

// An administrator may set PrivateData while the sidecar runs, after `accordion preflight` has found nothing wrong.
func TestPageHidesWhatTheBatchSystemBeginsToHide(t *testing.T) {
	for name, c := range map[string]struct {
		hidden adapter.Hidden
		hides  []string
		shows  []string
	}{
		"nothing":      {adapter.Hidden{}, nil, []string{"reasonword", "zoeuser", "jobname", "lackaccount", "project", "broken fan"}},
		"jobs":         {adapter.Hidden{Jobs: true}, []string{"reasonword", "zoeuser", "jobname", "lackaccount", "project", "words of ann"}, []string{"broken fan", `"private":true`}},
		"reservations": {adapter.Hidden{Reservations: true}, []string{"reasonword", "project", "words of ann"}, []string{"zoeuser", "jobname", "broken fan"}},
		"accounts":     {adapter.Hidden{Accounts: true}, []string{"reasonword", "lackaccount", "rankword", "words of ann"}, []string{"zoeuser", "jobname", "project"}},
		"nodes":        {adapter.Hidden{Nodes: true}, []string{"broken fan"}, []string{"reasonword", "zoeuser", "jobname", "project"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := open(t, Options{Journal: recorded(t)})
			s := clusterOf(16, 4, 6)
			for i := range s.Queue.Jobs {
				e := &s.Queue.Jobs[i]
				e.User, e.Name, e.Why = "zoeuser", "jobname", "reasonword"
				e.Priority, e.Parts, e.Limit = 77, []adapter.RankPart{{Name: "rankword", Points: 7}}, &view.Limit{Nodes: 1, Why: "lackaccount"}
			}
			s.Queue.Closures = []view.Closure{{Name: "project", Nodes: 1, Start: noon, End: noon + 90_000}}
			s.Closed = []view.SnapshotClosure{{Closure: s.Queue.Closures[0], On: "n16"}}
			s.Nodes[15].State, s.Nodes[15].Why = view.NodeAway, "broken fan"
			shows(t, h, s)
			n := later(s, 5)
			n.Hidden = c.hidden
			text, _ := shows(t, h, n).whole.bytes()
			for id := range 11 {
				body, err := io.ReadAll(get(t, fmt.Sprintf("%s/job?id=%d", root, id+1), nil).Body)
				if err != nil {
					t.Fatal(err)
				}
				text = append(text, body...)
			}
			for _, bad := range c.hides {
				if strings.Contains(string(text), bad) {
					t.Errorf("%q is to be read", bad)
				}
			}
			for _, want := range c.shows {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is not to be read", want)
				}
			}
		})
	}
}

// The server wants the next snapshot only after it has composed the version of the previous one, and has then paused.
func TestTheServerWantsOneSnapshotAtATime(t *testing.T) {
	h := New(Options{})
	if !h.WantsSnapshot() {
		t.Error("an empty server wants none")
	}
	h.Receive(clusterOf(4, 1, 1))
	if h.WantsSnapshot() {
		t.Error("it wants another one before the first is composed")
	}
	h.Receive(clusterOf(4, 1, 1)) // does not block
}

func TestTheJobsPage(t *testing.T) {
	h, root := open(t, Options{Journal: recorded(t)})
	s := clusterOf(16, 4, 6)
	shows(t, h, s)
	read := func(id int) string {
		body, err := io.ReadAll(get(t, fmt.Sprintf("%s/job?id=%d", root, id), nil).Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for _, c := range []struct {
		id   int
		want []string
	}{
		{1, []string{"<title>Job 1 · sim0 on lab", "What it was promised", "grew: from 2 to 3 nodes", `<path class="held" d="M`, `<path class="planned" d="M`, "It has held 2 nodes for 10m, then 3 nodes for 20m", "?user=ann"}},
		{7, []string{"Why it waits", "Who has nodes now", `<a href="job?id=2">job 2</a>`, "Planned: "}},
		{99, []string{"not in the queue any more", "long ago"}},
	} {
		text := read(c.id)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("job %d: %q is not to be read in %s", c.id, want, text)
			}
		}
	}
	n := later(s, 5)
	n.Queue.Jobs = n.Queue.Jobs[1:]
	shows(t, h, n)
	if text := read(1); !strings.Contains(text, "It held 2 nodes for 10m, then 3 nodes for ") {
		t.Errorf("what is over is not drawn: %s", text)
	}
}

// The page of a job that is a part of an application also explains the application, if that is known
// and may be shown. Otherwise the page names the command that shows the application.
func TestPageOfAPartOfAnApplication(t *testing.T) {
	s := clusterOf(16, 4, 2)
	s.Queue.Jobs[0].Kind = view.Delegated
	known := func(job core.JobID, _ string) (*status.ApplicationExplanation, error) {
		if job != 1 {
			t.Errorf("of job %d it is asked, too", job)
		}
		return &status.ApplicationExplanation{ID: 7, Seen: &view.Application{ID: 7, User: "ann", Name: "stencil", State: "started"}}, nil
	}
	failing := func(core.JobID, string) (*status.ApplicationExplanation, error) {
		return nil, errors.New("the journal is away")
	}
	for _, c := range []struct {
		what    string
		options Options
		want    string
	}{
		{"known", Options{Application: known}, "Application 7 &#34;stencil&#34; of ann: started"},
		{"not to be read", Options{Application: failing}, "accordion explain 1 says where that stands"},
		{"private", Options{Application: known, Private: true}, "accordion explain 1 says where that stands"},
		{"without launchers", Options{}, "accordion explain 1 says where that stands"},
	} {
		h, root := open(t, c.options)
		shows(t, h, s)
		for _, path := range []string{"/job?id=1", "/job?id=2"} {
			body, err := io.ReadAll(get(t, root+path, nil).Body)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(string(body), c.want); said != (path == "/job?id=1") {
				t.Errorf("%s: %s says %q: %v\n%s", c.what, path, c.want, said, body)
			}
		}
	}
}
