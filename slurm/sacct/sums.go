package sacct

import (
	"io"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
)

// SumColumns are the columns that ReadSums wants. The name is last: it may contain the separator.
const SumColumns = "JobIDRaw,Submit,Start,End,State,User,AllocCPUS,NNodes,NodeList,JobName"

// SumCommand prints the accounting as ReadSums reads it.
const SumCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --starttime=2026-01-01 --format=" + SumColumns

// A Sum is what the accounting has booked for one job, all of its sizes together. It is booked as Slurm wrote it: a row with a
// wrong start or a lost end makes the sum wrong, which is what a comparison with what the job held finds.
type Sum struct {
	adapter.Key        // Submitted is that of the first row: each change of size has a row with a submit time of its own
	Cluster     string // "" where the accounting does not tell
	Name, User  string
	State       string     // of the last row
	Expands     core.JobID // the job beside which it was allocated; 0 for every other job
	Stays       bool       // it is a companion, which stayed beside that job; an expander's nodes became the job's
	From, To    core.Time  // from the first start until the last end, which is now while it runs; 0: it never started

	NodeSeconds, CPUSeconds int64

	Rows  int // how many rows it has: one more than changes of size
	Open  int // rows without an end, besides the one of a job that runs
	Empty int // rows of a size that lasted no second: two changes in one second leave one, RESIZING, while the job runs on
}

// ReadSums reads what SumCommand prints and returns a sum for each job, by id and then in the order of time. What still runs is
// booked until now. Times without a zone are the zone's. A line that cannot be read would make a sum wrong, so the first one is an
// *InputError.
func ReadSums(in io.Reader, file string, zone *time.Location, now core.Time) ([]Sum, error) {
	var unread Unread
	t, err := openTable(in, file, zone, columns(SumColumns, SumCommand), &unread)
	if err != nil {
		return nil, err
	}
	defer t.in.Close()
	var rows []sumRow
	err = t.Each(&unread.Lines, func() error {
		t.problem = nil
		job, _, isStep := t.job()
		if isStep {
			return nil
		}
		if r := t.sumRow(job); t.problem == nil {
			rows = append(rows, r)
		}
		return t.failed()
	})
	if err != nil {
		return nil, err
	}
	if unread.Lines.Count > 0 {
		return nil, unread.Lines.First[0]
	}
	var sums []Sum
	for _, its := range rowsByJob(rows) {
		sums = append(sums, sumOf(its, now))
	}
	return sums, nil
}

// A sumRow is one row as ReadSums wants it.
type sumRow struct {
	entry
	name, user  string
	cpus, nodes int64
}

// sumRow reads the current row, which is a job's.
func (t *table) sumRow(job jobKey) sumRow {
	r := sumRow{entry: t.entry(job), name: t.word(t.Text("JobName")), user: t.word(t.Text("User")), cpus: t.number("AllocCPUS"), nodes: t.number("NNodes")}
	switch list := t.Text("NodeList"); list {
	case "None assigned", "":
		r.nodes, r.cpus = 0, 0 // NNodes is then what it asked for, or had before it was merged
	default:
		if r.nodes == 0 { // 20.11 writes none for a job that was resized
			names, err := hostlist.Expand(list)
			if err != nil {
				t.wrong("NodeList", err.Error())
			}
			r.nodes = int64(len(names))
		}
	}
	return r
}

// sumOf adds the rows of one job.
func sumOf(its []sumRow, now core.Time) Sum {
	first, last := its[0], its[len(its)-1]
	s := Sum{Key: adapter.Key{ID: core.JobID(first.id), Submitted: first.submit}, Cluster: first.cluster, Name: first.name, User: first.user, State: last.state, Rows: len(its)}
	s.Expands, s.Stays = output.AllocatedFor(first.name)
	for i, r := range its {
		if r.start == 0 {
			continue
		}
		end := r.end
		switch {
		case end != 0:
		case i == len(its)-1 && slices.Contains(running, r.state):
			end = now
		default:
			s.Open++
			end = max(now, r.start)
		}
		if end == r.start && r.state == resizing && r.submit == r.start { // else it is the first row, of a job that grew at once
			s.Empty++
		}
		if s.From == 0 || r.start < s.From {
			s.From = r.start
		}
		s.To = max(s.To, end)
		s.NodeSeconds += r.nodes * max(0, end-r.start)
		s.CPUSeconds += r.cpus * max(0, end-r.start)
	}
	return s
}

// running are the states of a row that is rightly open.
var running = []string{"RUNNING", "SUSPENDED", "PENDING", "REQUEUED", resizing}
