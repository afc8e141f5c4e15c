package sacct

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
)

// BookedColumns are what ReadBooked reads, in order. The name is last: it may contain the separator.
const BookedColumns = "JobIDRaw,Submit,Start,End,State,Partition,User,ElapsedRaw,AllocNodes,Suspended,NodeList,JobName"

// bookedRow is one line of sacct with BookedColumns.
type bookedRow struct {
	row
	partition string
	elapsed   core.Time
	nodes     int64
	suspended bool
}

var errBooked = errors.New("want the fields " + BookedColumns + " separated by |, times in Unix seconds (SLURM_TIME_FORMAT=%s)")

// ReadBooked reads the rows of sacct --duplicates --allocations with BookedColumns, and joins those
// of one job. What still runs is held until now. A row that cannot be read is left out and counted.
func ReadBooked(in io.Reader, now core.Time) (*adapter.Books, error) {
	books := &adapter.Books{Grain: 1}
	var rows []bookedRow
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, MaxLine)
	number := 0
	for scanner.Scan() {
		number++
		if strings.TrimSpace(scanner.Text()) == "" {
			continue
		}
		r, err := parseBooked(scanner.Text())
		if err != nil {
			if books.Unread++; books.Why == "" {
				books.Why = fmt.Sprintf("sacct, line %d: %v", number, err)
			}
			continue
		}
		r.line = number
		rows = append(rows, r)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("sacct, line %d: %w", number+1, err)
	}
	for _, its := range lines(rows) {
		books.Jobs = append(books.Jobs, bookedOf(its, now))
	}
	return books, nil
}

func parseBooked(text string) (bookedRow, error) {
	n := strings.Count(BookedColumns, ",") + 1
	f := strings.SplitN(text, "|", n)
	if len(f) != n {
		return bookedRow{}, errBooked
	}
	id, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || id <= 0 {
		return bookedRow{}, fmt.Errorf("%.40q is no job id: %w", f[0], errBooked)
	}
	r := bookedRow{row: row{entry: entry{id: id}, user: f[6], name: f[11]}, partition: f[5]}
	r.state, _, _ = strings.Cut(f[4], " ")
	for i, to := range []*core.Time{&r.submit, &r.start, &r.end} {
		if *to, err = parseTime(f[1+i]); err != nil {
			return bookedRow{}, err
		}
	}
	for i, to := range []*int64{&r.elapsed, &r.nodes} {
		if *to, err = strconv.ParseInt(f[7+i], 10, 64); err != nil && f[7+i] != "" {
			return bookedRow{}, fmt.Errorf("%.40q is no number: %w", f[7+i], errBooked)
		}
	}
	r.suspended = strings.Trim(f[9], "0:-") != ""
	if f[10] != "" && f[10] != "None assigned" {
		if r.row.nodes, err = hostlist.Expand(f[10]); err != nil {
			return bookedRow{}, fmt.Errorf("nodes: %w", err)
		}
	}
	return r, nil
}

// bookedOf makes the rows of a job one run of it.
func bookedOf(its []bookedRow, now core.Time) adapter.Booked {
	first, last := its[0], its[len(its)-1]
	parent, stays := output.Beside(first.name)
	b := adapter.Booked{Key: adapter.Key{ID: core.JobID(first.id), Submitted: first.submit}, Name: first.name, User: first.user, Partition: first.partition,
		Expands: parent, Stays: stays, State: last.state, Open: last.end == 0}
	for i, r := range its {
		if i > 0 {
			r.start = max(r.start, its[i-1].end)
		}
		b.Suspended = b.Suspended || r.suspended
		b.Sum += float64(r.elapsed * r.nodes)
		end := r.end
		if end == 0 {
			end = now
		}
		if len(r.row.nodes) == 0 || r.start == 0 || r.start >= end {
			continue
		}
		h := adapter.Hold{Nodes: r.row.nodes, From: r.start, To: end}
		if n := len(b.Holds) - 1; n >= 0 && b.Holds[n].To == h.From && hostlist.Compact(b.Holds[n].Nodes) == hostlist.Compact(h.Nodes) {
			b.Holds[n].To = h.To
			continue
		}
		b.Holds = append(b.Holds, h)
	}
	if len(b.Holds) == 0 { // it never ran, or an expander's last row: what its row has is the count it asked for
		b.Sum = 0
	}
	return b
}
