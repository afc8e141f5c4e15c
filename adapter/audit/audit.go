// Package audit checks that what the sidecar wrote down, what accounting booked and what exists in a
// batch system agree. It is pure: its caller collects the data, and Judge returns what is wrong as
// plain data.
//
//	report := audit.Judge(audit.Input{From: since, Now: now, Entries: entries, Accounting: books, Current: standing, Alive: true})
//	for _, f := range report.Findings {
//		fmt.Println(f)
//	}
//
// `accordion audit` collects the data of a real cluster, and so do the tests of real stories at
// their end, with Audit.
package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/core"
)

// Input is what is judged. What is nil or empty is not judged.
type Input struct {
	From, Now  core.Time // Unix seconds: what happened between them is judged
	Entries    []journal.Entry
	Records    []journal.Record
	Current    *adapter.CurrentState
	Accounting *adapter.Accounting
	Watch      []adapter.CurrentState // what was there at several instants
	Alive      bool                   // a sidecar lives
	KeptUntil  core.Time              // second until which the reservations of a sidecar that stopped stay; 0: none did
	Prompt     float64                // seconds within which a resize is on time; 0: DefaultPrompt
	Unread     int                    // rows of the journal that could not be read
}

// DefaultPrompt is how many seconds a resize may be late without a cause: the sidecar plans once a
// second, and Slurm takes up to three seconds for a resize.
const DefaultPrompt = 5

// grain is by how many seconds times of different programs may differ: accounting has whole ones.
const grain = 2

// A Kind says what is wrong. docs/audit.md has a row for each.
type Kind string

// The kinds of findings.
const (
	TwoJobs      Kind = "two-jobs"       // a node was in two jobs
	Late         Kind = "late"           // a resize was late, and nothing says why
	Missed       Kind = "missed"         // a step never came, and nothing says why
	Broken       Kind = "promise-broken" // a promise was broken without a cause
	Unexplained  Kind = "unexplained"    // a job was ended, and nothing says why
	Reservation  Kind = "reservation"    // a reservation was left behind
	Companion    Kind = "companion"      // a companion was left behind
	Expander     Kind = "expander"       // an expander was left behind
	Mark         Kind = "mark"           // a waiting job is marked, and no sidecar knows it
	Remembered   Kind = "record"         // the journal remembers a job that has ended
	Node         Kind = "node"           // a node is allocated, and no job has it
	HostsFile    Kind = "hosts-file"     // a hosts file was left behind
	Kept         Kind = "kept"           // something else was left behind
	Unfinished   Kind = "unfinished"     // an action has no outcome
	Missing      Kind = "books-missing"  // accounting has no row of a job that ran
	Open         Kind = "books-open"     // accounting has no end of a job that has ended
	End          Kind = "books-end"      // accounting has another end than the sidecar saw
	Size         Kind = "books-size"     // accounting has other nodes than the journal
	Sum          Kind = "books-sum"      // accounting has another sum of node-seconds than the journal
	Lost         Kind = "books-lost"     // accounting lost a size that followed another within a second
	Hours        Kind = "books-hours"    // accounting has added up something else for a user than its rows have
	Twice        Kind = "books-twice"    // accounting has a step twice
	NoIntent     Kind = "no-intent"      // something was done without an intent
	EarlyOutcome Kind = "early-outcome"  // an outcome is older than its intent
	NoLease      Kind = "no-lease"       // something was done without the lease
	Order        Kind = "order"          // the journal's times run backwards
)

// A Finding is one thing that is wrong.
type Finding struct {
	Kind Kind      `json:"kind"`
	Job  int64     `json:"job,omitempty"`  // 0: of no single job
	Node string    `json:"node,omitempty"` // "": of no single node
	At   core.Time `json:"at,omitempty"`   // Unix second; 0: now
	Text string    `json:"text"`
	Do   string    `json:"do"` // what to do about it
}

// Line returns the finding for people, on one line, in the given time zone.
func (f Finding) Line(zone *time.Location) string {
	var b strings.Builder
	b.WriteString(string(f.Kind))
	if f.Job != 0 {
		fmt.Fprintf(&b, " job=%d", f.Job)
	}
	if f.Node != "" {
		fmt.Fprintf(&b, " node=%s", f.Node)
	}
	if f.At != 0 {
		fmt.Fprintf(&b, " at=%s", adapter.Instant(f.At).In(zone).Format("2006-01-02T15:04:05"))
	}
	fmt.Fprintf(&b, ": %s", f.Text)
	if f.Do != "" {
		fmt.Fprintf(&b, "; %s", f.Do)
	}
	return core.Printable(b.String())
}

// Settles reports whether the finding may disappear by itself within seconds: the batch system or
// its accounting may not have finished with what just ended.
func (f Finding) Settles() bool {
	return slices.Contains([]Kind{Reservation, Companion, Expander, Mark, Remembered, Node, Kept, Unfinished, Missing, Open, End, Size, Sum}, f.Kind)
}

// A Report is what was checked and what was found.
type Report struct {
	Findings    []Finding
	Jobs        int       // jobs of accounting and of the journal
	Managed     int       // runs of managed jobs among them
	Actions     int       // intents
	Seconds     core.Time // of time
	NodeSeconds core.Time // that were compared with accounting
	Unjudged    int       // runs of managed jobs whose sums are not judged: the journal does not know exactly when their sizes changed
	Unread      int       // rows that could not be read
	Sightings   int
	Dangling    int // rows of merged expanders without an end
}

// Judge checks all that is given. The findings are in the order of kinds, then of time.
func Judge(in Input) Report {
	if in.Prompt == 0 {
		in.Prompt = DefaultPrompt
	}
	j := &judge{Input: in, told: tell(in.Entries)}
	if in.Accounting != nil {
		j.index = indexOf(in.Accounting)
		j.books()
		j.report.Unread += in.Accounting.Unread
	}
	j.watch()
	j.promises()
	if in.Current != nil {
		j.left()
	}
	j.acts()
	j.count()
	slices.SortStableFunc(j.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node))
	})
	return j.report
}

// rank orders kinds as they are declared, the gravest first.
func rank(k Kind) int { return slices.Index(Kinds, k) }

// Kinds are all of them, the gravest first.
var Kinds = []Kind{TwoJobs, NoIntent, NoLease, EarlyOutcome, Order, Broken, Late, Missed, Unexplained, Node, Reservation, Companion, Expander, Mark,
	Remembered, Unfinished, Kept, HostsFile, Missing, Open, End, Size, Sum, Hours, Lost, Twice}

// judge is one judgment under way.
type judge struct {
	Input
	told   *told
	index  index
	report Report
}

// find notes a finding, unless it is of a time before that which is judged. What is left behind now is
// judged whenever it was made.
func (j *judge) find(f Finding) {
	if f.At != 0 && f.At < j.From && !f.Kind.present() {
		return
	}
	j.report.Findings = append(j.report.Findings, f)
}

// present reports whether findings of a kind are about what exists now.
func (k Kind) present() bool {
	return slices.Contains([]Kind{Reservation, Companion, Expander, Mark, Remembered, Node, Kept, HostsFile, Unfinished, Open}, k)
}

// count counts what was checked.
func (j *judge) count() {
	jobs := map[core.JobID]bool{}
	for _, r := range j.told.runs {
		if r.ended.IsZero() || r.ended.Unix() >= j.From {
			jobs[r.key.ID] = true
			j.report.Managed++
		}
	}
	for _, e := range j.told.entries {
		if e.Kind == journal.KindIntent && e.At.Unix() >= j.From {
			j.report.Actions++
		}
	}
	if j.Accounting != nil {
		for _, b := range j.Accounting.Jobs {
			if n := len(b.Holds); b.Expands == 0 && n > 0 && b.Holds[n-1].To >= j.From {
				jobs[b.ID] = true
			}
		}
	}
	j.report.Jobs, j.report.Seconds, j.report.Sightings, j.report.Unread = len(jobs), j.Now-j.From, len(j.Watch), j.report.Unread+j.Unread
}

// Summary returns one line of what was checked, for a report without findings.
func (r Report) Summary() string {
	text := fmt.Sprintf("clean: %s, %d of them managed, %s, %s, %s compared", counted(r.Jobs, "job"), r.Managed, counted(r.Actions, "action"),
		counted(int(r.Seconds), "second"), counted(int(r.NodeSeconds), "node-second"))
	if r.Unjudged > 0 {
		text += fmt.Sprintf("; not compared: %s whose sizes changed while no sidecar looked", counted(r.Unjudged, "run"))
	}
	if r.Dangling > 0 {
		text += fmt.Sprintf("; %s of merged expanders without an end, which book nothing", counted(r.Dangling, "row"))
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
