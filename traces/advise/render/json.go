package render

import (
	"encoding/json"
	"io"

	"accordion/core"
	"accordion/traces/advise"
	"accordion/traces/advise/whatif"
)

// reportJSON is what JSON writes. Areas are in node-seconds, times in seconds.
type reportJSON struct {
	Period  core.Time    `json:"period"`
	Jobs    int          `json:"jobs"`
	Advice  []adviceJSON `json:"advice"`
	Sizes   []sizingJSON `json:"sizes"`
	Silent  silentJSON   `json:"silent"`
	Missing []gapJSON    `json:"missing"`
	LeftOut LeftOut      `json:"left_out"`
	WhatIf  *whatIfJSON  `json:"what_if,omitempty"`
}

type adviceJSON struct {
	User      string         `json:"user"`
	Account   string         `json:"account"`
	Partition string         `json:"partition"`
	Name      string         `json:"name"`
	Requested int            `json:"requested_nodes"`
	Kind      advise.Kind    `json:"kind"`
	Line      string         `json:"line,omitempty"`
	EP        core.EP        `json:"ep,omitempty"`
	Boundary  []boundaryJSON `json:"boundaries,omitempty"`
	Why       string         `json:"why,omitempty"`
	Sequence  string         `json:"sequence,omitempty"`
	Of        int            `json:"of,omitempty"`
	Runs      int            `json:"runs"`
	Checked   int            `json:"checked"`
	OnTime    int            `json:"on_time"`
	Held      int64          `json:"held"`
	Used      int64          `json:"used"`
	Saved     int64          `json:"saved"`
	Monthly   float64        `json:"node_hours_a_month"`
	Latest    string         `json:"latest,omitempty"`
}

type sizingJSON struct {
	User      string     `json:"user"`
	Account   string     `json:"account"`
	Partition string     `json:"partition"`
	Name      string     `json:"name"`
	Line      string     `json:"line"`
	Curve     string     `json:"curve,omitempty"`
	Off       float64    `json:"off"`
	Runs      int        `json:"runs"`
	Checked   int        `json:"checked"`
	OnTime    int        `json:"on_time"`
	Seen      []sizeJSON `json:"seen"`
}

type sizeJSON struct {
	Nodes    int       `json:"nodes"`
	Runs     int       `json:"runs"`
	Median   core.Time `json:"median"`
	Quantile core.Time `json:"quantile"`
	Slower   bool      `json:"slower"`
}

func sizingOf(s *advise.Sizing) sizingJSON {
	out := sizingJSON{User: s.User, Account: s.Account, Partition: s.Partition, Name: s.Name, Line: s.Line, Curve: s.Curve, Off: s.MaxError, Runs: s.Runs, Checked: s.Checked, OnTime: s.OnTime}
	for _, z := range s.Sizes {
		out.Seen = append(out.Seen, sizeJSON{z.Nodes, z.Runs, z.Median, z.Quantile, z.Slower})
	}
	return out
}

type boundaryJSON struct {
	At     core.Time `json:"at"`
	After  string    `json:"after"`
	Before string    `json:"before"`
}

type silentJSON struct {
	Sound        int `json:"use_what_they_hold"`
	Seldom       int `json:"too_seldom"`
	NoSteps      int `json:"without_steps"`
	NotCompleted int `json:"not_completed"`
}

type gapJSON struct {
	From  core.Time `json:"from"`
	Until core.Time `json:"until"`
	Why   string    `json:"why"`
}

func adviceOf(a *advise.Advice, monthly float64) adviceJSON {
	out := adviceJSON{User: a.User, Account: a.Account, Partition: a.Partition, Name: a.Name, Requested: a.Requested, Kind: a.Kind, Line: a.Line, EP: a.EP,
		Why: a.Why, Sequence: a.Sequence, Of: a.Of, Runs: a.Runs, Checked: a.Checked, OnTime: a.OnTime, Held: a.Held, Used: a.Used, Saved: a.Saved, Monthly: monthly, Latest: a.Latest}
	for _, w := range a.Boundaries {
		out.Boundary = append(out.Boundary, boundaryJSON{w.At, w.After, w.Before})
	}
	return out
}

// JSON writes the report, and the what-if study if it is not nil.
func JSON(w io.Writer, report *advise.Report, in *Input, study *whatif.Study) error {
	left := report.NoAdvice
	d := reportJSON{WhatIf: studyJSON(study), Period: report.Period, Jobs: len(in.Runs), Advice: []adviceJSON{}, Sizes: []sizingJSON{}, Missing: []gapJSON{}, LeftOut: in.LeftOut,
		Silent: silentJSON{left.FullyUsed, left.TooFewRuns, left.NoSteps, left.NotCompleted}}
	for i := range report.Advice {
		d.Advice = append(d.Advice, adviceOf(&report.Advice[i], report.Monthly(report.Advice[i].Saved)))
	}
	for i := range report.Sizes {
		d.Sizes = append(d.Sizes, sizingOf(&report.Sizes[i]))
	}
	for _, g := range in.Gaps {
		d.Missing = append(d.Missing, gapJSON{g.From, g.Until, g.Why.Error()})
	}
	return encode(w, d)
}

// encode writes indented JSON. It leaves <, > and & as they are.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
