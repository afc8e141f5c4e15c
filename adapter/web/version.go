package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"sync"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
)

// version is a snapshot in the form in which readers receive it. A version never changes, except that
// it is encoded when the first reader needs it.
type version struct {
	number   uint64
	snapshot *view.Snapshot // without what the batch system hides from users
	state    *state
	whole    frame
	news     *frame // the changes since the previous version; nil if there are no readers, or too much has changed
}

// state is everything that a page shows, in the form in which it is sent.
type state struct {
	Number  uint64        `json:"number"`
	Read    core.Time     `json:"read"` // Unix second
	Now     core.Time     `json:"now"`
	Pace    int           `json:"pace"` // number of seconds by which the cluster's clock advances in one real second
	Cluster string        `json:"cluster"`
	Soft    string        `json:"soft,omitempty"`
	All     bool          `json:"all,omitempty"` // every job of the partition is planned
	Private bool          `json:"private,omitempty"`
	Begins  core.Time     `json:"begins"` // Unix second before which nothing is known about ordinary jobs
	Nodes   []node        `json:"nodes"`
	Closed  []closed      `json:"closed"`
	Broken  []broken      `json:"broken"`
	Past    []piece       `json:"past"`
	Jobs    []job         `json:"jobs"` // first jobs that hold nodes, then jobs in the plan by rank, then the others
	from    map[int64]int // index of each job in Jobs
}

type node struct {
	Name  string `json:"name"`
	State string `json:"state,omitempty"`
	Why   string `json:"why,omitempty"`
	Out   bool   `json:"out,omitempty"` // the plan does not use the node
}

type closed struct {
	Name  string    `json:"name,omitempty"`
	Nodes string    `json:"nodes"`
	Size  int       `json:"size"`
	Start core.Time `json:"start"`
	End   core.Time `json:"end"` // 0 means no end
}

// job is a job in the form in which it is sent. The fields that change in each cycle come last.
type job struct {
	ID        core.JobID `json:"id"`
	Submitted core.Time  `json:"submitted"`
	User      string     `json:"user,omitempty"`
	Name      string     `json:"name,omitempty"`
	Kind      string     `json:"kind"`
	Request   string     `json:"request,omitempty"`
	Phase     string     `json:"phase"`
	Holds     bool       `json:"holds,omitempty"`
	Nodes     string     `json:"nodes,omitempty"`
	Size      int        `json:"size"`
	Least     int        `json:"least,omitempty"` // Least and Most are the smallest and largest size that a waiting moldable job may get now
	Most      int        `json:"most,omitempty"`
	Step      int        `json:"step,omitempty"`
	Since     core.Time  `json:"since,omitempty"` // when the job received its present nodes
	Plan      core.EP    `json:"plan,omitempty"`
	Why       string     `json:"why,omitempty"`
	Waits     bool       `json:"waits,omitempty"` // the job has no planned start, because the policy reserves nodes for few jobs only
	Slip      core.Time  `json:"slip,omitempty"`  // number of seconds by which the job's promise was broken
	Cause     string     `json:"cause,omitempty"` // why the job's promise was broken
	Soon      bool       `json:"soon,omitempty"`  // the job may start at any moment
	place                // rank, start and end
}

// place is a job's place in the plan. It changes in each cycle for most jobs.
type place struct {
	Rank  int       `json:"rank,omitempty"`
	Start core.Time `json:"start,omitempty"`
	End   core.Time `json:"end,omitempty"`
}

// news has the changes since the previous version. A field is nil if nothing changed.
type news struct {
	Number uint64       `json:"number"`
	Read   core.Time    `json:"read"`
	Now    core.Time    `json:"now"`
	Soft   *string      `json:"soft,omitempty"`
	Nodes  []node       `json:"nodes,omitempty"`
	Closed []closed     `json:"closed,omitempty"`
	Broken []broken     `json:"broken,omitempty"`
	Past   []piece      `json:"past,omitempty"` // new pieces
	Gone   []core.JobID `json:"gone,omitempty"`
	Jobs   []job        `json:"jobs,omitempty"`  // new or changed jobs
	Moved  [][4]int64   `json:"moved,omitempty"` // jobs of which only the place changed, each as number, rank, start, end
}

// newVersion returns the version that follows `before`, which is nil for the first version. It computes the changes only if `read` is
// true, which means that there are readers.
func newVersion(before *version, s *view.Snapshot, p *past, o *Options, read bool) *version {
	e := &version{number: 1, snapshot: without(s, o.Private)}
	if before != nil {
		e.number = before.number + 1
	}
	e.state = stateOf(e.snapshot, p, o)
	e.state.Number = e.number
	e.whole.event, e.whole.of = "state", e.state
	if before != nil && read {
		e.news = &frame{event: "news", of: newsOf(before.state, e.state, p.added)}
	}
	return e
}

// stateOf returns the state to send for a snapshot.
func stateOf(s *view.Snapshot, p *past, o *Options) *state {
	st := &state{Read: s.Read, Now: s.Now, Pace: o.Pace, Cluster: core.Printable(s.Queue.Cluster), Soft: core.Printable(s.Soft), All: s.Manage == "all", Private: s.Hidden.Jobs,
		Begins: p.begins, Nodes: make([]node, len(s.Nodes)), Closed: make([]closed, 0, len(s.Closed)), Broken: []broken{}, Past: []piece{}, Jobs: make([]job, len(s.Queue.Jobs)),
		from: make(map[int64]int, len(s.Queue.Jobs))}
	for i, n := range s.Nodes {
		st.Nodes[i] = node{n.Name, n.State, short(n.Why), n.Out}
	}
	for _, c := range s.Closed {
		end := c.End
		if end >= core.Forever {
			end = 0
		}
		st.Closed = append(st.Closed, closed{short(c.Name), c.On, c.Nodes, c.Start, end})
	}
	for _, b := range p.broken {
		b.User, b.Name = userText(s, b.User), userText(s, b.Name)
		st.Broken = append(st.Broken, b)
	}
	for _, h := range p.pieces {
		h.User, h.Name = userText(s, h.User), userText(s, h.Name)
		st.Past = append(st.Past, h)
	}
	for i := range s.Queue.Jobs {
		st.Jobs[i] = jobOf(s, &s.Queue.Jobs[i], p)
		st.from[int64(st.Jobs[i].ID)] = i
	}
	return st
}

// userText returns the text of a user, shortened, or "" if jobs are private.
func userText(s *view.Snapshot, text string) string {
	if s.Hidden.Jobs {
		return ""
	}
	return short(text)
}

// short returns a user's text without control characters, and limited in length.
func short(text string) string {
	const most = 120
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return core.Printable(text)
}

func jobOf(s *view.Snapshot, e *view.Entry, p *past) job {
	j := job{ID: e.ID, Submitted: e.Submitted, User: short(e.User), Name: short(e.Name), Kind: e.Kind, Request: short(e.Request), Phase: e.Phase, Holds: e.Holds(),
		Nodes: e.Nodes, Size: e.Size, Step: e.Step, Plan: e.Plan, Why: short(e.Why), Waits: e.Turn == view.Unreserved,
		place: place{Rank: e.Rank, Start: e.Start, End: e.End}}
	if e.Sized != nil {
		j.Least, j.Most = e.Sized.Least, e.Sized.Most
	}
	if j.Holds {
		j.Since = p.since(e.Key())
	}
	j.Soon = e.Rank > 0 && e.Start > 0 && e.Start <= s.Now+s.Queue.Lead
	b := s.Broken[e.Key()]
	j.Slip, j.Cause = b.Slipped, b.Cause
	return j
}

// same reports whether two jobs are equal except for their places.
func (j *job) same(o *job) bool {
	return j.ID == o.ID && j.Submitted == o.Submitted && j.User == o.User && j.Name == o.Name && j.Kind == o.Kind &&
		j.Request == o.Request && j.Phase == o.Phase && j.Holds == o.Holds && j.Nodes == o.Nodes && j.Size == o.Size &&
		j.Least == o.Least && j.Most == o.Most && j.Step == o.Step && j.Since == o.Since && slices.Equal(j.Plan, o.Plan) &&
		j.Why == o.Why && j.Waits == o.Waits && j.Slip == o.Slip && j.Cause == o.Cause && j.Soon == o.Soon
}

// newsOf returns the changes from one state to the next. added is the number of pieces that were added to past between them.
func newsOf(before, after *state, added int) *news {
	n := &news{Number: after.Number, Read: after.Read, Now: after.Now}
	if before.Soft != after.Soft {
		n.Soft = &after.Soft
	}
	if !slices.Equal(before.Nodes, after.Nodes) {
		n.Nodes = after.Nodes
	}
	if !slices.Equal(before.Closed, after.Closed) {
		n.Closed = after.Closed
	}
	if !slices.Equal(before.Broken, after.Broken) {
		n.Broken = after.Broken
	}
	n.Past = after.Past[max(0, len(after.Past)-added):]
	for i := range after.Jobs {
		j := &after.Jobs[i]
		at, known := before.from[int64(j.ID)]
		switch {
		case !known || !before.Jobs[at].same(j):
			n.Jobs = append(n.Jobs, *j)
		case before.Jobs[at].place != j.place:
			n.Moved = append(n.Moved, [4]int64{int64(j.ID), int64(j.Rank), j.Start, j.End})
		}
	}
	for i := range before.Jobs {
		if _, here := after.from[int64(before.Jobs[i].ID)]; !here {
			n.Gone = append(n.Gone, before.Jobs[i].ID)
		}
	}
	return n
}

// frame is a message of the stream, encoded once for all readers.
type frame struct {
	event string
	of    any

	once   sync.Once
	text   []byte // the message as a server-sent event
	packed []byte // text, compressed as a piece of a gzip stream
}

// bytes returns the message as text, and compressed.
func (f *frame) bytes() (text, packed []byte) {
	f.once.Do(func() {
		data, err := json.Marshal(f.of)
		if err != nil { // cannot happen, because texts and numbers can always be encoded
			panic(err)
		}
		f.text = slices.Concat([]byte("event: "+f.event+"\ndata: "), data, []byte("\n\n"))
		f.packed = pack(f.text)
		f.of = nil
	})
	return f.text, f.packed
}

// pack compresses a text into a piece of a gzip stream. The piece may follow any other piece, because it
// does not refer to earlier pieces, and no piece ends the stream.
func pack(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	w.Write(text)
	w.Flush()
	return b.Bytes()[len(packedHeader):]
}

// packedHeader is the header of a gzip stream, without a file name and a time.
var packedHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff}

// without returns a copy of a snapshot without what the batch system hides from users. If private is true, it also removes the users of
// jobs, and everything that identifies them.
func without(s *view.Snapshot, private bool) *view.Snapshot {
	a := *s
	if private {
		a.Hidden.Jobs, a.Hidden.Reservations, a.Hidden.Accounts = true, true, true
	}
	if a.Hidden == (adapter.Hidden{}) {
		return s
	}
	a.Queue.Jobs = slices.Clone(s.Queue.Jobs)
	for i := range a.Queue.Jobs {
		e := &a.Queue.Jobs[i]
		if a.Hidden.Jobs {
			e.Anonymize()
		}
		if a.Hidden.Accounts {
			e.Parts, e.Priority, e.Limit = nil, 0, nil
		}
		if a.Hidden.Accounts || a.Hidden.Reservations { // the text names accounts and reservations
			e.Why = ""
		}
	}
	if a.Hidden.Nodes {
		a.Queue.AwayNodes = nil
	}
	if a.Hidden.Jobs || a.Hidden.Reservations { // names of reservations often contain users' names
		a.Queue.Closures = slices.Clone(s.Queue.Closures)
		for i := range a.Queue.Closures {
			a.Queue.Closures[i].Anonymize()
		}
		a.Closed = slices.Clone(s.Closed)
		for i := range a.Closed {
			a.Closed[i].Name = ""
		}
	}
	if a.Hidden.Nodes {
		a.Nodes = slices.Clone(s.Nodes)
		for i := range a.Nodes {
			a.Nodes[i].State, a.Nodes[i].Why = "", ""
		}
	}
	return &a
}
