// Package audit checks that three things agree: the sidecar's journal, the batch system's accounting,
// and what exists in the batch system now. Judge is a pure function: its caller collects the data,
// and Judge returns inconsistencies as plain data.
//
//	report := audit.Judge(audit.Input{From: since, Now: now, Entries: entries, Accounting: accounting, Current: current, Alive: true})
//	for _, f := range report.Findings {
//		fmt.Println(f)
//	}
//
// Audit collects the data of a real cluster and calls Judge. `accordion audit` and the tests on real batch systems call Audit.
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

// Input is the data that Judge compares. Judge does not check data that is nil or empty.
type Input struct {
	From, Now  core.Time // Unix seconds: Judge checks what happened between them
	Entries    []journal.Entry
	Records    []journal.Record
	Current    *adapter.CurrentState
	Accounting *adapter.Accounting
	Watch      []adapter.CurrentState // states at several instants, for the check that no node is in two jobs
	Alive      bool                   // a sidecar runs
	KeptUntil  core.Time              // Unix second until which the reservations of a stopped sidecar may exist; 0 if no sidecar stopped
	Prompt     float64                // seconds within which a resize is on time; 0 means DefaultPrompt
	Unread     int                    // rows of the journal that could not be read
}

// DefaultPrompt is the number of seconds by which a resize may be late without a cause. The sidecar
// plans once a second, and Slurm takes up to three seconds for a resize.
const DefaultPrompt = 5

// grain is the number of seconds by which two programs' times of the same event may differ, because
// accounting records whole seconds.
const grain = 2

// Kind is the kind of a finding. docs/audit.md has a row for each kind.
type Kind string

// The kinds of findings.
const (
	TwoJobs      Kind = "two-jobs"       // a node was in two jobs
	Late         Kind = "late"           // a resize was late, and no event says why
	Missed       Kind = "missed"         // a step never began, and no event says why
	Broken       Kind = "promise-broken" // a promise was broken without a cause
	Unexplained  Kind = "unexplained"    // a job was ended, and no event says why
	Reservation  Kind = "reservation"    // a reservation was left behind
	Companion    Kind = "companion"      // a companion was left behind
	Expander     Kind = "expander"       // an expander was left behind
	Mark         Kind = "mark"           // a waiting job is marked, but no sidecar manages it
	Remembered   Kind = "record"         // the journal has a record of a job that has ended
	Node         Kind = "node"           // a node is allocated, but no job has it
	HostsFile    Kind = "hosts-file"     // a hosts file was left behind
	Kept         Kind = "kept"           // something in CurrentState.Kept was left behind
	Unfinished   Kind = "unfinished"     // an action has no outcome
	Missing      Kind = "books-missing"  // accounting has no row of a job that ran
	Open         Kind = "books-open"     // accounting has no end of a job that has ended
	End          Kind = "books-end"      // accounting has another end of a job than the sidecar saw
	Size         Kind = "books-size"     // accounting has different nodes than the journal
	Sum          Kind = "books-sum"      // accounting has a different sum of node-seconds than the journal
	Lost         Kind = "books-lost"     // accounting lost a size, because another followed within a second
	Hours        Kind = "books-hours"    // accounting's sum for a user differs from its rows
	Twice        Kind = "books-twice"    // accounting has a step twice
	NoIntent     Kind = "no-intent"      // the sidecar acted, and the journal has no intent for the action
	EarlyOutcome Kind = "early-outcome"  // an outcome has an earlier time than its intent
	NoLease      Kind = "no-lease"       // the sidecar acted without holding the lease
	Order        Kind = "order"          // the journal's times run backwards
)

// Finding is one inconsistency.
type Finding struct {
	Kind Kind      `json:"kind"`
	Job  int64     `json:"job,omitempty"`  // 0 if the finding is not about one job
	Node string    `json:"node,omitempty"` // "" if the finding is not about one node
	At   core.Time `json:"at,omitempty"`   // Unix second; 0 means now
	Text string    `json:"text"`
	Do   string    `json:"do"` // what an administrator should do about the finding
}

// Line formats the finding on one line, with times in the given time zone.
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

// Settles reports whether the finding may disappear by itself within seconds. Such a finding may only show that the batch system, or its
// accounting, has not finished its work on a job that has just ended.
func (f Finding) Settles() bool {
	return slices.Contains([]Kind{Reservation, Companion, Expander, Mark, Remembered, Node, Kept, Unfinished, Missing, Open, End, Size, Sum}, f.Kind)
}

// Report is the result of Judge: the findings, and how much was checked.
type Report struct {
	Findings    []Finding
	Jobs        int       // number of jobs in accounting and in the journal
	Managed     int       // number of runs of managed jobs
	Actions     int       // number of intents
	Seconds     core.Time // length of the time that was checked
	NodeSeconds core.Time // number of node-seconds that were compared with accounting
	Unjudged    int       // runs of managed jobs whose node-seconds were not compared, because the journal does not have the exact times of their resizes
	Unread      int       // rows of the journal or of accounting that could not be read
	Sightings   int
	Dangling    int // rows without an end that belong to merged expanders, and so are no findings
}

// Judge checks the data. The findings are sorted by kind, then by time.
func Judge(in Input) Report {
	if in.Prompt == 0 {
		in.Prompt = DefaultPrompt
	}
	j := &judge{Input: in, history: readRuns(in.Entries)}
	if in.Accounting != nil {
		j.index = indexOf(in.Accounting)
		j.accounting()
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

// rank returns the position of a kind in Kinds.
func rank(k Kind) int { return slices.Index(Kinds, k) }

// Kinds lists all kinds of findings, the most serious first.
var Kinds = []Kind{TwoJobs, NoIntent, NoLease, EarlyOutcome, Order, Broken, Late, Missed, Unexplained, Node, Reservation, Companion, Expander, Mark,
	Remembered, Unfinished, Kept, HostsFile, Missing, Open, End, Size, Sum, Hours, Lost, Twice}

// judge is the state of one Judge call.
type judge struct {
	Input
	history *history
	index   index
	report  Report
}

// find adds a finding to the report. It leaves out findings about events before Input.From, but adds
// every finding about what exists now.
func (j *judge) find(f Finding) {
	if f.At != 0 && f.At < j.From && !f.Kind.present() {
		return
	}
	j.report.Findings = append(j.report.Findings, f)
}

// present reports whether findings of this kind concern what exists now.
func (k Kind) present() bool {
	return slices.Contains([]Kind{Reservation, Companion, Expander, Mark, Remembered, Node, Kept, HostsFile, Unfinished, Open}, k)
}

// count fills in the counts of the report.
func (j *judge) count() {
	jobs := map[core.JobID]bool{}
	for _, r := range j.history.runs {
		if r.ended.IsZero() || r.ended.Unix() >= j.From {
			jobs[r.key.ID] = true
			j.report.Managed++
		}
	}
	for _, e := range j.history.entries {
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

// Summary describes in one line what was checked, for a report without findings.
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
