package sizing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"accordion/core"
)

// File is the content of a statistics file.
type File struct {
	Log  string  // the log that was counted
	Jobs int     // number of jobs in the log
	Days float64 // length of the log
	Statistics
}

// Every file begins with this format and version. Parse refuses any other version.
const (
	format  = "accordion statistics"
	version = 1
)

// written is the JSON form of a File.
type written struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Log     string  `json:"log"`
	Jobs    int     `json:"jobs"`
	Days    float64 `json:"days"`
	Classes []class `json:"classes"`
}

// class is the JSON form of one Class. Arrivals are the mean numbers of jobs in each half hour of a day, from the
// beginning of the day.
type class struct {
	Class    string    `json:"class"`
	Nodes    float64   `json:"mean_nodes"`
	Seconds  float64   `json:"mean_seconds"`
	Arrivals []float64 `json:"arrivals"`
}

// Format returns the text of a file.
func Format(f File) []byte {
	w := written{Format: format, Version: version, Log: f.Log, Jobs: f.Jobs, Days: f.Days}
	for c := range Class(Classes) {
		k := class{Class: c.String(), Nodes: f.Nodes[c], Seconds: f.Seconds[c]}
		for h := range f.Arrivals {
			k.Arrivals = append(k.Arrivals, f.Arrivals[h][c])
		}
		w.Classes = append(w.Classes, k)
	}
	text, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		panic(err) // statistics are finite numbers
	}
	return append(text, '\n')
}

var (
	errEmpty   = errors.New("the file is empty; create one with accordion trace statistics LOG -o FILE")
	errForeign = errors.New("this is not a statistics file; create one with accordion trace statistics LOG -o FILE")
	errNothing = errors.New("these statistics have no arrivals; use a log with jobs")
)

// Parse parses the text of a file. It accepts what Format writes, and only statistics from which a forecast can be
// made.
func Parse(text []byte) (File, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return File{}, errEmpty
	}
	var head struct {
		Format  string
		Version int
	}
	switch err := json.Unmarshal(text, &head); {
	case err != nil && !bytes.Contains(text, []byte(format)):
		return File{}, errForeign
	case err != nil:
		return File{}, fmt.Errorf("the file is damaged: %w; create it again with accordion trace statistics", err)
	case head.Format != format:
		return File{}, errForeign
	case head.Version != version:
		return File{}, fmt.Errorf("version %d of the statistics is not %d; create the file again with accordion trace statistics", head.Version, version)
	}
	var w written
	if err := json.Unmarshal(text, &w); err != nil {
		return File{}, fmt.Errorf("the file is damaged: %w; create it again with accordion trace statistics", err)
	}
	return w.file()
}

// file validates the JSON form and converts it to a File.
func (w *written) file() (File, error) {
	f := File{Log: w.Log, Jobs: w.Jobs, Days: w.Days}
	if len(w.Classes) != Classes {
		return File{}, fmt.Errorf("the file is damaged: %d classes of jobs, not %d", len(w.Classes), Classes)
	}
	some := false
	for i, k := range w.Classes {
		c := Class(i)
		switch {
		case k.Class != c.String():
			return File{}, fmt.Errorf("the file is damaged: class %s where %s should be", core.Shown(k.Class), c)
		case len(k.Arrivals) != HalfHours:
			return File{}, fmt.Errorf("the file is damaged: %s jobs arrive in %d half hours of a day, not in %d", c, len(k.Arrivals), HalfHours)
		case !within(k.Nodes, core.MaxNodes) || !within(k.Seconds, math.MaxInt32):
			return File{}, fmt.Errorf("the file is damaged: %s jobs of %v nodes and %v seconds", c, k.Nodes, k.Seconds)
		}
		f.Nodes[c], f.Seconds[c] = k.Nodes, k.Seconds
		for h, n := range k.Arrivals {
			if !within(n, math.MaxInt32) {
				return File{}, fmt.Errorf("the file is damaged: %v %s jobs arrive in half hour %d", n, c, h)
			}
			f.Arrivals[h][c] = n
			some = some || n > 0
		}
	}
	if !some {
		return File{}, errNothing
	}
	return f, nil
}

func within(v, most float64) bool { return v >= 0 && v <= most }

// Shift returns the statistics for another clock, whose second 0 is `by` seconds after the beginning of a day
// of s. If the half hours of the two clocks do not line up, each half hour gets parts of two half hours.
func Shift(s Statistics, by core.Time) Statistics {
	by = (by%Day + Day) % Day
	from, part := int(by/HalfHour), float64(by%HalfHour)/float64(HalfHour)
	shifted := s
	for h := range s.Arrivals {
		for c := range Classes {
			a, b := s.Arrivals[(h+from)%HalfHours][c], s.Arrivals[(h+from+1)%HalfHours][c]
			shifted.Arrivals[h][c] = (1-part)*a + part*b
		}
	}
	return shifted
}
