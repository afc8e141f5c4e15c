package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fresh(t testing.TB) (*Journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "journal.db")
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, path
}

func all(t testing.TB, j *Journal, since int64) []Entry {
	t.Helper()
	var out []Entry
	for e, err := range j.Entries(since) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestEntriesComeBackInOrderWithOutcomesAndTimes(t *testing.T) {
	j, _ := fresh(t)
	grow := must(j.Begin(Intent{At: noon, Cluster: "lab", Job: 7, Submitted: 99, Verb: "expand",
		Args: map[string]any{"nodes": "n[1-3]", "end": 1700000000}}))(t)
	ev := Event{At: noon.Add(time.Second), Job: 7, Submitted: 99, Kind: "grew", Text: "2 to 5 nodes",
		Fields: map[string]any{"late_ms": 120}}
	if err := j.Event(ev); err != nil {
		t.Fatal(err)
	}
	merge := must(j.Begin(Intent{At: noon.Add(2 * time.Second), Job: 8, Verb: "merge"}))(t)
	end := must(j.Begin(Intent{At: noon.Add(3 * time.Second), Job: 8, Verb: "end"}))(t)
	if err := errors.Join(
		j.Finish(grow, noon.Add(1500*time.Millisecond), nil),
		j.Finish(merge, noon.Add(4*time.Second), errors.New("nodes are busy")),
	); err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{ID: grow, Kind: KindIntent, At: noon, Cluster: "lab", Job: 7, Submitted: 99, Verb: "expand",
			Args: map[string]any{"nodes": "n[1-3]", "end": json.Number("1700000000")}, Outcome: Done, Took: 1500 * time.Millisecond},
		{ID: grow + 1, Kind: KindEvent, At: noon.Add(time.Second), Job: 7, Submitted: 99, Verb: "grew", Text: "2 to 5 nodes",
			Args: map[string]any{"late_ms": json.Number("120")}},
		{ID: merge, Kind: KindIntent, At: noon.Add(2 * time.Second), Job: 8, Verb: "merge",
			Outcome: "failed: nodes are busy", Took: 2 * time.Second},
		{ID: end, Kind: KindIntent, At: noon.Add(3 * time.Second), Job: 8, Verb: "end"},
	}
	if diff := cmp.Diff(want, all(t, j, 0)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[3:], must(j.Unfinished())(t)); diff != "" {
		t.Errorf("unfinished (-want +got):\n%s", diff)
	}
	var of8 []Entry
	for e, err := range j.JobEntries(8, 0) {
		of8 = append(of8, must(e, err)(t))
	}
	if diff := cmp.Diff(want[2:], of8); diff != "" {
		t.Errorf("entries of job 8 (-want +got):\n%s", diff)
	}
}

func TestOutcomeIsWrittenOnceAndNeverReplaced(t *testing.T) {
	j, _ := fresh(t)
	id := must(j.Begin(Intent{At: noon, Job: 1, Verb: "release"}))(t)
	if err := j.Resolve(id, noon, Lost+": found done"); err != nil {
		t.Fatal(err)
	}
	if err := j.Finish(id, noon, nil); !errors.Is(err, ErrFinished) {
		t.Errorf("finishing it again: %v, want ErrFinished", err)
	}
	if err := j.Finish(id+1, noon, nil); !errors.Is(err, ErrFinished) {
		t.Errorf("finishing one that never was: %v, want ErrFinished", err)
	}
	if err := j.Resolve(id, noon, ""); err == nil {
		t.Error("an empty outcome was taken")
	}
	if got := all(t, j, 0)[0].Outcome; got != "lost: found done" {
		t.Errorf("outcome %q", got)
	}
}

func TestArgumentsThatAreNotJSONAreRefused(t *testing.T) {
	j, _ := fresh(t)
	if _, err := j.Begin(Intent{At: noon, Verb: "shape", Args: map[string]any{"f": func() {}}}); err == nil {
		t.Error("Begin took a function as an argument")
	}
	if err := j.Event(Event{At: noon, Kind: "grew", Fields: map[string]any{"c": make(chan int)}}); err == nil {
		t.Error("Event took a channel as a field")
	}
	if got := all(t, j, 0); len(got) != 0 {
		t.Errorf("written anyway: %v", got)
	}
}

func TestLongJournalsAreReadPageByPageWithoutGapOrRepetition(t *testing.T) {
	j, _ := fresh(t)
	const n = 2*pageSize + 3
	tx := must(j.write.Begin())(t) // one commit instead of n
	for i := range n {
		if _, err := tx.Stmt(j.put.event).Exec(int64(i), i, 0, "started", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, since := range []int64{0, 1, pageSize - 1, pageSize, pageSize + 1, n - 1, n, n + 1} {
		got := all(t, j, since)
		if want := max(0, n-int(since)); len(got) != want {
			t.Errorf("since %d: %d entries, want %d", since, len(got), want)
		}
		for i, e := range got {
			if e.ID != since+int64(i)+1 {
				t.Fatalf("since %d: entry %d has id %d", since, i, e.ID)
			}
		}
	}
	for range j.Entries(0) {
		break // a reader that stops early must release its connection
	}
}

// The model is a Go map. Random writes and reopenings must have the same effect on the journal as
// on the map.
func TestRecordsAreMapThatSurvivesReopening(t *testing.T) {
	type key struct{ job, submitted int64 }
	rapid.Check(t, func(rt *rapid.T) {
		folder := must(os.MkdirTemp(t.TempDir(), ""))(t)
		path := filepath.Join(folder, "j.db")
		j := must(Open(path))(t)
		defer func() { j.Close() }()
		want := map[key]string{}
		keys := rapid.Custom(func(rt *rapid.T) key {
			return key{rapid.Int64Range(1, 4).Draw(rt, "job"), rapid.Int64Range(10, 12).Draw(rt, "submitted")}
		})
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				k, data := keys.Draw(rt, "key"), rapid.String().Draw(rt, "data")
				want[k] = data
				if err := j.Put(Record{Job: k.job, Submitted: k.submitted, Data: []byte(data)}); err != nil {
					rt.Fatal(err)
				}
			},
			"put many": func(rt *rapid.T) {
				var many []Record
				for _, k := range rapid.SliceOfN(keys, 0, 6).Draw(rt, "keys") {
					data := rapid.String().Draw(rt, "data")
					want[k] = data
					many = append(many, Record{Job: k.job, Submitted: k.submitted, Data: []byte(data)})
				}
				if err := j.PutAll(many); err != nil {
					rt.Fatal(err)
				}
			},
			"delete": func(rt *rapid.T) {
				k := keys.Draw(rt, "key")
				delete(want, k)
				if err := j.Delete(k.job, k.submitted); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) {
				if err := j.Close(); err != nil {
					rt.Fatal(err)
				}
				j = must(Open(path))(t)
			},
			"": func(rt *rapid.T) {
				got := map[key]string{}
				for _, r := range must(j.Records())(t) {
					got[key{r.Job, r.Submitted}] = string(r.Data)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Fatalf("records (-want +got):\n%s", diff)
				}
			},
		})
	})
}

func TestViewIsTheLastWritten(t *testing.T) {
	j, _ := fresh(t)
	if data := must(j.View())(t); data != nil {
		t.Errorf("view of a new journal: %q, want none", data)
	}
	for _, text := range []string{`{"at":1}`, `{"at":2}`} {
		if err := j.PutView([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if data := must(j.View())(t); string(data) != text {
			t.Errorf("view %q, want %q", data, text)
		}
	}
}

func TestQueueIsTheLastWrittenAndNotTheView(t *testing.T) {
	j, _ := fresh(t)
	if data := must(j.Queue())(t); data != nil {
		t.Errorf("queue of a new journal: %q, want none", data)
	}
	if err := j.PutView([]byte(`{"view":1}`)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{"at":1}`, `{"at":2}`} {
		if err := j.PutQueue([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if data := must(j.Queue())(t); string(data) != text {
			t.Errorf("queue %q, want %q", data, text)
		}
	}
}

func TestPruningKeepsRecentAndUnfinishedEntries(t *testing.T) {
	j, _ := fresh(t)
	old, young := noon.Add(-time.Hour), noon.Add(time.Hour)
	unfinished := must(j.Begin(Intent{At: old, Job: 1, Verb: "merge"}))(t)
	finished := must(j.Begin(Intent{At: old, Job: 1, Verb: "shape"}))(t)
	if err := errors.Join(j.Finish(finished, young, nil), j.Event(Event{At: old, Kind: "grew"}),
		j.Event(Event{At: young, Kind: "ended"})); err != nil {
		t.Fatal(err)
	}
	if n := must(j.Prune(t.Context(), noon))(t); n != 2 {
		t.Errorf("%d entries pruned, want 2", n)
	}
	got := all(t, j, 0)
	if len(got) != 2 || got[0].ID != unfinished || got[1].Verb != "ended" {
		t.Errorf("left: %v", got)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := j.Prune(stopped, young.Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("pruning after the end: %v, want context.Canceled", err)
	}
	// Ids are not used again, even if the newest entry was deleted. Otherwise a follower would miss
	// an entry.
	last := got[1].ID
	if _, err := j.Prune(t.Context(), young.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if id := must(j.Begin(Intent{At: noon, Verb: "end"}))(t); id <= last {
		t.Errorf("id %d after %d", id, last)
	}
}

func TestKeepForDeletesOldEntriesUntilItsContextEnds(t *testing.T) {
	j, _ := fresh(t)
	if err := errors.Join(j.Event(Event{At: noon, Kind: "grew"}), j.Event(Event{At: time.Now(), Kind: "ended"})); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.KeepFor(ctx, time.Hour, time.Millisecond) }()
	for len(all(t, j, 0)) > 1 {
		runtime.Gosched() // if nothing is pruned, the test's deadline ends this
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("at its end: %v", err)
	}
	if got := all(t, j, 0); len(got) != 1 || got[0].Verb != "ended" {
		t.Errorf("left: %v", got)
	}
}

func TestSecondSidecarOnJournalIsRefusedUntilFirstHasEnded(t *testing.T) {
	j, path := fresh(t)
	_, err := Open(path)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("second Open: %v, want ErrInUse with the process", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatalf("after the first is closed: %v", err)
	}
	again.Close()
}

func TestReaderSeesNewEntriesAndWhetherWriterRuns(t *testing.T) {
	w, path := fresh(t)
	r := must(OpenReadOnly(path))(t)
	defer r.Close()
	if pid, running, err := r.Writer(); pid != os.Getpid() || !running || err != nil {
		t.Errorf("Writer() = %d, %v, %v with the writer open", pid, running, err)
	}
	id := must(w.Begin(Intent{At: noon, Job: 3, Verb: "attach"}))(t)
	if got := all(t, r, 0); len(got) != 1 || got[0].ID != id {
		t.Errorf("the reader sees %v", got)
	}
	for name, write := range map[string]func() error{
		"Begin":    func() error { _, err := r.Begin(Intent{}); return err },
		"Finish":   func() error { return r.Finish(id, noon, nil) },
		"Event":    func() error { return r.Event(Event{}) },
		"Put":      func() error { return r.Put(Record{}) },
		"PutAll":   func() error { return r.PutAll([]Record{{}}) },
		"Delete":   func() error { return r.Delete(1, 1) },
		"PutView":  func() error { return r.PutView(nil) },
		"PutQueue": func() error { return r.PutQueue(nil) },
		"Prune":    func() error { _, err := r.Prune(t.Context(), noon); return err },
	} {
		if err := write(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s on a reader: %v, want ErrReadOnly", name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, running, err := r.Writer(); running || err != nil {
		t.Errorf("Writer() = %v, %v after the writer closed", running, err)
	}
	late := must(OpenReadOnly(path))(t)
	defer late.Close()
	if got := all(t, late, 0); len(got) != 1 {
		t.Errorf("a reader after the writer sees %v", got)
	}
}

func TestManyReadersAndTheWriterDoNotDisturbEachOther(t *testing.T) {
	w, path := fresh(t)
	const n = 60
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			r, err := OpenReadOnly(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for seen := int64(0); seen < n; {
				for e, err := range r.Entries(seen) {
					if err != nil {
						t.Error(err)
						return
					}
					if e.ID != seen+1 {
						t.Errorf("entry %d after %d", e.ID, seen)
						return
					}
					seen = e.ID
				}
			}
		})
	}
	for i := range n {
		if err := w.Event(Event{At: noon, Job: int64(i), Kind: "grew"}); err != nil {
			t.Error(err)
			break
		}
	}
	readers.Wait()
}

func BenchmarkBeginAndFinish(b *testing.B) {
	j, _ := fresh(b)
	for b.Loop() {
		id, err := j.Begin(Intent{At: noon, Cluster: "lab", Job: 1, Submitted: 1, Verb: "merge",
			Args: map[string]any{"nodes": "n[1-16]"}})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Finish(id, noon, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPutWholeIsAllOrNothing(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.PutWhole([]Record{{Job: 1, Data: []byte("a")}, {Job: 2, Data: []byte("b")}}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := j.PutWhole([]Record{{Job: 1, Data: []byte("c")}}, []Record{{Job: 2}, {Job: 3}},
		[]Event{{At: time.Unix(5, 0), Job: 2, Kind: "done", Text: "over"}}); err != nil {
		t.Fatal(err)
	}
	bad := []Event{{Kind: "odd", Fields: map[string]any{"x": func() {}}}}
	if err := j.PutWhole([]Record{{Job: 9}}, []Record{{Job: 1}}, bad); err == nil {
		t.Error("an event that has no JSON was written")
	}
	all, err := j.Records()
	if err != nil || len(all) != 1 || all[0].Job != 1 || string(all[0].Data) != "c" {
		t.Errorf("the records are %v, %v", all, err)
	}
}
