package swf

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"accordion/core"
)

// Header is the header of a log, line by line without the semicolon: Computer, MaxProcs, Note and so on, fields of other tools, and remarks.
// It does not contain the profiles of evolving jobs (Log.EPs).
type Header struct{ Lines []string }

// keys are the fields of the format's definition, in lower case.
var keys = map[string]bool{
	"version": true, "computer": true, "installation": true, "acknowledge": true, "information": true, "conversion": true, "maxjobs": true,
	"maxrecords": true, "preemption": true, "unixstarttime": true, "timezone": true, "timezonestring": true, "starttime": true, "endtime": true,
	"maxnodes": true, "maxprocs": true, "maxruntime": true, "maxmemory": true, "allowoveruse": true, "maxqueues": true, "queues": true,
	"queue": true, "maxpartitions": true, "partitions": true, "partition": true, "note": true,
}

// field splits a line into indentation, key and value.
func field(line string) (indent, key, value string, ok bool) {
	text := strings.TrimLeft(line, " \t;")
	indent = line[:len(line)-len(text)]
	key, value, ok = strings.Cut(text, ":")
	key = strings.TrimRight(key, " \t")
	if !ok || key == "" || strings.HasPrefix(value, "//") {
		return indent, "", "", false
	}
	return indent, key, strings.Trim(value, " \t"), true
}

// lineKind is the kind of a header line.
type lineKind int

const (
	remark    lineKind = iota // neither a field nor a continuation
	newField                  // a key and its value
	continued                 // continuation of the value above
)

// layout distinguishes fields from continuations. A line continues the field above if it is indented further than the header's first field,
// and does not begin with a key of the format.
type layout struct {
	begun  bool
	indent string // indentation of the first field
}

func (l *layout) classify(line string) (kind lineKind, key, value string) {
	indent, key, value, ok := field(line)
	if strings.Trim(line, " \t;") == "" {
		return remark, "", ""
	}
	if ok && !l.begun {
		l.begun, l.indent = true, indent
	}
	plain := len(indent) == 0 || indent == " " || strings.HasPrefix(l.indent, indent)
	switch {
	case ok && (plain || keys[strings.ToLower(key)]):
		return newField, key, value
	case plain:
		return remark, "", ""
	}
	return continued, "", strings.Trim(line, " \t")
}

// All returns every value of a field, such as "Note" or "Queue", in the order of the log. Upper and lower case are equal. A value in several
// lines is joined with spaces.
func (h *Header) All(key string) []string {
	var all []string
	var l layout
	inside := false
	for _, line := range h.Lines {
		switch kind, k, value := l.classify(line); {
		case kind == newField:
			if inside = strings.EqualFold(k, key); inside {
				all = append(all, value)
			}
		case kind == remark:
			inside = false
		case inside:
			all[len(all)-1] = strings.TrimLeft(all[len(all)-1]+" "+value, " ")
		}
	}
	return all
}

// Get returns the first value of a field. ok is false if the log has none.
func (h *Header) Get(key string) (value string, ok bool) {
	all := h.All(key)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// Number returns the first value of a field that is a whole number of 0 or more. It reads "1,024" and "1.024e3" as 1024, and "338 (batch
// partition; 512 total)" as 338. ok is false if there is no such value, or if the value is -1.
func (h *Header) Number(key string) (n int64, ok bool) {
	for _, value := range h.All(key) {
		if n, ok := wholeNumber(value); ok {
			return n, true
		}
	}
	return 0, false
}

// grouped matches a number whose digits are in groups of three. plainNumber matches a number without groups.
// sum matches what follows a number if both together may mean another number: in "1 024" it matches "024", and
// in "2 * 512" it matches "* 512".
var (
	grouped     = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$|^[0-9]{1,3}('[0-9]{3})+$|^[0-9]{1,3}(_[0-9]{3})+$`)
	sum         = regexp.MustCompile(`^[*×+/x-]?[ \t]*[0-9]`)
	plainNumber = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE]\+?[0-9]{1,3})?$`)
)

// wholeNumber parses the number at the beginning of a value. It ignores text after the number. But if another
// number follows, ok is false, because "1 024" may be one number or two.
func wholeNumber(value string) (n int64, ok bool) {
	text, rest := value, ""
	if end := strings.IndexAny(value, " \t(;"); end >= 0 {
		text, rest = value[:end], strings.TrimLeft(value[end:], " \t")
	}
	if sum.MatchString(rest) {
		return 0, false
	}
	text = strings.TrimRight(text, ",.")
	if grouped.MatchString(text) {
		text = strings.NewReplacer(",", "", "'", "", "_", "").Replace(text)
	}
	if !plainNumber.MatchString(text) {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || f > MaxValue {
		return 0, false
	}
	return int64(f), true
}

// Machine returns the size of the machine in processors: MaxProcs, otherwise MaxNodes. ok is false if the header has no size, or an unreadable
// size.
func (h *Header) Machine() (processors int, ok bool) {
	n, err := h.MachineSize()
	return n, err == nil && n > 0
}

// A SizeError is the error for a header line with an unreadable machine size.
type SizeError struct{ Line string }

// Error returns one line.
func (e *SizeError) Error() string {
	return fmt.Sprintf("read the header's size of the machine: %s is no whole number of processors; write MaxProcs: 1024, or give --nodes 1024", core.Shown(e.Line))
}

// sizeLine matches a header line that seems to have the size of the machine, in any form.
var sizeLine = regexp.MustCompile(`(?i)^[^a-z0-9]*max[ _-]?(procs|processors|nodes)[^a-z]*[0-9]`)

// MachineSize returns the same as Machine, or 0 if the header has no size. It returns a *SizeError if a size is unreadable. A value without
// digits and a negative number are no size.
func (h *Header) MachineSize() (processors int, err error) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		for _, value := range h.All(key) {
			if strings.HasPrefix(value, "-") || !strings.ContainsAny(value, "0123456789") {
				continue
			}
			n, ok := wholeNumber(value)
			if !ok || n > math.MaxInt32 {
				return 0, &SizeError{key + ": " + value}
			}
			if n > 0 {
				return int(n), nil
			}
		}
	}
	for _, line := range h.Lines {
		if _, _, _, ok := field(line); !ok && sizeLine.MatchString(line) {
			return 0, &SizeError{strings.Trim(line, " \t")}
		}
	}
	return 0, nil
}

// UnixStart returns second 0 of the log in Unix time. ok is false if the log does not have it.
func (h *Header) UnixStart() (seconds int64, ok bool) { return h.Number("UnixStartTime") }

// Location returns the time zone of the site: TimeZoneString, otherwise the offset or name in TimeZone, otherwise UTC.
func (h *Header) Location() *time.Location {
	name, _ := h.Get("TimeZoneString")
	if zone := zoneNamed(name); zone != nil {
		return zone
	}
	text, _ := h.Get("TimeZone")
	if offset, err := strconv.Atoi(text); err == nil && -86400 < offset && offset < 86400 {
		return time.FixedZone("", offset)
	}
	if zone := zoneNamed(text); zone != nil {
		return zone
	}
	return time.UTC
}

// ParseDate parses a date in the site's time zone, such as 2006-12-18 or 2006-12-18T12:00, and returns it as a second of the log. `known` is false if
// the header does not have the log's start. isDate is false if the text is no date.
func (h *Header) ParseDate(text string) (second core.Time, known, isDate bool) {
	for _, form := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.ParseInLocation(form, text, h.Location()); err == nil {
			begin, known := h.UnixStart()
			return at.Unix() - begin, known, true
		}
	}
	return 0, false, false
}

// zoneNamed returns the time zone with a name, or nil.
func zoneNamed(name string) *time.Location {
	if name == "" || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// Set sets a field to one value. It replaces the first such field with its continuations, and removes other fields of this name. A new field
// is added at the end.
func (h *Header) Set(key, value string) {
	written := false
	dropping := false
	var l layout
	kept := h.Lines[:0:0]
	for _, line := range h.Lines {
		kind, k, _ := l.classify(line)
		if kind == continued && dropping {
			continue
		}
		if dropping = kind == newField && strings.EqualFold(k, key); !dropping {
			kept = append(kept, line)
		} else if !written {
			written = true
			kept = append(kept, " "+key+": "+value)
		}
	}
	h.Lines = kept
	if !written {
		h.Add(key, value)
	}
}

// Add adds a field at the end. It keeps other fields of the same name.
func (h *Header) Add(key, value string) { h.Lines = append(h.Lines, " "+key+": "+value) }
