// Package sacct reads Slurm's accounting, jobs that were resized among them: `sacct --duplicates` has a row for each size a
// job had.
//
// Read says who held which nodes from when to when: a witness of its own beside the sidecar's journal, for audits ("no node
// in two jobs") and for charts. Its input is
//
//	sacct --allusers --duplicates --allocations --parsable2 --noheader --format="$(Format)" --starttime=…
//
// with SLURM_TIME_FORMAT=%s in the environment, so that times are Unix seconds. Workload makes a workload log of what Command
// prints, to be replayed:
//
//	log, left, err := sacct.Workload(os.Stdin, "standard input", time.UTC)
package sacct

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
	"accordion/traces/input"
)

// Format is the fields that Read wants, in order. The name is last: it may contain the separator.
const Format = "JobIDRaw,Submit,Start,End,State,User,NodeList,JobName"

// HoldsCommand prints the accounting as Read wants it.
const HoldsCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --noheader --format=" + Format + " --starttime=…"

// Job is one job's life as the accounting has it.
type Job struct {
	adapter.Key        // Submitted is that of its first row: a resize writes its own second there
	Cluster     string // "" where the accounting does not tell
	Name, User  string
	State       string     // of its last row
	Expands     core.JobID // the job beside which it was allocated; 0 for every other job
	Stays       bool       // it is a companion: it stayed beside its job
	Holds       []Hold     // by time
}

// Merged says whether an expander went into its job: it did not end otherwise, by a cancellation or a lost node. Slurm
// leaves its last row RESIZING, or COMPLETED.
func (j Job) Merged() bool {
	return j.Expands != 0 && !j.Stays && (j.State == resizing || j.State == "COMPLETED")
}

// Hold is a set of nodes held from From until just before To, Unix seconds. Slurm rounds to whole seconds.
type Hold struct {
	Nodes    []string
	From, To core.Time
}

// MaxLine bounds a row, in bytes.
const MaxLine = input.MaxLine

// row is one line of sacct, as Read wants it.
type row struct {
	entry
	user, name string
	nodes      []string
}

// entry is what a line of sacct says of a job's life.
type entry struct {
	line int
	jobKey
	submit, start, end core.Time // Unix seconds; 0: unknown
	state              string    // without who ended it: "CANCELLED by 0" is CANCELLED
}

func (e entry) base() entry { return e }

// ReadHolds reads a file and returns one Job for the rows of each job. A job that still runs is held until now (Unix seconds). Rows of
// jobs that held nothing give a job without Holds. Lines that cannot be read are left out and counted. The file may have a line of
// names, a column Cluster and rows of steps. Times without a zone are in the given zone. An error means that nothing can be read.
func ReadHolds(in io.Reader, file string, zone *time.Location, now core.Time) ([]Job, Unread, error) {
	var unread Unread
	c := columns(Format, HoldsCommand)
	c.Default = c.Wanted
	t, err := openTable(in, file, zone, c, &unread)
	var empty *input.Error
	if errors.As(err, &empty) {
		return nil, unread, nil // without names there are no rows: no job in that time
	}
	if err != nil {
		return nil, unread, err
	}
	defer t.in.Close()
	var rows []row
	err = t.Each(&unread.Lines, func() error {
		t.problem = nil
		job, _, isStep := t.job()
		if isStep {
			return nil
		}
		if r := t.row(job); t.problem == nil {
			rows = append(rows, r)
		}
		return t.failed()
	})
	if err != nil && len(rows) == 0 {
		return nil, unread, err
	}
	if err != nil { // the rest of a damaged file
		unread.Lines.Add(t.Wrong("", err.Error()))
	}
	if len(rows) == 0 && unread.Lines.Count > 0 {
		return nil, unread, noneOf(&unread)
	}
	return join(rows, now), unread, nil
}

// noneOf returns the error of a text in which no line can be read.
func noneOf(unread *Unread) error {
	return fmt.Errorf("%w (no line of %d can be read)", unread.Lines.First[0], unread.Lines.Count)
}

// row reads the current row.
func (t *table) row(job jobKey) row {
	r := row{entry: t.entry(job), user: t.word(t.Text("User")), name: t.word(t.Text("JobName"))}
	list := t.Text("NodeList")
	if list == "" || list == "None assigned" || list == "None" || list == "Unknown" {
		return r
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		t.wrong("NodeList", err.Error())
	}
	r.nodes = names
	return r
}

// parseTime reads Unix seconds; what Slurm does not know is 0.
func parseTime(text string) (core.Time, error) {
	switch text {
	case "Unknown", "None", "N/A", "":
		return 0, nil
	}
	t, err := strconv.ParseInt(text, 10, 64)
	if err != nil || t < 0 || t > core.Forever {
		return 0, fmt.Errorf("%.40q is no time in Unix seconds", text)
	}
	return known(t), nil
}

// known returns a time, and 0 for the two values by which Slurm's database says that there is none.
func known(t core.Time) core.Time {
	if t == 1<<32-2 || t == 1<<32-1 {
		return 0
	}
	return t
}

// resizing is the state of a row that another size of the same job follows.
const resizing = "RESIZING"

// rowsByJob gives the rows of each job: they follow each other, and all but the last are RESIZING. A row that follows one of another
// state is another job of the same id (ids are used again after a controller lost its last seconds).
func rowsByJob[R interface{ base() entry }](rows []R) (jobs [][]R) {
	slices.SortStableFunc(rows, func(x, y R) int {
		a, b := x.base(), y.base()
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.cluster, b.cluster), cmp.Compare(ended(a.end), ended(b.end)), cmp.Compare(a.submit, b.submit), cmp.Compare(a.line, b.line))
	})
	first := 0
	for i := range rows {
		if last := rows[i].base(); i+1 == len(rows) || rows[i+1].base().jobKey != last.jobKey || last.state != resizing {
			jobs = append(jobs, rows[first:i+1])
			first = i + 1
		}
	}
	return jobs
}

// join makes the rows of each job a job. A size is held from the end of the one before: the start of the last row is the job's, always in
// 24.11 and else where its limit was changed.
func join(rows []row, now core.Time) []Job {
	var jobs []Job
	for _, its := range rowsByJob(rows) {
		first := its[0]
		parent, stays := output.AllocatedFor(first.name)
		j := Job{Key: adapter.Key{ID: core.JobID(first.id), Submitted: first.submit}, Cluster: first.cluster, Name: first.name, User: first.user, Expands: parent, Stays: stays}
		for i, r := range its {
			if i > 0 {
				r.start = max(r.start, its[i-1].end)
			}
			j.State = r.state
			end := r.end
			if end == 0 {
				end = now
			}
			if len(r.nodes) > 0 && r.start > 0 && r.start < end {
				j.hold(Hold{Nodes: r.nodes, From: r.start, To: end})
			}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// hold appends a hold; a growth in two merges has a row for each, with the same nodes.
func (j *Job) hold(h Hold) {
	if last := len(j.Holds) - 1; last >= 0 && j.Holds[last].To == h.From && slices.Equal(j.Holds[last].Nodes, h.Nodes) {
		j.Holds[last].To = h.To
		return
	}
	j.Holds = append(j.Holds, h)
}

// ended is when a row ended, for ordering: one that lasts is the last.
func ended(end core.Time) core.Time {
	if end == 0 {
		return core.Forever
	}
	return end
}
