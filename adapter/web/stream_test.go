package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

// follower is a reader of the stream that keeps the state as the page does.
type follower struct {
	lines *bufio.Reader
	state state
	jobs  map[core.JobID]job
	kinds []string // kinds of the messages received
}

func follow(t testing.TB, answer *http.Response) *follower {
	t.Helper()
	var body io.Reader = answer.Body
	if answer.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = unpacked
	}
	return &follower{lines: bufio.NewReaderSize(body, 1<<16)}
}

// next reads the next message.
func (f *follower) next() error {
	kind := ""
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil {
			return err
		}
		if name, is := strings.CutPrefix(line, "event: "); is {
			kind = strings.TrimSpace(name)
		}
		data, is := strings.CutPrefix(line, "data: ")
		if !is {
			continue
		}
		f.kinds = append(f.kinds, kind)
		if kind == "state" {
			f.state, f.jobs = state{}, map[core.JobID]job{}
			if err := json.Unmarshal([]byte(data), &f.state); err != nil {
				return err
			}
			for _, j := range f.state.Jobs {
				f.jobs[j.ID] = j
			}
			return nil
		}
		var n news
		if err := json.Unmarshal([]byte(data), &n); err != nil {
			return err
		}
		f.take(&n)
		return nil
	}
}

func (f *follower) take(n *news) {
	f.state.Number, f.state.Read, f.state.Now = n.Number, n.Read, n.Now
	if n.Nodes != nil {
		f.state.Nodes = n.Nodes
	}
	if n.Closed != nil {
		f.state.Closed = n.Closed
	}
	if n.Broken != nil {
		f.state.Broken = n.Broken
	}
	f.state.Past = append(f.state.Past, n.Past...)
	for _, id := range n.Gone {
		delete(f.jobs, id)
	}
	for _, j := range n.Jobs {
		f.jobs[j.ID] = j
	}
	for _, m := range n.Moved {
		j := f.jobs[core.JobID(m[0])]
		j.place = place{int(m[1]), m[2], m[3]}
		f.jobs[j.ID] = j
	}
}

// sees fails the test unless the follower's state equals the version's.
func (f *follower) sees(t testing.TB, e *version) {
	t.Helper()
	want, got := *e.state, f.state
	want.from, got.from = nil, nil
	wanted := map[core.JobID]job{}
	for _, j := range want.Jobs {
		if len(j.Plan) == 0 {
			j.Plan = nil
		}
		wanted[j.ID] = j
	}
	want.Jobs, got.Jobs = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("a reader sees\n%+v\nwant\n%+v", got, want)
	}
	if !reflect.DeepEqual(f.jobs, wanted) {
		t.Errorf("a reader's jobs are\n%+v\nwant\n%+v", f.jobs, wanted)
	}
}

func TestReadersSeeWhatChanges(t *testing.T) {
	for _, packed := range []bool{false, true} {
		h, address := open(t, Options{})
		answer := get(t, address+"/events", func(r *http.Request) {
			r.Header.Set("Accept-Encoding", "identity")
			if packed {
				r.Header.Set("Accept-Encoding", "gzip, br")
			}
		})
		if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("the stream is %q", got)
		}
		f := follow(t, answer)
		a := clusterOf(16, 4, 9)
		b := later(a, 5)
		b.Queue.Jobs = slices.Delete(b.Queue.Jobs, 1, 2) // job 2 has ended
		b.Queue.Jobs[4] = begun(b, b.Queue.Jobs[4])
		b.Nodes = slices.Clone(b.Nodes)
		b.Nodes[15] = view.SnapshotNode{Name: "n16", State: view.NodeLost, Why: "NOT_RESPONDING", Out: true}
		b.Closed = []view.SnapshotClosure{{Closure: view.Closure{Name: "maint", Nodes: 1, Start: noon + 100, End: core.Forever}, On: "n15"}}
		b.Broken = map[adapter.Key]view.Breach{a.Queue.Jobs[0].Key(): {Promised: noon, Slipped: 70, Cause: "lost node"}}
		for i, s := range []*view.Snapshot{a, b, b, later(b, 3)} {
			e := shows(t, h, s)
			if err := f.next(); err != nil {
				t.Fatal(err)
			}
			f.sees(t, e)
			if i > 0 && f.kinds[i] != "news" {
				t.Errorf("message %d is %s", i, f.kinds[i])
			}
		}
		if n := len(f.state.Past); n != 1 || f.state.Past[0].ID != 2 {
			t.Errorf("the past is %+v", f.state.Past)
		}
	}
}

// begun returns the entry of a waiting job as it is after the job has started.
func begun(s *view.Snapshot, e view.Entry) view.Entry {
	e.Rank, e.Phase, e.Nodes, e.Size, e.Start = 0, "running", "n5", 1, s.Now-1
	return e
}

// A reader that has missed versions receives the whole newest version instead of the missed changes.
func TestReaderThatFellBehindGetsTheWholeState(t *testing.T) {
	h := New(Options{})
	p := newPast(nil, h.options.Clock())
	s := clusterOf(4, 1, 1)
	var last *version
	for range 3 {
		p.observe(s)
		last = newVersion(last, s, p, &h.options, true)
		s = later(s, 1)
	}
	if last.number != 3 || last.news == nil {
		t.Fatalf("%+v", last)
	}
	text, packed := last.news.bytes()
	if !bytes.HasPrefix(text, []byte("event: news\ndata: {")) || !bytes.HasSuffix(text, []byte("}\n\n")) || len(packed) == 0 {
		t.Errorf("%.60s", text)
	}
}

// The server compresses a message once for all readers, so each compressed message must be readable after any other.
func TestPackedPiecesFollowOneAnother(t *testing.T) {
	var b bytes.Buffer
	b.Write(packedHeader)
	want := ""
	for _, text := range []string{"retry: 3000\n\n", strings.Repeat("the same again and again ", 2000), "", "the same again", string(stillHere)} {
		want += text
		b.Write(pack([]byte(text)))
	}
	r, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("%v: %d bytes of %d are right", err, len(got), len(want))
	}
	whole := bytes.Buffer{}
	w, _ := gzip.NewWriterLevel(&whole, gzip.BestSpeed)
	w.Flush()
	if !bytes.HasPrefix(whole.Bytes(), packedHeader) {
		t.Errorf("a stream begins with %x, not with %x", whole.Bytes()[:10], packedHeader)
	}
}
