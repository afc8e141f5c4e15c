package status

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

// QueueReport is what `accordion queue --json` prints: every job of the pool with its place in the plan.
type QueueReport struct {
	Sidecar Sidecar   `json:"sidecar"`
	Read    core.Time `json:"read"` // Unix second at which the sidecar last confirmed the queue
	view.Queue
}

// ReadQueue reads the report from the journal. If the journal has no queue, Read is 0 and there are no jobs.
func ReadQueue(j journal.Reader) (QueueReport, error) {
	var r QueueReport
	status, err := Read(j)
	if err != nil {
		return r, err
	}
	data, err := j.Queue()
	if err != nil {
		return r, err
	}
	if data != nil {
		if err := json.Unmarshal(data, &r.Queue); err != nil {
			return r, fmt.Errorf("read the queue in the journal %s: %w; was it written by another version?", j.Path(), err)
		}
	}
	r.Sidecar, r.Read, r.Cluster = status.Sidecar, max(r.At, status.At), status.Cluster
	if r.Jobs == nil {
		r.Jobs = []view.Entry{} // JSON [] instead of null
	}
	if r.Closures == nil {
		r.Closures = []view.Closure{}
	}
	return r, nil
}

// Of returns a copy of the report with only the jobs and the usage of one user.
func (r QueueReport) Of(user string) QueueReport {
	r.Jobs = slices.DeleteFunc(slices.Clone(r.Jobs), func(e view.Entry) bool { return e.User != user })
	if r.Usage != nil {
		own := *r.Usage
		own.Users = slices.DeleteFunc(slices.Clone(own.Users), func(u view.UserUsage) bool { return u.User != user })
		r.Usage = &own
	}
	return r
}

// Table writes the queue as text: a line about the pool, and then one line for each job. Jobs that
// hold nodes come first, then waiting jobs by rank, then jobs that are not in the plan's queue.
// Planned times have a leading ~.
func (r QueueReport) Table(w io.Writer, now time.Time, zone *time.Location) error {
	p := page{now: now.In(zone), zone: zone}
	hold, wait := 0, 0
	for i := range r.Jobs {
		if r.Jobs[i].Holds() {
			hold++
		} else {
			wait++
		}
	}
	what := fmt.Sprintf("%s run, %d wait", jobsWord(hold), wait)
	if hold == 1 {
		what = fmt.Sprintf("1 job runs, %d wait", wait)
	}
	var b strings.Builder
	b.WriteString(p.headline(r.Sidecar, r.Read, r.Cluster, what) + "\n")
	if len(r.Jobs) > 0 {
		titles := []any{"JOB", "USER", "NAME", "KIND", "PHASE", "NODES", "START", "END", "RANK", "NODELIST(WHY)"}
		ranked := slices.ContainsFunc(r.Jobs, func(e view.Entry) bool { return len(e.Parts) > 0 })
		if !ranked {
			titles = slices.Delete(titles, 8, 9)
		}
		t := plain(titles...)
		for i := range r.Jobs {
			e := &r.Jobs[i]
			start, end := p.planned(r, e)
			row := table.Row{e.ID, clean(e.User), clean(e.Name), e.Kind, e.Phase, sizes(e), start, end}
			if ranked {
				row = append(row, rank(e))
			}
			t.AppendRow(append(row, where(e)))
		}
		b.WriteString(t.Render() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rank formats a waiting job's priority and the parts of the priority: "11375 (10000 fair share, 1375 age)".
func rank(e *view.Entry) string {
	if len(e.Parts) == 0 {
		return "-"
	}
	all := make([]string, len(e.Parts))
	for i, p := range e.Parts {
		all[i] = fmt.Sprintf("%d %s", p.Points, clean(p.Name))
	}
	return fmt.Sprintf("%d (%s)", e.Priority, strings.Join(all, ", "))
}

// due reports whether the planned start of a waiting job has come, or comes within r.Lead seconds.
func (r QueueReport) due(e *view.Entry) bool {
	return e.Rank > 0 && e.Start > 0 && e.Start <= max(r.Read, r.At)+r.Lead
}

// planned formats the job's start and end. A time that is only planned has a leading ~.
func (p page) planned(r QueueReport, e *view.Entry) (start, end string) {
	start, end = p.moment(e.Start), p.moment(e.End)
	switch {
	case e.Start == 0:
		return "-", "-"
	case !e.Holds() && r.due(e):
		start = "~now"
	case !e.Holds():
		start = "~" + start
	}
	if !e.Holds() && e.End != 0 {
		end = "~" + end
	}
	return start, end
}

// sizes formats the numbers of nodes of a job's steps: "5 (2,5,3)" for a job that holds 5 nodes,
// "2,5,3" for a job that waits, "4" for a job with one step. For a moldable job that is planned on 8
// nodes and may have 4 to 12 nodes now, it returns "8 (4-12)".
func sizes(e *view.Entry) string {
	steps := make([]string, len(e.Plan))
	for i, s := range e.Plan {
		steps[i] = strconv.Itoa(s.Nodes)
	}
	all := strings.Join(steps, ",")
	if left := leftOut(len(steps)); left != "" {
		all = strings.Join(steps[:mostSteps], ",") + "," + left
	}
	switch {
	case e.Sized != nil && e.Sized.Least < e.Sized.Most:
		return fmt.Sprintf("%d (%d-%d)", e.Size, e.Sized.Least, e.Sized.Most)
	case len(steps) < 2:
		return strconv.Itoa(e.Size)
	case e.Holds():
		return fmt.Sprintf("%d (%s)", e.Size, all)
	default:
		return all
	}
}

// where returns the nodes that a job holds, or why it waits.
func where(e *view.Entry) string {
	switch {
	case e.Holds() && e.Nodes != "":
		return clean(e.Nodes)
	case e.Why != "":
		return "(" + clean(e.Why) + ")"
	}
	return "-"
}

func jobsWord(n int) string { return counted(n, "job") }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
