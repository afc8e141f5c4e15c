package sacct

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
	"accordion/traces/input"
)

// BookedColumns lists the columns that ReadBooked parses, in order, for jobs and steps.
const BookedColumns = "JobIDRaw,Submit,Start,End,State,Partition,User,AllocCPUS,NNodes,Suspended,NodeList,JobName"

// A bookedRow is a row of BookedColumns.
type bookedRow struct {
	row
	step      string // "" in the row of a job
	partition string
	suspended bool
	fields    []string
}

var errBooked = errors.New("want the fields " + BookedColumns + ", times in Unix seconds (SLURM_TIME_FORMAT=%s)")

// ReadBooked parses the rows of `sacct --duplicates --noheader --parsable2` with BookedColumns, and joins the rows
// of each job. A running job holds its nodes until `now`. The separator may be any text. If users cannot guess it,
// the name of a job cannot forge rows. A row that cannot be parsed is counted and left out.
func ReadBooked(in io.Reader, separator string, now core.Time) (*adapter.Accounting, error) {
	books := &adapter.Accounting{Grain: 1}
	rows, steps, err := readRows(in, separator, books)
	if err != nil {
		return nil, err
	}
	if err := bookAll(books, rows, now); err != nil {
		return nil, err
	}
	noteTwice(books, steps)
	return books, nil
}

// ReadSteps parses rows of steps as ReadBooked does, and records which steps occur twice.
func ReadSteps(in io.Reader, separator string, books *adapter.Accounting) error {
	_, steps, err := readRows(in, separator, books)
	if err != nil {
		return err
	}
	noteTwice(books, steps)
	return nil
}

// readRows parses rows of jobs and of steps.
func readRows(in io.Reader, separator string, books *adapter.Accounting) (rows, steps []bookedRow, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, input.MaxLine)
	number := 0
	for lines.Scan() {
		number++
		if !strings.Contains(lines.Text(), separator) { // an empty line, or the rest of a job's name
			continue
		}
		r, err := parseBooked(lines.Text(), separator)
		if err != nil {
			if books.Unread++; books.Why == "" {
				books.Why = fmt.Sprintf("sacct, line %d: %v", number, err)
			}
			continue
		}
		if r.line = number; r.step != "" {
			steps = append(steps, r)
		} else {
			rows = append(rows, r)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("sacct, line %d: %w", number+1, err)
	}
	return rows, steps, nil
}

// bookAll adds the rows to the books.
func bookAll(books *adapter.Accounting, rows []bookedRow, now core.Time) error {
	sums, err := sumsOf(rows, now)
	if err != nil {
		return err
	}
	for _, its := range rowsByJob(rows) {
		b := bookedOf(its, now)
		if s, known := sums[b.Key]; known {
			b.Sum, b.Lost = float64(s.NodeSeconds), s.Empty
		}
		books.Jobs = append(books.Jobs, b)
	}
	return nil
}

// noteTwice records in each job which of its steps occur twice.
func noteTwice(books *adapter.Accounting, steps []bookedRow) {
	twice := twiceOf(steps)
	for i := range books.Jobs {
		books.Jobs[i].Twice = twice[int64(books.Jobs[i].ID)]
	}
}

func parseBooked(text, separator string) (r bookedRow, err error) {
	n := strings.Count(BookedColumns, ",") + 1
	f := strings.SplitN(text, separator, n)
	if len(f) != n {
		return r, errBooked
	}
	r.fields = f
	number, step, _ := strings.Cut(f[0], ".")
	if r.id, err = strconv.ParseInt(number, 10, 64); err != nil || r.id <= 0 {
		return r, fmt.Errorf("%.40q is no job id: %w", f[0], errBooked)
	}
	r.step, r.partition, r.user, r.name = step, f[5], f[6], f[11]
	r.state, _, _ = strings.Cut(f[4], " ")
	for i, to := range []*core.Time{&r.submit, &r.start, &r.end} {
		if *to, err = parseTime(f[1+i]); err != nil {
			return r, err
		}
	}
	r.suspended = strings.Trim(f[9], "0:-") != ""
	if f[10] != "" && f[10] != "None assigned" {
		if r.nodes, err = hostlist.Expand(f[10]); err != nil {
			return r, fmt.Errorf("nodes: %w", err)
		}
	}
	return r, nil
}

// sumsOf returns the sums that the accounting itself has for each job.
func sumsOf(rows []bookedRow, now core.Time) (map[adapter.Key]Sum, error) {
	text := strings.Builder{}
	text.WriteString(strings.ReplaceAll(BookedColumns, ",", "|") + "\n")
	for _, r := range rows {
		for i, f := range r.fields {
			if i > 0 {
				text.WriteByte('|')
			}
			text.WriteString(strings.ReplaceAll(core.Printable(f), "|", "?"))
		}
		text.WriteByte('\n')
	}
	sums, err := ReadSums(strings.NewReader(text.String()), "sacct", time.UTC, now)
	all := make(map[adapter.Key]Sum, len(sums))
	for _, s := range sums {
		all[s.Key] = s
	}
	return all, err
}

// twiceOf returns the steps of each job that have two rows for the same time.
func twiceOf(steps []bookedRow) map[int64][]string {
	slices.SortStableFunc(steps, func(a, b bookedRow) int {
		return strings.Compare(a.fields[0], b.fields[0])
	})
	twice := map[int64][]string{}
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		if a.id == b.id && a.step == b.step && b.start < ended(a.end) && a.start < ended(b.end) && !slices.Contains(twice[a.id], a.step) {
			twice[a.id] = append(twice[a.id], a.step)
		}
	}
	return twice
}

// bookedOf joins the rows of a job. A size starts at the end of the previous size.
func bookedOf(its []bookedRow, now core.Time) adapter.AccountedRun {
	first, last := its[0], its[len(its)-1]
	parent, stays := output.AllocatedFor(first.name)
	b := adapter.AccountedRun{Key: adapter.Key{ID: core.JobID(first.id), Submitted: first.submit}, Name: first.name, User: first.user, Partition: first.partition,
		Expands: parent, Stays: stays, State: last.state, Open: last.end == 0, Rows: len(its)}
	for i, r := range its {
		b.Suspended = b.Suspended || r.suspended
		if i > 0 {
			r.start = max(r.start, its[i-1].end)
		}
		end := r.end
		if end == 0 {
			end = now
		}
		if len(r.nodes) == 0 || r.start == 0 || r.start >= end {
			continue
		}
		if n := len(b.Holds) - 1; n >= 0 && b.Holds[n].To == r.start && slices.Equal(b.Holds[n].Nodes, r.nodes) {
			b.Holds[n].To = end
			continue
		}
		b.Holds = append(b.Holds, adapter.Hold{Nodes: r.nodes, From: r.start, To: end})
	}
	b.Merged = b.Expands != 0 && !stays && (last.state == resizing || last.state == "COMPLETED")
	byHand := b.Expands == 0 && last.state == "COMPLETED" // the owner has merged this job into another job by hand; the row of that job may be too old to be in the text
	if (b.Merged || byHand) && b.Open && len(last.nodes) == 0 {
		b.Open, b.Dangling = false, true
	}
	return b
}

// ReadHours parses the output of `sreport --noheader --parsable2 cluster UserUtilizationByAccount
// format=login,used` for one resource. It returns how much each user used, summed over accounts.
func ReadHours(in io.Reader) (map[string]float64, error) {
	all := map[string]float64{}
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		user, used, _ := strings.Cut(lines.Text(), "|")
		if strings.TrimSpace(user) == "" {
			continue
		}
		seconds, err := strconv.ParseFloat(used, 64)
		if err != nil {
			return nil, fmt.Errorf("sreport, line %d: %.40q is not a number of seconds; want login|used", number, used)
		}
		all[user] += seconds
	}
	return all, lines.Err()
}
