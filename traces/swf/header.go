package swf

import (
	"strconv"
	"strings"
	"time"
)

// Header is what a log says of itself, line by line as it was read, without the semicolon: Computer, MaxProcs, Note and so
// on, fields of other tools, and plain remarks. Lines that give profiles of evolving jobs are not among them (Log.EPs).
type Header struct{ Lines []string }

// field splits a line into key and value. Lines that continue the one before them are indented by more than a space.
func field(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(strings.TrimPrefix(line, " "), ":")
	if !ok || key == "" || key[0] == ' ' || key[0] == '\t' || strings.HasPrefix(value, "//") {
		return "", "", false
	}
	return strings.TrimRight(key, " \t"), strings.Trim(value, " \t"), true
}

// All is every value of a field, such as "Note" or "Queue", in the order of the log. Case is no matter. A value that goes on
// in further lines has these joined by spaces.
func (h *Header) All(key string) []string {
	var all []string
	inside := false
	for _, line := range h.Lines {
		k, value, ok := field(line)
		switch more := strings.Trim(line, " \t"); {
		case ok:
			if inside = strings.EqualFold(k, key); inside {
				all = append(all, value)
			}
		case more == "" || !continues(line):
			inside = false
		case inside:
			all[len(all)-1] = strings.TrimLeft(all[len(all)-1]+" "+more, " ")
		}
	}
	return all
}

// continues says whether a line that is no field belongs to the one above: it is indented.
func continues(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "  ") || strings.HasPrefix(line, " \t")
}

// Get is the first value of a field; ok is false where the log has none.
func (h *Header) Get(key string) (value string, ok bool) {
	all := h.All(key)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// Number is the whole number at the beginning of a field's first value that has one of 0 or more: 338 of "338 (batch partition;
// 512 total)". ok is false where the log does not say, or says −1.
func (h *Header) Number(key string) (n int64, ok bool) {
	for _, value := range h.All(key) {
		end := 0
		for end < len(value) && '0' <= value[end] && value[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(value[:end], 10, 64); err == nil && n <= MaxValue {
			return n, true
		}
	}
	return 0, false
}

// Machine is the size of the machine in processors: MaxProcs, else MaxNodes. ok is false where the log does not say.
func (h *Header) Machine() (processors int, ok bool) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		if n, ok := h.Number(key); ok && n > 0 && n <= 1<<31-1 {
			return int(n), true
		}
	}
	return 0, false
}

// UnixStart is second 0 of the log in Unix time; ok is false where the log does not say.
func (h *Header) UnixStart() (seconds int64, ok bool) { return h.Number("UnixStartTime") }

// Location is the time zone of the site: that of TimeZoneString, else the offset that TimeZone gives, else UTC.
func (h *Header) Location() *time.Location {
	if name, ok := h.Get("TimeZoneString"); ok && name != "" && name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone
		}
	}
	if text, ok := h.Get("TimeZone"); ok {
		if offset, err := strconv.Atoi(text); err == nil && -86400 < offset && offset < 86400 {
			return time.FixedZone("", offset)
		}
	}
	return time.UTC
}

// Set gives a field one value: it takes the place of the first such field and of the lines that continue it, and other
// fields of this name go; a field that the log does not have is added at the end.
func (h *Header) Set(key, value string) {
	written := false
	dropping := false
	kept := h.Lines[:0:0]
	for _, line := range h.Lines {
		k, _, ok := field(line)
		if !ok && dropping && continues(line) && strings.Trim(line, " \t") != "" {
			continue
		}
		if dropping = ok && strings.EqualFold(k, key); !dropping {
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

// Add adds a field at the end, beside those of the same name.
func (h *Header) Add(key, value string) { h.Lines = append(h.Lines, " "+key+": "+value) }
