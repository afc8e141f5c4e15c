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
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
)

// Format is the fields that Read wants, in order. The name is last: it may contain the separator.
const Format = "JobIDRaw,Submit,Start,End,State,User,NodeList,JobName"

// Job is one job's life as the accounting has it.
type Job struct {
	adapter.Key // Submitted is that of its first row: a resize writes its own second there
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
const MaxLine = 1 << 20

// row is one line of sacct, as Read wants it.
type row struct {
	entry
	user, name string
	nodes      []string
}

// entry is what a line of sacct says of a job's life.
type entry struct {
	line               int
	id                 int64
	submit, start, end core.Time // Unix seconds; 0: unknown
	state              string    // without who ended it: "CANCELLED by 0" is CANCELLED
}

func (e entry) its() entry { return e }

// Read reads the rows and puts those of one job together. What still runs is held until now (Unix seconds). Rows of jobs that
// held nothing give a job without Holds. An error names the line.
func Read(in io.Reader, now core.Time) ([]Job, error) {
	var rows []row
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxLine)
	number := 0
	for lines.Scan() {
		number++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		r, err := parseRow(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("sacct, line %d: %w", number, err)
		}
		r.line = number
		rows = append(rows, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("sacct, line %d: %w", number+1, err)
	}
	return join(rows, now), nil
}

var errForm = errors.New("want the fields " + Format + " separated by |, times in Unix seconds (SLURM_TIME_FORMAT=%s)")

func parseRow(text string) (row, error) {
	f := strings.SplitN(text, "|", strings.Count(Format, ",")+1)
	if len(f) != strings.Count(Format, ",")+1 {
		return row{}, errForm
	}
	id, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || id <= 0 {
		return row{}, fmt.Errorf("%.40q is no job id: %w", f[0], errForm)
	}
	r := row{entry: entry{id: id}, user: f[5], name: f[7]}
	r.state, _, _ = strings.Cut(f[4], " ")
	for i, to := range []*core.Time{&r.submit, &r.start, &r.end} {
		if *to, err = parseTime(f[1+i]); err != nil {
			return row{}, err
		}
	}
	if f[6] != "" && f[6] != "None assigned" {
		if r.nodes, err = hostlist.Expand(f[6]); err != nil {
			return row{}, fmt.Errorf("nodes: %w", err)
		}
	}
	return r, nil
}

// parseTime reads Unix seconds; what Slurm does not know is 0.
func parseTime(text string) (core.Time, error) {
	switch text {
	case "Unknown", "None", "N/A", "":
		return 0, nil
	}
	t, err := strconv.ParseInt(text, 10, 64)
	if err != nil || t < 0 || t > core.Forever {
		return 0, fmt.Errorf("%.40q is no time: %w", text, errForm)
	}
	return t, nil
}

// resizing is the state of a row that another size of the same job follows.
const resizing = "RESIZING"

// lines gives the rows of each job: they follow each other, and all but the last are RESIZING. A row that follows one of another
// state is another job of the same id (ids are used again after a controller lost its last seconds).
func lines[R interface{ its() entry }](rows []R) (jobs [][]R) {
	slices.SortStableFunc(rows, func(x, y R) int {
		a, b := x.its(), y.its()
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(ended(a.end), ended(b.end)), cmp.Compare(a.submit, b.submit), cmp.Compare(a.line, b.line))
	})
	first := 0
	for i := range rows {
		if last := rows[i].its(); i+1 == len(rows) || rows[i+1].its().id != last.id || last.state != resizing {
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
	for _, its := range lines(rows) {
		first := its[0]
		parent, stays := output.Beside(first.name)
		j := Job{Key: adapter.Key{ID: core.JobID(first.id), Submitted: first.submit}, Name: first.name, User: first.user, Expands: parent, Stays: stays}
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
