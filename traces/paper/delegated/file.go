package delegated

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"accordion/core"
	"accordion/traces/input"
)

// MaxJobs is the largest number of jobs in a file.
const MaxJobs = 100_000

// header is the first line of a jobs file.
const header = "kind,arrive,factor,d1,P,nmin,nmax,W,iterations,delay"

// maxLine is the longest line of a jobs file, in bytes.
const maxLine = 1 << 16

// LineError describes a wrong line of a jobs file.
type LineError struct {
	File string
	Line int // line number; the first line is 1
	What string
	Want string // the correct form
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.What, e.Want)
}

// Read parses a jobs file. `name` is for messages. Errors are *LineError, or errors of in.
func Read(in io.Reader, name string) ([]Job, error) {
	r, err := read(in, name)
	return r.jobs, err
}

// ReadLine parses one line of a jobs file, counted from 1. It returns the same errors as Read.
func ReadLine(in io.Reader, name string, line int) (Job, error) {
	r, err := read(in, name)
	if err != nil {
		return Job{}, err
	}
	for i, l := range r.lines {
		if l == line {
			return r.jobs[i], nil
		}
	}
	return Job{}, &LineError{name, line, "there is no job in this line", fmt.Sprintf("jobs are in lines %d to %d", r.lines[0], r.lines[len(r.lines)-1])}
}

func read(in io.Reader, name string) (reader, error) {
	r := reader{name: name}
	opened, err := input.Open(in, name)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	lines := bufio.NewScanner(opened)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		r.line++
		text := lines.Text()
		switch {
		case !utf8.ValidString(text):
			return reader{}, r.wrong("bytes that are no text", "write the file in UTF-8")
		case strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#"):
			continue
		case !r.begun && text != header:
			return reader{}, r.wrong(fmt.Sprintf("the first line is %.80q", text), "it must be "+header)
		case !r.begun:
			r.begun = true
			continue
		case len(r.jobs) == MaxJobs:
			return reader{}, r.wrong("one job too many", fmt.Sprintf("a file has at most %d", MaxJobs))
		}
		job, err := r.job(text)
		if err != nil {
			return reader{}, err
		}
		r.jobs, r.lines = append(r.jobs, job), append(r.lines, r.line)
	}
	r.line++
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return reader{}, r.wrong("a line without end", fmt.Sprintf("a line has less than %d bytes", maxLine))
	case err != nil:
		return reader{}, fmt.Errorf("reading %s: %w", name, err)
	case !r.begun:
		return reader{}, r.wrong("the file ends", "its first line must be "+header)
	case len(r.jobs) == 0:
		return reader{}, r.wrong("the file ends", "there must be at least one job")
	}
	return r, nil
}

// reader parses a file.
type reader struct {
	name   string
	line   int
	begun  bool
	jobs   []Job
	lines  []int // line numbers of the jobs
	fields []string
	err    error // the first error in the line
}

func (r *reader) wrong(what, want string) error { return &LineError{r.name, r.line, what, want} }

// job parses a line.
func (r *reader) job(text string) (Job, error) {
	r.fields, r.err = strings.Split(text, ","), nil
	if len(r.fields) != strings.Count(header, ",")+1 {
		return Job{}, r.wrong(fmt.Sprintf("%d fields", len(r.fields)), "there must be 10: "+header)
	}
	var j Job
	switch r.fields[0] {
	case "rigid":
		j.Kind = Rigid
	case "moldable":
		j.Kind = Moldable
	case "cem":
		j.Kind = CEM
	default:
		return j, r.wrong(fmt.Sprintf("the kind is %.40q", r.fields[0]), "it must be rigid, moldable or cem")
	}
	j.Arrive = r.whole(1, 0, int64(core.MaxTotal), "seconds")
	j.Factor = r.number(2, "at least 1", func(x float64) bool { return x >= 1 })
	j.Delay = r.whole(9, 0, int64(core.MaxTotal), "seconds")
	if j.Kind == CEM {
		for _, i := range []int{3, 4, 5, 6} {
			r.number(i, "0 for cem", func(x float64) bool { return x == 0 })
		}
		j.W = r.number(7, "host-seconds above 0", func(x float64) bool { return x > 0 })
		j.Iterations = r.number(8, "at least 0", func(x float64) bool { return x >= 0 })
	} else {
		r.single(&j)
	}
	if n := len(r.jobs); n > 0 && r.err == nil && j.Arrive < r.jobs[n-1].Arrive {
		r.err = r.wrong(fmt.Sprintf("it arrives at second %d, the job before it at %d", j.Arrive, r.jobs[n-1].Arrive), "write the jobs in the order of their arrivals")
	}
	if longest := j.longest(); r.err == nil && !(longest <= float64(core.MaxTotal)) {
		r.err = r.wrong(fmt.Sprintf("the walltime may become %.3g s", longest), fmt.Sprintf("it must be at most %d s", core.MaxTotal))
	}
	return j, r.err
}

// single parses the fields of rigid and moldable jobs.
func (r *reader) single(j *Job) {
	j.D1 = r.number(3, "seconds above 0", func(x float64) bool { return x > 0 })
	j.P = r.number(4, "a share from 0 to 1", func(x float64) bool { return x >= 0 && x <= 1 })
	j.Least = int(r.whole(5, 1, Hosts, "hosts"))
	j.Most = int(r.whole(6, 1, Hosts, "hosts"))
	for _, i := range []int{7, 8} {
		r.number(i, "0 for all but cem", func(x float64) bool { return x == 0 })
	}
	switch {
	case r.err != nil:
	case j.Least > j.Most:
		r.err = r.wrong(fmt.Sprintf("nmin is %d and nmax %d", j.Least, j.Most), "nmin must not be more than nmax")
	case j.Kind == Rigid && (j.P != 1 || j.Least != j.Most):
		r.err = r.wrong("a rigid job with other sizes than one", "P must be 1, and nmin and nmax the same")
	}
}

// field returns a field's name.
func field(i int) string { return strings.Split(header, ",")[i] }

// number parses a field that must be a number. The function `right` reports whether the number is allowed.
func (r *reader) number(i int, want string, right func(float64) bool) float64 {
	x, err := strconv.ParseFloat(r.fields[i], 64)
	if r.err == nil && (err != nil || math.IsInf(x, 0) || !right(x)) {
		r.err = r.wrong(fmt.Sprintf("%s is %.40q", field(i), r.fields[i]), "it must be "+want)
	}
	return x
}

// whole parses a field that is a whole number.
func (r *reader) whole(i int, least, most int64, unit string) int64 {
	x, err := strconv.ParseInt(r.fields[i], 10, 64)
	if r.err == nil && (err != nil || x < least || x > most) {
		r.err = r.wrong(fmt.Sprintf("%s is %.40q", field(i), r.fields[i]), fmt.Sprintf("it must be whole %s from %d to %d", unit, least, most))
	}
	return x
}

// Write writes a jobs file. Read returns the same jobs.
func Write(out io.Writer, jobs []Job) error {
	b := bufio.NewWriter(out)
	fmt.Fprintln(b, header)
	for _, j := range jobs {
		fmt.Fprintf(b, "%s,%d,%.17g,%.17g,%.17g,%d,%d,%.17g,%.17g,%d\n", j.Kind, j.Arrive, j.Factor, j.D1, j.P, j.Least, j.Most, j.W, j.Iterations, j.Delay)
	}
	return b.Flush()
}
