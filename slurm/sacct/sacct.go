// Package sacct parses Slurm's accounting, including that of resized jobs. `sacct --duplicates` prints a row for each
// size that a job had.
//
// ReadHolds returns which job held which nodes, and when. It is independent of the sidecar's journal, so audits ("no node
// in two jobs") and charts use it. Its input is
//
//	sacct --allusers --duplicates --allocations --parsable2 --noheader --format="$(Format)" --starttime=…
//
// with SLURM_TIME_FORMAT=%s in the environment, so that times are Unix seconds. Workload converts the output of
// Command into a workload log for replays:
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

// Format lists the fields that ReadHolds needs, in order. The name is last because it may contain the separator.
const Format = "JobIDRaw,Submit,Start,End,State,User,NodeList,JobName"

// HoldsCommand is the command that prints the accounting for ReadHolds.
const HoldsCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --noheader --format=" + Format + " --starttime=…"

// A Job is the life of one job in the accounting.
type Job struct {
	adapter.Key        // Submitted is from the first row; later rows of a resized job have the second of the resize there
	Cluster     string // "" if the accounting does not name the cluster
	Name, User  string
	State       string     // from the job's last row
	Expands     core.JobID // the job for which this job was allocated, or 0
	Stays       bool       // this job is a companion, allocated for the other job's whole life
	Holds       []Hold     // in time order
}

// Merged reports whether the job is an expander that was merged into its parent. An expander may also be cancelled
// or lost. After a merge Slurm leaves the state RESIZING or COMPLETED in the expander's last row.
func (j Job) Merged() bool {
	return j.Expands != 0 && !j.Stays && (j.State == resizing || j.State == "COMPLETED")
}

// A Hold is a set of nodes held from From until just before To, in Unix seconds. Slurm rounds to whole seconds.
type Hold struct {
	Nodes    []string
	From, To core.Time
}

// MaxLine is the maximum length of a row, in bytes.
const MaxLine = input.MaxLine

// row is a row for ReadHolds.
type row struct {
	entry
	user, name string
	nodes      []string
}

// entry holds the fields of a row that every reader uses.
type entry struct {
	line int
	jobKey
	submit, start, end core.Time // Unix seconds; 0 if unknown
	state              string    // without the user who ended the job: CANCELLED instead of "CANCELLED by 0"
}

func (e entry) base() entry { return e }

// ReadHolds parses a file and returns one Job for all rows of a job. A running job holds its nodes until `now`, in
// Unix seconds. A job that never held nodes has no Holds. Lines that cannot be parsed are counted and left out. The
// file may have a header line, a column Cluster and rows of steps. Times without a zone are in the given zone. If
// ReadHolds returns an error, nothing could be read.
func ReadHolds(in io.Reader, file string, zone *time.Location, now core.Time) ([]Job, Unread, error) {
	var unread Unread
	c := columns(Format, HoldsCommand)
	c.Default = c.Wanted
	t, err := openTable(in, file, zone, c, &unread)
	var empty *input.Error
	if errors.As(err, &empty) {
		return nil, unread, nil // the text is empty if there was no job in that time
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
	if err != nil { // the rest of the file is damaged
		unread.Lines.Add(t.Wrong("", err.Error()))
	}
	if len(rows) == 0 && unread.Lines.Count > 0 {
		return nil, unread, noneOf(&unread)
	}
	return join(rows, now), unread, nil
}

// noneOf returns the error for a text that has no line that can be parsed.
func noneOf(unread *Unread) error {
	return fmt.Errorf("%w (no line of %d can be read)", unread.Lines.First[0], unread.Lines.Count)
}

// row parses the current row.
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

// parseTime parses Unix seconds. It returns 0 for a time that Slurm does not know.
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

// known returns t, or 0 if t is one of the two values that mean "no time" in Slurm's database.
func known(t core.Time) core.Time {
	if t == 1<<32-2 || t == 1<<32-1 {
		return 0
	}
	return t
}

// resizing is the state of a row if a row with another size of the same job follows.
const resizing = "RESIZING"

// rowsByJob groups rows by job. All rows of a job except the last are RESIZING. After a row that is not RESIZING,
// the next row with the same id belongs to another job, because slurmctld may reuse ids after it lost its last
// seconds.
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

// join makes a Job from the rows of each job. A size starts at the end of the previous size, because the last row
// may have the start of the job as its start. In 24.11 it always has. In other releases it has if the job's limit
// was changed.
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

// hold appends a hold. A growth in two merges has two rows with the same nodes. They become one hold.
func (j *Job) hold(h Hold) {
	if last := len(j.Holds) - 1; last >= 0 && j.Holds[last].To == h.From && slices.Equal(j.Holds[last].Nodes, h.Nodes) {
		j.Holds[last].To = h.To
		return
	}
	j.Holds = append(j.Holds, h)
}

// ended returns the end of a row for sorting. It sorts a row without an end last.
func ended(end core.Time) core.Time {
	if end == 0 {
		return core.Forever
	}
	return end
}
