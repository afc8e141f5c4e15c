package report

import (
	"errors"
	"fmt"
	"time"

	"accordion/traces/replay"
	"accordion/traces/workload"
)

// Report is the content of a page: a workload, replayed under one policy or several. The others are compared with the first one.
type Report struct {
	Title    string
	Note     string    // one line under the title: what was replayed, and how
	Begin    time.Time // second 0 of the workload, in the site's time zone; zero if unknown: the page then counts days
	Workload workload.Workload
	Replays  []Replay
	Table    []Row
	Notes    []Note // for the reader: what was left out and why, the command, the seed
	Real     *Real  // names and promises of jobs that really ran; nil for replays
}

// Real is what is known about jobs that really ran, but not about replays.
type Real struct {
	Nodes []string `json:"nodes"` // names of the rows, from the top
	Users []string `json:"users"` // names, indexed by Job.User
	Jobs  []About  `json:"jobs"`  // one per job of the workload
}

// About is the names of one job, and what it was promised.
type About struct {
	Name     string    `json:"name"`
	Request  string    `json:"request"` // as its user wrote it: ep=2x20s,5x20s
	Outcome  string    `json:"outcome"` // how it ended, in the batch system's words
	Promises []Promise `json:"promises"`
}

// Promise is a promised start or growth, and when it happened, in seconds of the workload.
type Promise struct {
	At   float64  `json:"at"`
	Came *float64 `json:"came"` // nil if it never happened
	Row  int32    `json:"row"`  // row where it happened
	From int      `json:"from"` // nodes before the growth; 0 for the start
	To   int      `json:"to"`
}

// Replay is the replay under one policy.
type Replay struct {
	Result replay.Result
	// Held has the nodes that each job of the workload held: its stretches in order, the first from its start, the last to its end. It is
	// empty for a job that never began. If Held is nil, the nodes are unknown and there is no Gantt chart.
	Held [][]replay.Stretch
}

// Row is one metric in the table.
type Row struct {
	Group  string // heading of neighboring rows: "Waiting", "Machine"
	Name   string // in words: "Mean wait"
	About  string // how it is computed
	Unit   Unit
	Better Better
	Values []float64 // one per replay; NaN if there is none
}

// Unit is the format of a row's values.
type Unit uint8

// The units.
const (
	Number      Unit = iota // with three significant digits: 92.6
	Count                   // whole number
	Seconds                 // length of time: 1 h 54 min
	Share                   // from 0 to 1, written as 87.3 %
	NodeSeconds             // written as node-hours
	Instant                 // second of the workload: a date, or a day
)

// Better is the direction in which a row's values are better.
type Better uint8

// The directions.
const (
	Neither Better = iota // neither good nor bad
	Lower
	Higher
)

// Note is a fact for the reader, with its name.
type Note struct{ Name, Text string }

// check returns why the report cannot be shown, or nil.
func (r *Report) check() error {
	if len(r.Replays) == 0 {
		return errors.New("a report needs at least one replay")
	}
	if r.Workload.Machine.Nodes < 1 {
		return fmt.Errorf("a machine of %d nodes has none to draw", r.Workload.Machine.Nodes)
	}
	if r.Real != nil && (len(r.Real.Nodes) != r.Workload.Machine.Nodes || len(r.Real.Jobs) != len(r.Workload.Jobs)) {
		return fmt.Errorf("names of %d nodes and %d jobs for %d and %d", len(r.Real.Nodes), len(r.Real.Jobs), r.Workload.Machine.Nodes, len(r.Workload.Jobs))
	}
	for i := range r.Replays {
		if err := r.checkReplay(&r.Replays[i]); err != nil {
			return fmt.Errorf("replay %d, %q: %w", i+1, r.Replays[i].Result.Policy, err)
		}
	}
	for _, row := range r.Table {
		if len(row.Values) != len(r.Replays) {
			return fmt.Errorf("row %q has %d values for %d replays", row.Name, len(row.Values), len(r.Replays))
		}
	}
	return nil
}

func (r *Report) checkReplay(p *Replay) error {
	jobs := r.Workload.Jobs
	if len(p.Result.Outcomes) != len(jobs) {
		return fmt.Errorf("%d outcomes for %d jobs", len(p.Result.Outcomes), len(jobs))
	}
	if p.Held != nil && len(p.Held) != len(jobs) {
		return fmt.Errorf("held nodes of %d jobs for %d jobs", len(p.Held), len(jobs))
	}
	for i := range jobs {
		o := &p.Result.Outcomes[i]
		if o.Start >= 0 && o.End < o.Start {
			return fmt.Errorf("job %d begins at second %d and ends before, at %d", jobs[i].Number, o.Start, o.End)
		}
		if p.Held == nil {
			continue
		}
		if err := checkHeld(p.Held[i], *o, r.Workload.Machine.Nodes); err != nil {
			return fmt.Errorf("job %d: %w", jobs[i].Number, err)
		}
	}
	return nil
}

func checkHeld(stretches []replay.Stretch, o replay.Outcome, nodes int) error {
	if len(stretches) > 0 && o.Start < 0 {
		return errors.New("it holds nodes and never began")
	}
	before := o.Start
	for _, s := range stretches {
		if s.From < before || s.To < s.From || s.To > o.End {
			return fmt.Errorf("a stretch from second %d to %d is out of order, or not within %d to %d", s.From, s.To, o.Start, o.End)
		}
		before = s.To
		next := int32(0)
		for _, n := range s.Nodes {
			if n.First < next || n.Last < n.First || int(n.Last) >= nodes {
				return fmt.Errorf("nodes %d to %d from second %d are no ascending span of %d nodes", n.First, n.Last, s.From, nodes)
			}
			next = n.Last + 1
		}
	}
	return nil
}
