package readers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/session"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/shim/wire"
)

// The user IDs of the tests' users. Root may see everything.
const (
	root  = 0
	alice = 7001
	bob   = 7002
	ghost = 7003 // a user ID without a name
)

func nameOf(_ context.Context, uid uint32) (string, error) {
	switch uid {
	case alice:
		return "alice", nil
	case bob:
		return "bob", nil
	}
	return "", errors.New("no such user")
}

// world is a server with a socket for each user.
type world struct {
	t       *testing.T
	dir     string
	journal *journal.Journal
	server  *Server
}

// newWorld returns a journal with jobs 1 and 3 of alice and job 2 of bob, and a server that answers
// from this journal.
func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "readers") // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{t: t, dir: dir}
	if w.journal, err = journal.Open(filepath.Join(dir, "j.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.journal.Close() })
	w.publish(view.Status{At: 100, Cluster: "c", Jobs: []view.Job{{ID: 1, Submitted: 10, User: "alice", Name: "a1", Phase: "running"},
		{ID: 2, Submitted: 20, User: "bob", Name: "secret", Phase: "waiting"}}},
		view.Queue{At: 100, Cluster: "c", Nodes: 8, Closures: []view.Closure{{Name: "bobs-course", Nodes: 2, Start: 500, End: 600}},
			Jobs: []view.Entry{
				{ID: 1, Submitted: 10, User: "alice", Name: "a1", Kind: "evolving", Phase: "running", Size: 4, Nodes: "n[1-4]", Start: 50, End: 400, Free: 400, Request: "ep=4x350s"},
				{ID: 2, Submitted: 20, User: "bob", Name: "secret", Kind: "ordinary", Phase: "waiting", Rank: 1, Size: 8, Start: 400, Why: "Resources of bob"},
				{ID: 3, Submitted: 30, User: "alice", Name: "a3", Kind: "ordinary", Phase: "waiting", Rank: 2, Size: 8, Start: 700, Why: "after job 2 of bob"}}})
	for _, e := range []journal.Event{
		{Job: 1, Submitted: 10, Kind: "accepted", Text: "ep=4x350s", Fields: map[string]any{"user": "alice"}},
		{Job: 2, Submitted: 20, Kind: "accepted", Text: "ep=8x1h", Fields: map[string]any{"user": "bob"}},
		{Job: 1, Submitted: 10, Kind: "replanned", Text: "start put off: job 2 of bob came before it in the queue, job 1 of alice waits", Fields: map[string]any{"by": "job 2 of bob"}},
		{Kind: "ready", Text: "the sidecar begins"},
	} {
		e.At = time.Unix(100, 0)
		if err := w.journal.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	o.Journal = w.journal.Path()
	if o.Name == nil {
		o.Name = nameOf
	}
	w.server = New(o)
	t.Cleanup(w.server.Close)
	return w
}

func (w *world) publish(s view.Status, q view.Queue) {
	w.t.Helper()
	text1, err1 := json.Marshal(s)
	text2, err2 := json.Marshal(q)
	if err := errors.Join(err1, err2, w.journal.PutView(text1), w.journal.PutQueue(text2)); err != nil {
		w.t.Fatal(err)
	}
}

// of returns a reader of the journal for the given user.
func (w *world) of(uid uint32) journal.Reader {
	w.t.Helper()
	return Remote(w.socket(uid), w.journal.Path())
}

// socket returns the path of a socket on which the server takes every client for the given user.
func (w *world) socket(uid uint32) string {
	w.t.Helper()
	path := filepath.Join(w.dir, fmt.Sprint(uid))
	l, err := net.Listen("unix", path)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				if first, err := wire.ReadFrame(conn); err == nil {
					w.server.Session(ctx, conn, session.Peer{UID: uid}, first)
				}
			})
		}
	})
	w.t.Cleanup(func() { stop(); l.Close(); open.Wait() })
	return path
}

func private(context.Context) (adapter.Hidden, error) { return adapter.Hidden{Jobs: true}, nil }

func entriesOf(t *testing.T, j journal.Reader) []journal.Entry {
	t.Helper()
	var out []journal.Entry
	for e, err := range j.Entries(0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// reports returns, as JSON, everything that the commands show of a journal.
func reports(t *testing.T, j journal.Reader) string {
	t.Helper()
	s, err1 := status.Read(j)
	q, err2 := status.ReadQueue(j)
	x, err3 := status.Explain(j, 1)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent([]any{s, q, x, entriesOf(t, j)}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUsersReadEverythingIfNothingIsPrivate(t *testing.T) {
	w := newWorld(t, Options{})
	direct, err := journal.OpenReadOnly(w.journal.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	want := reports(t, direct)
	for _, uid := range []uint32{root, alice} {
		if diff := cmp.Diff(want, reports(t, w.of(uid))); diff != "" {
			t.Errorf("user %d: (-the file +the socket)\n%s", uid, diff)
		}
	}
}

func TestUsersSeeOnlyTheirOwnJobsIfJobsArePrivate(t *testing.T) {
	w := newWorld(t, Options{Hides: private})
	if said := reports(t, w.of(root)); !strings.Contains(said, "secret") {
		t.Error("root does not see everything")
	}
	j := w.of(alice)
	said := reports(t, j)
	for _, hidden := range []string{"bob", "secret", "Resources", "job 2"} {
		if strings.Contains(said, hidden) {
			t.Errorf("alice reads %q:\n%s", hidden, said)
		}
	}
	s, err := status.Read(j)
	if err != nil || len(s.Jobs) != 1 || s.Jobs[0].Name != "a1" {
		t.Errorf("status: %v (%v), want alice's job alone", s.Jobs, err)
	}
	q, err := status.ReadQueue(j)
	if err != nil || len(q.Jobs) != 3 || q.Jobs[1].User != view.Somebody || q.Jobs[1].Size != 8 || q.Jobs[2].Why != "after another job" || q.Closures[0].Name != "of somebody" {
		t.Errorf("queue: %+v (%v), want three jobs, the second without a name", q.Queue, err)
	}
	var verbs []string
	for _, e := range entriesOf(t, j) {
		verbs = append(verbs, fmt.Sprintf("%d %s %s %v", e.Job, e.Verb, e.Text, e.Args["by"]))
	}
	want := []string{"1 accepted ep=4x350s <nil>", "1 replanned start put off: another job came before it in the queue, job 1 of alice waits another job"}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("entries: (-want +got)\n%s", diff)
	}
}

// The reasons why jobs wait, and the entries of the journal, may name reservations, and accounts with
// their limits. So these texts are hidden even if the rest of a job is not hidden.
func TestReasonsOfOthersJobsAreHiddenIfAccountsOrReservationsArePrivate(t *testing.T) {
	for name, hidden := range map[string]adapter.Hidden{"accounts": {Accounts: true}, "reservations": {Reservations: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{Hides: func(context.Context) (adapter.Hidden, error) { return hidden, nil }})
			w.publish(view.Status{Jobs: []view.Job{{ID: 1, User: "alice", Why: "own words"}, {ID: 2, User: "bob", Name: "bobsname", Why: "account gold"}}},
				view.Queue{Jobs: []view.Entry{{ID: 1, User: "alice", Why: "own words"}, {ID: 2, User: "bob", Name: "bobsname", Why: "account gold"}}})
			if err := w.journal.Event(journal.Event{Job: 2, Submitted: 20, Kind: "limited", Text: "account gold"}); err != nil {
				t.Fatal(err)
			}
			said := reports(t, w.of(alice))
			if strings.Contains(said, "gold") || strings.Count(said, "own words") < 2 || strings.Count(said, "bobsname") < 2 || !strings.Contains(said, "replanned") {
				t.Errorf("alice reads\n%s", said)
			}
			if !strings.Contains(reports(t, w.of(root)), "account gold") {
				t.Error("root does not see everything")
			}
		})
	}
	c, err := splitApplications([]byte(`{"applications": [{"id": 1, "user": "bob", "why": "account gold", "failed": "account gold"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := c.write(&text, viewer{name: "alice", hidden: adapter.Hidden{Accounts: true}}); err != nil || strings.Contains(text.String(), "gold") || !strings.Contains(text.String(), "bob") {
		t.Errorf("of applications alice reads %s (%v)", text.String(), err)
	}
}

// A site may have had millions of jobs. Owners of jobs that are in no document are looked up in the
// journal one by one. If the limit on remembered owners is reached, the documents are not read again
// because of that.
func TestOwnersOfManyJobsAreNotForgottenAtOnce(t *testing.T) {
	w := newWorld(t, Options{Hides: private})
	j := w.of(alice)
	if n := len(entriesOf(t, j)); n != 2 {
		t.Fatalf("alice reads %d entries, want 2", n)
	}
	s := w.server.cluster
	s.mu.Lock()
	for i := range int64(mostOwners + 10) {
		s.owners.note(jobKey{1000 + i, 1}, "carol")
	}
	s.learned = time.Time{}
	s.mu.Unlock()
	for _, e := range []journal.Event{{Job: 9, Submitted: 90, Kind: "accepted", Fields: map[string]any{"user": "alice"}}, {Job: 9, Submitted: 91, Kind: "accepted", Fields: map[string]any{"user": "bob"}},
		{Job: 9, Submitted: 90, Kind: "grew"}, {Job: 9, Submitted: 91, Kind: "grew"}} {
		e.At = time.Unix(100, 0)
		if err := w.journal.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(entriesOf(t, j)); n != 4 { // alice still sees the entries of job 9, which is in no document any more
		t.Errorf("alice reads %d entries, want 4", n)
	}
	if user := s.owner(jobKey{9, anySubmission}); user != "bob" {
		t.Errorf("the newest job 9 is %q's, want bob's", user)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.owners.users); n > mostOwners || n < mostOwners-10 || len(s.owners.last) != n {
		t.Errorf("%d users and %d numbers are remembered, want %d", n, len(s.owners.last), mostOwners)
	}
	if len(s.owners.recent) > 10 {
		t.Errorf("%d were looked up", len(s.owners.recent))
	}
	s.owners.of(jobKey{9, 90}, time.Now().Add(2*fresh))
	if len(s.owners.recent) > 0 {
		t.Error("what was looked up is remembered for good")
	}
}

func TestUnknownPrivacyHidesEverything(t *testing.T) {
	var fails atomic.Bool
	var passed atomic.Int64 // nanoseconds by which the test's clock has advanced
	fails.Store(true)
	w := newWorld(t, Options{Now: func() time.Time { return time.Unix(1000, passed.Load()) }, Hides: func(context.Context) (adapter.Hidden, error) {
		if fails.Load() {
			return adapter.Hidden{}, errors.New("slurmctld does not answer")
		}
		return adapter.Hidden{}, nil
	}})
	j := w.of(alice)
	jobs := func() int {
		t.Helper()
		s, err := status.Read(j)
		if err != nil {
			t.Fatal(err)
		}
		return len(s.Jobs)
	}
	if n := jobs(); n != 1 {
		t.Errorf("%d jobs are shown before it is known whether jobs are private, want alice's one", n)
	}
	fails.Store(false)
	passed.Add(int64(2 * hidingKept))
	jobs() // makes the server ask the batch system again
	if n := jobs(); n != 2 {
		t.Errorf("%d jobs are shown where none are private, want 2", n)
	}
	fails.Store(true)
	passed.Add(int64(2 * hidingKept))
	if n := jobs(); n != 2 {
		t.Errorf("%d jobs are shown after a failed question, want 2 as before", n)
	}
}

func TestUserIDWithoutANameIsRefused(t *testing.T) {
	w := newWorld(t, Options{})
	c := w.of(ghost).(*client)
	_, err := c.once(t.Context(), wire.Query{What: wire.QueryView})
	if err == nil || !strings.Contains(err.Error(), "user 7003") {
		t.Errorf("%v, want a refusal", err)
	}
}

func TestEntriesAreFollowedOverTheSocket(t *testing.T) {
	w := newWorld(t, Options{})
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var got []string
	for e, err := range w.of(alice).Follow(ctx, 3, 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Verb)
		if len(got) == 1 {
			if err := w.journal.Event(journal.Event{At: time.Unix(101, 0), Job: 1, Submitted: 10, Kind: "grew"}); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) == 2 {
			break
		}
	}
	if want := []string{"ready", "grew"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUsersHaveAnAllowance(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAllowances(Limits{AtOnce: 2, Followers: 1, PerMinute: 24, Bytes: 1000, Rate: 100}.orDefaults(), func() time.Time { return now })
	enter := func(uid uint32, follow bool) string {
		if r := a.enter(uid, follow); r != nil {
			return fmt.Sprintf("%s; %d s", r.why, r.again)
		}
		return ""
	}
	leave := func(uid uint32) { a.leave(uid, false) }
	for _, step := range []struct {
		do   func() string
		want string
	}{
		{func() string { return enter(alice, false) }, ""},
		{func() string { return enter(alice, false) }, ""},
		{func() string { return enter(alice, false) }, "user 7001 is being answered 2 times at once, as often as one user may be; 1 s"},
		{func() string { return enter(bob, false) }, ""},
		{func() string { return enter(alice, true) }, ""},
		{func() string { return enter(alice, true) }, "user 7001 follows the journal 1 times at once, as often as one user may; 60 s"},
		{func() string { leave(alice); return enter(alice, false) }, ""},
		{func() string { leave(alice); return enter(alice, false) }, ""},
		{func() string { leave(alice); return enter(alice, false) }, ""},
		{func() string { leave(alice); return enter(alice, false) }, "user 7001 asks more often than 24 times a minute, or 6 times at once, as one user may; 3 s"},
		{func() string { now = now.Add(11 * time.Second); return enter(alice, false) }, ""},
		{func() string { return a.spend(alice, 1000).String() }, "0s"},
		{func() string { return a.spend(alice, 500).String() }, "5s"},
		{func() string { return a.spend(bob, 500).String() }, "0s"},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}

// large returns a queue with the given number of jobs, each of a different user.
func large(jobs int) view.Queue {
	q := view.Queue{At: 100, Cluster: "c", Nodes: 8, Closures: []view.Closure{}}
	for i := range jobs {
		q.Jobs = append(q.Jobs, view.Entry{ID: core.JobID(i + 1), Submitted: 10, User: fmt.Sprint("user", i), Name: strings.Repeat("n", 40), Kind: "evolving", Phase: "waiting",
			Request: "ep=4x350s,8x350s", Rank: i + 1, Size: 4, Start: 1000, End: 2000, Free: 2000, Plan: core.EP{{Duration: 350, Nodes: 4}, {Duration: 350, Nodes: 8}}})
	}
	return q
}

// One user sends queries from 16 programs without pauses, and reads the answers slowly or not at all.
func TestFloodingUserBlocksNoOther(t *testing.T) {
	w := newWorld(t, Options{Hides: private})
	w.publish(view.Status{At: 100, Cluster: "c", Jobs: []view.Job{}}, large(1_000))
	evil, good := w.socket(bob), w.of(alice)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	var asked, answered [16]int
	for i := range 16 {
		flood.Go(func() {
			for ctx.Err() == nil {
				conn, err := net.Dial("unix", evil)
				if err != nil {
					continue
				}
				what := []string{wire.QueryQueue, wire.QueryEntries, wire.QueryView}[i%3]
				asked[i]++
				if wire.WriteQuery(conn, wire.Query{What: what, Follow: what == wire.QueryEntries && i%2 == 0}) == nil {
					if p, err := wire.ReadPiece(conn); err == nil && p.Status != wire.Busy {
						answered[i]++
						if i%4 == 0 { // this client stops reading
							select {
							case <-ctx.Done():
							case <-time.After(time.Second):
							}
						}
					}
				}
				conn.Close()
			}
		})
	}
	var slowest time.Duration
	flooded := time.Now()
	for range 10 {
		begun := time.Now()
		if q, err := status.ReadQueue(good); err != nil || len(q.Jobs) != 1_000 {
			t.Fatalf("%d jobs (%v)", len(q.Jobs), err)
		}
		slowest = max(slowest, time.Since(begun))
		time.Sleep(100 * time.Millisecond)
	}
	most := 60 + 4*int(time.Since(flooded).Seconds()+2)
	stop()
	flood.Wait()
	questions, answers := 0, 0
	for i := range asked {
		questions, answers = questions+asked[i], answers+answered[i]
	}
	t.Logf("the flood asked %d times and was answered %d times; the slowest answer to the other user took %v", questions, answers, slowest)
	if slowest > 2*time.Second {
		t.Errorf("the slowest answer to the other user took %v, want 2 s at most", slowest)
	}
	if questions < 2*most || answers > most {
		t.Errorf("the flood asked %d times and was answered %d times: want many questions, and %d answers at most", questions, answers, most)
	}
}

func TestStateSaysWhetherTheSidecarRuns(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	ctx, stop := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	keeping.Go(func() {
		KeepState(ctx, socket, "c", func(context.Context) error { return nil }, func(err error) { t.Error(err) })
	})
	read := func() State {
		s, _ := ReadState(socket, time.Now())
		return s
	}
	for end := time.Now().Add(10 * time.Second); !read().Running; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the state does not come")
		}
	}
	if info, err := os.Stat(StatePath(socket)); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v (%v), want 0644", info.Mode(), err)
	}
	if s, err := ReadState(socket, time.Now().Add(time.Hour)); err != nil || s.Running || s.Since != s.At {
		t.Errorf("an hour after it was killed: %+v (%v), want away since it wrote last", s, err)
	}
	stop()
	keeping.Wait()
	if s := read(); s.Running || s.Since == 0 || s.Cluster != "c" || s.PID != os.Getpid() {
		t.Errorf("after its end: %+v, want away", s)
	}
	_, err := Remote(socket, "j.db").View()
	var gone *AwayError
	if !errors.As(err, &gone) || !gone.Known || gone.State.Running || !strings.Contains(err.Error(), "has not been running since") {
		t.Errorf("%v, want that it is away", err)
	}
}

func TestUnfinishedStateFileIsRemoved(t *testing.T) {
	dir := t.TempDir()
	path, other := StatePath(filepath.Join(dir, "s")), filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, nil, 0o600), os.Symlink(other, filepath.Join(dir, ".s.state.new"))); err != nil {
		t.Fatal(err)
	}
	defer unix.Umask(unix.Umask(0o077))
	if err := writeState(path, State{PID: 7}); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadState(filepath.Join(dir, "s"), time.Now()); err != nil || s.PID != 7 {
		t.Errorf("the state is %+v (%v)", s, err)
	}
	if text, err := os.ReadFile(other); err != nil || len(text) > 0 {
		t.Errorf("through the link was written %q (%v)", text, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 { // the next process removes the temporary file of a killed process
		t.Errorf("the folder has %v, want the state alone", files)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v (%v), want 0644", info.Mode(), err)
	}
}

// The client must understand answers of protocol version 1. A sidecar of an earlier release sends them
// because it does not know queries, and a sidecar with too many sessions always sends them.
func TestAnswersOfVersion1AreUnderstood(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := wire.ReadFrame(conn); err == nil {
			wire.WriteReply(conn, wire.Reply{Status: wire.Refused, Why: "use the same release"})
		}
	}()
	if _, err := Remote(socket, "j.db").View(); err == nil || !strings.Contains(err.Error(), "use the same release") {
		t.Errorf("%v, want the sidecar's words", err)
	}
}

// A developer who adds a field to view.Entry decides in this test whether other users may see the field if jobs are private.
func TestFieldsOfOthersJobsAreShownOnlyIfListed(t *testing.T) {
	public := []string{"ID", "Submitted", "Kind", "Phase", "Request", "Rank", "Size", "Start", "End", "Free", "Step", "Plan", "Machine", "Sized", "Head", "Turn", "Due", "Choices"}
	hidden := []string{"User", "Name", "Nodes", "Why", "Grows", "Limit", "Priority", "Parts", "Unreserved", "Deadline", "Latest"}
	fields := reflect.TypeFor[view.Entry]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; !slices.Contains(public, name) && !slices.Contains(hidden, name) {
			t.Errorf("view.Entry.%s: it is not decided whether others may see it", name)
		}
	}
	published, err := json.Marshal(view.Queue{Jobs: []view.Entry{{ID: 1, User: "secret", Name: "secret", Nodes: "secret", Why: "secret", Grows: "secret", Unreserved: true,
		Limit: &view.Limit{Why: "secret"}, Priority: 77, Deadline: 1000, Latest: 1000, Parts: []adapter.RankPart{{Name: "secret"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := splitQueue(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		hidden adapter.Hidden
		shown  bool
	}{{adapter.Hidden{Jobs: true}, false}, {adapter.Hidden{Accounts: true}, true}} {
		var text strings.Builder
		if err := c.write(&text, viewer{name: "alice", hidden: one.hidden}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), "secret") != one.shown || strings.Contains(text.String(), "77") || strings.Contains(text.String(), "unreserved") != one.shown || strings.Contains(text.String(), "1000") != one.shown {
			t.Errorf("with %+v hidden: %s", one.hidden, text.String())
		}
	}
}

func TestJobsAreTheLastFieldOfSplitDocuments(t *testing.T) {
	for document, field := range map[reflect.Type]string{reflect.TypeFor[view.Status](): "jobs", reflect.TypeFor[view.Queue](): "jobs", reflect.TypeFor[view.Applications](): "applications"} {
		last := document.Field(document.NumField() - 1)
		if name, _, _ := strings.Cut(last.Tag.Get("json"), ","); name != field {
			t.Errorf("the last field of %s is %s, want %s: splitAtJobs cannot split it once that field is set", document, name, field)
		}
	}
}

func TestBusySidecarIsAskedAgainAfterItsPause(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for _, p := range []wire.Piece{{Status: wire.Busy, Why: "too many ask", Again: 1}, {Status: wire.Done, Data: []byte("true")}} {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = wire.ReadFrame(conn)
			_ = wire.WritePiece(conn, p)
			conn.Close()
		}
	}()
	begin := time.Now()
	had, err := Reset(t.Context(), socket, "ann")
	if err != nil || !had || time.Since(begin) < time.Second {
		t.Errorf("after %v: %v, %v", time.Since(begin), had, err)
	}
}
