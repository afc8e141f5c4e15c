package sacct

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core"
	"accordion/slurm/number"
	"accordion/traces/input"
)

// Columns lists the columns of a job that Workload needs. The name is last because it may contain the separator.
const Columns = wanted + ",JobName"

const wanted = "JobIDRaw,Submit,Start,End,State,ReqCPUS,AllocCPUS,TimelimitRaw,TotalCPU,User,Account,QOS,Partition"

// Command is the command that prints the accounting for Workload. Workload skips rows of steps. For a resized job
// of Slurm 20.11, NNodes gives the CPUs with which the job began.
const Command = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --starttime=2026-01-01 --format=" + wanted + ",NNodes,JobName"

// An InputError reports a text that sacct does not print, with the file and the line.
type InputError = input.Error

// clusterColumn is the column that distinguishes jobs of several clusters. sacct --clusters and --federation can
// print this column.
const clusterColumn = "Cluster"

// jobKey identifies a job. Two clusters in one text may use the same id.
type jobKey struct {
	cluster string // "" if the text does not name the cluster
	id      int64
}

// Unread counts the texts that could not be parsed, and times that are ambiguous.
type Unread struct {
	Lines   input.Unread // lines left out
	Values  input.Unread // statistics taken as unknown
	Doubled input.Unread // times in the hour that clocks show twice when daylight saving time ends; they are read as the earliest instant that fits the job's other times
}

// Warnings returns a line of text for each count.
func (u *Unread) Warnings() []string {
	return slices.Concat(u.Lines.Warnings("line", "cannot be read, left out"), u.Values.Warnings("value", "cannot be read, taken as unknown"),
		u.Doubled.Warnings("time", "may be either of two hours as daylight saving time ends, taken as early as its job allows "+
			"(SLURM_TIME_FORMAT=%s prints such times clearly)"))
}

// table parses what `sacct --parsable2` prints.
type table struct {
	*input.Rows
	in       *input.Text
	zone     *time.Location // of times without a zone
	unread   *Unread
	problem  error             // the first error of the current row
	words    map[string]string // one copy of each text that repeats
	clusters map[string]bool   // the clusters of the rows
	last     chain
}

// chain holds the times of the previous row.
type chain struct {
	job        jobKey
	start, end core.Time
	resizing   bool
}

// columns returns the needed columns, with the command that prints them.
func columns(wanted, command string) input.Columns {
	return input.Columns{Wanted: strings.Split(wanted, ","), Rest: "JobName", Command: command}
}

// openTable parses the header line. The caller must close the field `in` of the table.
func openTable(in io.Reader, file string, zone *time.Location, c input.Columns, unread *Unread) (*table, error) {
	text, err := input.Open(in, file)
	if err != nil {
		return nil, err
	}
	t := &table{in: text, zone: zone, unread: unread, words: map[string]string{}, clusters: map[string]bool{}}
	if t.Rows, err = input.NewRows(text, file, c, &unread.Lines); err != nil {
		text.Close()
		return nil, err
	}
	return t, nil
}

// wrong keeps the first error of the row. A row with an error is left out.
func (t *table) wrong(column, why string) {
	if t.problem == nil {
		t.problem = t.Wrong(column, why)
	}
}

// failed returns the first error of the row, or nil if there is none.
func (t *table) failed() error {
	if t.problem == nil {
		return nil
	}
	return t.problem
}

// unknown counts a statistic of the row that cannot be parsed.
func (t *table) unknown(column string) {
	t.unread.Values.Add(t.Wrong(column, core.Shown(t.Text(column))+" is no value that sacct prints"))
}

// word returns the single copy of a text.
func (t *table) word(text string) string {
	if known, ok := t.words[text]; ok {
		return known
	}
	own := strings.Clone(text)
	t.words[own] = own
	return own
}

// job parses JobIDRaw and Cluster. `step` is the text after the point in a step's id.
func (t *table) job() (job jobKey, step string, isStep bool) {
	raw, step, isStep := strings.Cut(t.Text("JobIDRaw"), ".")
	raw, _, _ = strings.Cut(raw, "+") // the id of a heterogeneous job
	id, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || id <= 0 || id > 1<<32 {
		t.wrong("JobIDRaw", core.Shown(t.Text("JobIDRaw"))+" is no job id, nor that of a step such as 123.0")
	}
	job = jobKey{t.word(t.Text(clusterColumn)), id}
	if job.cluster != "" {
		t.clusters[job.cluster] = true
	}
	return job, step, isStep
}

// state parses State, without the user who ended the job. For "CANCELLED by 0" it returns CANCELLED.
func (t *table) state() string {
	state, _, _ := strings.Cut(t.Text("State"), " ")
	return t.word(state)
}

// entry parses the fields of the row that every reader uses.
func (t *table) entry(job jobKey) entry {
	_, line := t.Line()
	e := entry{line: line, jobKey: job, state: t.state()}
	before := core.Time(0)
	if t.last.job == job && t.last.resizing {
		before = t.last.end
	}
	e.submit = t.time("Submit", before)
	e.start = t.time("Start", e.submit)
	e.end = t.time("End", max(e.start, e.submit))
	t.last = chain{job, e.start, e.end, e.state == resizing}
	return e
}

// statistic parses a number that is not essential. It returns -1 if it cannot be parsed.
func (t *table) statistic(column string) int64 {
	before := t.problem
	n := t.number(column)
	if t.problem != before { //nolint:errorlint // compared by identity: two errors of the same kind are different problems
		t.problem = before
		t.unknown(column)
		return -1
	}
	return n
}

// number parses a count. An empty field, or a missing column, is 0.
func (t *table) number(column string) int64 {
	text := t.Text(column)
	if text == "" {
		return 0
	}
	n, err := number.Count(text)
	if err != nil || n > 1<<31-1 {
		t.wrong(column, core.Shown(text)+" is no number from 0 to 2147483647")
	}
	return max(n, 0)
}

// timeForms lists the formats of times other than Unix seconds: Slurm's default format, and some that
// SLURM_TIME_FORMAT can select.
var timeForms = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02T15:04:05Z0700"}

// time parses a time in Unix seconds (SLURM_TIME_FORMAT=%s) or in another format. A text without a zone is in the
// table's zone. time returns 0 if the time is unknown. When daylight saving time ends, clocks show some times
// twice. For such a time, time returns the first of the two instants that is not before the job's earlier times.
func (t *table) time(column string, before core.Time) core.Time {
	const year10000 = 253402300800
	text := t.Text(column)
	if at, err := parseTime(text); err == nil && at < year10000 {
		return at
	}
	for _, form := range timeForms {
		at, err := time.ParseInLocation(form, text, t.zone)
		if err != nil || at.Unix() < 0 {
			continue
		}
		first, second := readings(at)
		if first == second {
			return known(first)
		}
		t.unread.Doubled.Add(t.Wrong(column, core.Shown(text)+" comes twice in "+t.zone.String()))
		if first < before {
			return second
		}
		return first
	}
	t.wrong(column, core.Shown(text)+" is no time; want Unix seconds (SLURM_TIME_FORMAT=%s), or 2026-01-31T12:00:00")
	return 0
}

// readings returns the two Unix seconds at which clocks in the zone of `at` show the same time as `at`. The two
// seconds differ only when daylight saving time ends.
func readings(at time.Time) (first, second core.Time) {
	const longest = 3 * time.Hour // the maximum by which clocks are ever set back; one hour is usual
	_, offset := at.Zone()
	first, second = at.Unix(), at.Unix()
	for _, other := range []time.Time{at.Add(-longest), at.Add(longest)} {
		_, its := other.Zone()
		shifted := at.Unix() + int64(offset-its)
		if _, there := time.Unix(shifted, 0).In(at.Location()).Zone(); there == its {
			first, second = min(first, shifted), max(second, shifted)
		}
	}
	return first, second
}

// limit parses TimelimitRaw and returns seconds. It returns 0 if there is no limit, if the column is missing, or if
// the text cannot be parsed.
func (t *table) limit() core.Time {
	text := t.Text("TimelimitRaw")
	limit, ok := number.MinutesLimit(text)
	if !ok && text != "" && '0' <= text[0] && text[0] <= '9' {
		t.unknown("TimelimitRaw")
	}
	return limit
}

// cpu parses TotalCPU and returns seconds summed over all CPUs. It returns -1 if the field is empty or cannot be
// parsed, because the job must be kept anyway.
func (t *table) cpu() float64 {
	text := t.Text("TotalCPU")
	milliseconds, ok := number.Duration(text)
	if !ok {
		if text != "" {
			t.unknown("TotalCPU")
		}
		return -1
	}
	return float64(milliseconds) / 1000
}

// requested parses ReqNodes. `held` is the number of nodes that the job held. requested returns `held` if sacct
// rounded the number, or if the number cannot be parsed.
func (t *table) requested(held int) int {
	text := t.Text("ReqNodes")
	n, err := number.Count(text)
	if err != nil || n > 1<<31-1 || number.Rounded(text) && held > 0 {
		return held
	}
	return int(max(n, 0))
}
