package sacct

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"accordion/core"
	"accordion/slurm/number"
)

// Columns are what Workload wants to know of a job. The name is last: it may contain the separator.
const Columns = wanted + ",JobName"

const wanted = "JobIDRaw,Submit,Start,End,State,ReqCPUS,AllocCPUS,TimelimitRaw,TotalCPU,User,Account,QOS,Partition"

// Command prints the accounting as Workload reads it best; what it prints about steps is left out. NNodes says how many
// processors a job began with that was resized by Slurm 20.11.
const Command = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --starttime=2026-01-01 --format=" + wanted + ",NNodes,JobName"

// An InputError says where the accounting is not as sacct prints it.
type InputError struct {
	File   string
	Line   int    // from 1
	Column string // "" for the whole line
	Why    string
}

// Error is one line: file:line, the column, what is wrong.
func (e *InputError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Column, e.Why)
}

// table reads `sacct --parsable2`: a line of names, then a line a row.
type table struct {
	file    string
	lines   *bufio.Scanner
	line    int
	names   []string
	places  map[string]int
	fields  []string // of the current row
	problem error
}

// openTable reads the names, and checks that all of Columns are among them.
func openTable(in io.Reader, file string) (*table, error) {
	return openColumns(in, file, Columns, Command)
}

// openColumns does the same for other columns, and the command that prints them.
func openColumns(in io.Reader, file, columns, command string) (*table, error) {
	t := &table{file: file, lines: bufio.NewScanner(in), places: map[string]int{}}
	t.lines.Buffer(nil, MaxLine)
	if !t.scan() {
		return nil, t.ended(&InputError{File: file, Line: 1, Why: "nothing; want what this prints: " + command})
	}
	t.names = strings.Split(t.lines.Text(), "|")
	for i, name := range t.names {
		t.places[name] = i
	}
	for name := range strings.SplitSeq(columns, ",") {
		if _, ok := t.places[name]; !ok {
			return nil, &InputError{File: file, Line: t.line, Why: fmt.Sprintf("no column %s in %s; want what this prints: %s", name, core.Shown(t.lines.Text()), command)}
		}
	}
	return t, nil
}

// scan goes to the next line that is not blank.
func (t *table) scan() bool {
	for t.lines.Scan() {
		t.line++
		if strings.TrimSpace(t.lines.Text()) != "" {
			return true
		}
	}
	return false
}

// ended is what reading failed with, or else what is to be said at the end.
func (t *table) ended(otherwise error) error {
	if err := t.lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", t.file, t.line+1, err)
	}
	return otherwise
}

// next goes to the next row; false at the end, or when something is wrong (t.problem).
func (t *table) next() bool {
	if t.problem != nil || !t.scan() {
		t.problem = t.ended(t.problem)
		return false
	}
	n := len(t.names)
	t.fields = t.fields[:0]
	for field := range strings.SplitSeq(strings.TrimSuffix(t.lines.Text(), "\r"), "|") {
		t.fields = append(t.fields, field)
	}
	if len(t.fields) > n && t.names[n-1] == "JobName" {
		t.fields = append(t.fields[:n-1:n-1], strings.Join(t.fields[n-1:], "|"))
	}
	if len(t.fields) != n {
		t.wrong("", fmt.Sprintf("%d fields, and %d names above; a name of a job may have a | in it: ask for JobName last", len(t.fields), n))
		return false
	}
	return true
}

func (t *table) text(column string) string { return t.fields[t.places[column]] }

// wrong keeps the first problem.
func (t *table) wrong(column, why string) {
	if t.problem == nil {
		t.problem = &InputError{File: t.file, Line: t.line, Column: column, Why: why}
	}
}

// number reads a count; an empty field is 0, and so is one of a column that is not there.
func (t *table) number(column string) int64 {
	if _, ok := t.places[column]; !ok || t.text(column) == "" {
		return 0
	}
	text := t.text(column)
	n, err := number.Count(text)
	if err != nil || n > 1<<31-1 {
		t.wrong(column, core.Shown(text)+" is no number from 0 to 2147483647")
	}
	return max(n, 0)
}

// time reads a time as SLURM_TIME_FORMAT=%s prints it, or as Slurm does by itself, which then is the zone's; 0: unknown.
func (t *table) time(column string, zone *time.Location) core.Time {
	const year10000 = 253402300800
	text := t.text(column)
	if at, err := parseTime(text); err == nil && at < year10000 {
		return at
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	if err != nil || at.Unix() < 0 {
		t.wrong(column, core.Shown(text)+" is no time; want Unix seconds (SLURM_TIME_FORMAT=%s), or 2026-01-31T12:00:00")
		return 0
	}
	return at.Unix()
}

// limit reads TimelimitRaw, in seconds. It returns 0 where there is none, where it cannot be read, and without such a column.
func (t *table) limit() core.Time {
	if _, ok := t.places["TimelimitRaw"]; !ok {
		return 0
	}
	limit, _ := number.MinutesLimit(t.text("TimelimitRaw"))
	return limit
}

// cpu reads TotalCPU, in seconds of all processors. It returns -1 where it is empty or cannot be read: a statistic costs no job.
func (t *table) cpu() float64 {
	milliseconds, ok := number.Duration(t.text("TotalCPU"))
	if !ok {
		return -1
	}
	return float64(milliseconds) / 1000
}

// requested reads ReqNodes of a job that held some nodes. Where sacct rounded the number, or it cannot be read, it is taken for those.
func (t *table) requested(held int) int {
	text := t.text("ReqNodes")
	n, err := number.Count(text)
	if err != nil || n > 1<<31-1 || number.Rounded(text) && held > 0 {
		return held
	}
	return int(max(n, 0))
}
