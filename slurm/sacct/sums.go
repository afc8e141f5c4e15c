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

// SumColumns lists the columns that ReadSums needs. The name is last because it may contain the separator.
const SumColumns = "JobIDRaw,Submit,Start,End,State,User,AllocCPUS,NNodes,NodeList,JobName"

// SumCommand is the command that prints the accounting for ReadSums.
const SumCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --starttime=2026-01-01 --format=" + SumColumns

// A Sum is what the accounting has booked for one job, over all its sizes. It uses the rows as Slurm wrote them, so
// a wrong start or a missing end makes the sum wrong. A comparison with the nodes that the job really held reveals
// such errors.
type Sum struct {
	adapter.Key        // Submitted is from the first row; each change of size has a row with a submit time of its own
	Cluster     string // "" if the accounting does not name the cluster
	Name, User  string
	State       string     // from the last row
	Expands     core.JobID // the job for which this job was allocated, or 0
	Stays       bool       // this job is a companion, allocated for the other job's whole life; an expander is merged instead
	From, To    core.Time  // from the first start to the last end, which is now for a running job; 0 if the job never started

	NodeSeconds, CPUSeconds int64

	Rows  int // number of rows: one plus the number of changes of size
	Open  int // rows without an end, not counting the last row of a running job
	Empty int // rows of a size without duration; two changes of size in one second leave such a row, with the state RESIZING
}

// ReadSums parses the output of SumCommand and returns a sum for each job, ordered by id and then by time. A
// running job is booked until `now`. Times without a zone are in the given zone. A missing line would make a sum
// wrong, so ReadSums returns an *InputError for the first line that cannot be parsed.
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

// A sumRow is a row for ReadSums.
type sumRow struct {
	entry
	name, user  string
	cpus, nodes int64
}

// sumRow parses the current row of a job.
func (t *table) sumRow(job jobKey) sumRow {
	r := sumRow{entry: t.entry(job), name: t.word(t.Text("JobName")), user: t.word(t.Text("User")), cpus: t.number("AllocCPUS"), nodes: t.number("NNodes")}
	switch list := t.Text("NodeList"); list {
	case "None assigned", "":
		r.nodes, r.cpus = 0, 0 // in this case NNodes is the number of requested nodes, or of the nodes that the job had before it was merged
	default:
		if r.nodes == 0 { // 20.11 prints no NNodes for a resized job
			names, err := hostlist.Expand(list)
			if err != nil {
				t.wrong("NodeList", err.Error())
			}
			r.nodes = int64(len(names))
		}
	}
	return r
}

// sumOf adds up the rows of one job.
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
		if end == r.start && r.state == resizing && r.submit == r.start { // if submit and start differ, this is the first row of a job that grew in the second of its start, which is correct
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

// running lists the states in which the last row may have no end.
var running = []string{"RUNNING", "SUSPENDED", "PENDING", "REQUEUED", resizing}
