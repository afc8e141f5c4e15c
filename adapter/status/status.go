// Package status publishes and prints what users see of a cluster. In the sidecar, a Publisher writes
// the documents of package view to the journal, and records why planned starts move. In other
// programs, Read, ReadQueue and Explain read these documents, and explain why a job waits. Their
// results print tables, sentences or JSON. They read only the journal, so they also work while the
// sidecar or the batch system is down.
//
//	err := publisher.Publish(world) // in the sidecar, each cycle
//
//	r, err := status.Read(j) // j from journal.OpenReadOnly
//	err = r.Table(os.Stdout, time.Now(), time.Local)
//	x, err := status.Explain(j, 4711)
//	err = x.Write(os.Stdout, time.Now(), time.Local)
//
// An explanation is made in three files. explain.go collects the facts about one job from the queue and the events. reasons.go finds out
// why the job waits. sentences.go prints both for the user.
package status

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
)

// Sidecar tells whether the sidecar that writes to the journal is running.
type Sidecar struct {
	Running bool `json:"running"`
	PID     int  `json:"pid,omitempty"` // 0 if not known
	// Since and Away describe a sidecar that does not run, for a user who may not open its journal.
	// Since is the Unix second at which the sidecar stopped; 0 if not known. Away is the reason
	// why no jobs are shown. Both are absent if jobs are shown.
	Since core.Time `json:"since,omitempty"`
	Away  string    `json:"away,omitempty"`
}

// Report is what `accordion status --json` prints: the sidecar's status document, and whether a sidecar still writes it.
type Report struct {
	Sidecar Sidecar `json:"sidecar"`
	view.Status
}

// Read reads the report from the journal. If the journal has no status document, At is 0 and there are no jobs.
func Read(j journal.Reader) (Report, error) {
	r := Report{Status: view.Status{Jobs: []view.Job{}}}
	data, err := j.View()
	if err != nil {
		return r, err
	}
	if data != nil {
		if err := json.Unmarshal(data, &r.Status); err != nil {
			return r, fmt.Errorf("read the status in the journal %s: %w; was it written by another version?", j.Path(), err)
		}
	}
	if r.Jobs == nil {
		r.Jobs = []view.Job{} // JSON [] instead of null
	}
	r.Sidecar.PID, r.Sidecar.Running, err = j.Writer()
	return r, err
}

// Table writes the report as text: a line about the sidecar, and then one line for each managed job.
// Times are in the given zone. A time on another day than now has a date.
func (r Report) Table(w io.Writer, now time.Time, zone *time.Location) error {
	p := page{now: now.In(zone), zone: zone}
	var b strings.Builder
	b.WriteString(p.headline(r.Sidecar, r.At, r.Cluster, managedJobs(len(r.Jobs))) + "\n")
	if r.Soft != "" {
		b.WriteString("PROMISES ARE SOFT: " + clean(r.Soft) + "\n")
	}
	if r.Manage == "all" {
		b.WriteString("every job of the partition is planned and let in by the sidecar ([slurm] manage = \"all\")\n")
	}
	if len(r.Jobs) > 0 {
		b.WriteString(p.table(r.Jobs) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// stale is an age in seconds. If the status of a running sidecar is older than that, the sidecar
// cannot read the batch system. A sidecar that can writes a status every few seconds, even while
// nothing changes.
const stale = 120

// page has the present time and the time zone with which a text is printed.
type page struct {
	now  time.Time
	zone *time.Location
}

func managedJobs(n int) string {
	switch n {
	case 0:
		return "no managed jobs"
	case 1:
		return "1 managed job"
	}
	return fmt.Sprintf("%d managed jobs", n)
}

// headline returns the first line of a text: what the text shows, the time of the data, whether the
// sidecar runs, and whether the batch system answers.
func (p page) headline(s Sidecar, at core.Time, cluster, what string) string {
	where := "Accordion"
	if cluster != "" {
		where += " on " + clean(cluster)
	}
	switch {
	case s.Away != "" && s.Since != 0:
		return fmt.Sprintf("%s: THE SIDECAR IS NOT RUNNING since %s (%s); %s", where, p.moment(s.Since), p.since(s.Since), clean(s.Away))
	case s.Away != "":
		return fmt.Sprintf("%s: THE SIDECAR IS NOT RUNNING; %s", where, clean(s.Away))
	case s.Running && at == 0:
		return where + ": the sidecar has not read the batch system yet"
	case s.Running && p.now.Unix()-at > stale:
		return fmt.Sprintf("%s: THE BATCH SYSTEM DOES NOT ANSWER, since %s (%s); then: %s", where, p.moment(at), p.since(at), what)
	case s.Running:
		return fmt.Sprintf("%s: %s, as of %s%s", where, what, p.moment(at), p.ago(at))
	case at == 0:
		return where + ": the sidecar is not running, and has never read the batch system"
	}
	return fmt.Sprintf("%s: THE SIDECAR IS NOT RUNNING since %s (%s); then: %s", where, p.moment(at), p.since(at), what)
}

// ago describes how long ago a Unix second was. It returns "" if that was at most a second ago.
func (p page) ago(at core.Time) string {
	if p.now.Unix()-at < 2 {
		return ""
	}
	return ", " + p.since(at)
}

// since describes how long ago a Unix second was, rounded by span.
func (p page) since(at core.Time) string {
	d := p.now.Unix() - at
	if d < 0 {
		return "by another clock" // this machine's clock is behind that of the sidecar
	}
	return span(d) + " ago"
}

// span formats a number of seconds. The larger the number is, the more it is rounded.
func span(d core.Time) string {
	switch {
	case d < 120:
		return fmt.Sprintf("%d s", d)
	case d < 2*3600:
		return fmt.Sprintf("%d min", d/60)
	case d < 24*3600 && d/60%60 > 0:
		return fmt.Sprintf("%d h %d min", d/3600, d/60%60)
	case d < 48*3600:
		return fmt.Sprintf("%d h", d/3600)
	default:
		return fmt.Sprintf("%d days", d/(24*3600))
	}
}

func (p page) table(jobs []view.Job) string {
	t := plain("JOB", "USER", "NAME", "KIND", "PHASE", "STEP", "NODES", "START", "END", "WHY")
	for _, j := range jobs {
		t.AppendRow(table.Row{j.ID, clean(j.User), clean(j.Name), j.Kind, j.Phase, step(j), nodes(j), p.moment(j.Start), p.end(j), dash(clean(j.Why))})
	}
	return t.Render()
}

// plain returns a table without borders, in the style of squeue.
func plain(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	t.AppendHeader(header)
	narrow(t, len(header))
	return t
}

// moment formats a Unix second as a time of day. If it is not today, the date is included.
func (p page) moment(at core.Time) string {
	if at == 0 {
		return "-"
	}
	t := time.Unix(at, 0).In(p.zone)
	if t.Format(time.DateOnly) == p.now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02T15:04:05")
}

// end formats the promised end of a job. For a waiting job it formats the planned end, with a leading ~.
func (p page) end(j view.Job) string {
	switch {
	case j.Promised != 0:
		return p.moment(j.Promised)
	case j.Start != 0 && len(j.Plan) > 0:
		return "~" + p.moment(j.Start+j.Plan.Total())
	}
	return "-"
}

func step(j view.Job) string {
	if j.Step == 0 {
		return fmt.Sprintf("-/%d", j.Steps)
	}
	return fmt.Sprintf("%d/%d", j.Step, j.Steps)
}

// nodes formats the nodes that the job holds, and their number.
func nodes(j view.Job) string {
	if j.Nodes == "" {
		return "-"
	}
	return fmt.Sprintf("%s (%d)", clean(j.Nodes), j.Size)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// clean removes control characters, which users may have put into names.
func clean(s string) string { return core.Printable(s) }
