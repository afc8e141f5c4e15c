package advise

import (
	"encoding/json"
	"io"

	"accordion/core"
	"accordion/traces/advise"
)

// document is what --json writes. Areas are node-seconds, times seconds.
type document struct {
	Period  core.Time `json:"period"`
	Jobs    int       `json:"jobs"`
	Advice  []advice  `json:"advice"`
	Sizes   []sizing  `json:"sizes"`
	Silent  silent    `json:"silent"`
	Missing []gap     `json:"missing"`
	LeftOut leftOut   `json:"left_out"`
	WhatIf  *whatIf   `json:"what_if,omitempty"`
}

type advice struct {
	User      string      `json:"user"`
	Account   string      `json:"account"`
	Partition string      `json:"partition"`
	Name      string      `json:"name"`
	Requested int         `json:"requested_nodes"`
	Kind      advise.Kind `json:"kind"`
	Line      string      `json:"line,omitempty"`
	EP        core.EP     `json:"ep,omitempty"`
	Boundary  []boundary  `json:"boundaries,omitempty"`
	Why       string      `json:"why,omitempty"`
	Sequence  string      `json:"sequence,omitempty"`
	Of        int         `json:"of,omitempty"`
	Runs      int         `json:"runs"`
	Checked   int         `json:"checked"`
	OnTime    int         `json:"on_time"`
	Held      int64       `json:"held"`
	Used      int64       `json:"used"`
	Saved     int64       `json:"saved"`
	Monthly   float64     `json:"node_hours_a_month"`
	Latest    string      `json:"latest,omitempty"`
}

type sizing struct {
	User      string  `json:"user"`
	Account   string  `json:"account"`
	Partition string  `json:"partition"`
	Name      string  `json:"name"`
	Line      string  `json:"line"`
	Curve     string  `json:"curve,omitempty"`
	Off       float64 `json:"off"`
	Runs      int     `json:"runs"`
	Checked   int     `json:"checked"`
	OnTime    int     `json:"on_time"`
	Seen      []size  `json:"seen"`
}

type size struct {
	Nodes  int       `json:"nodes"`
	Runs   int       `json:"runs"`
	Median core.Time `json:"median"`
	Mostly core.Time `json:"quantile"`
	Slower bool      `json:"slower"`
}

func sizingOf(s *advise.Sizing) sizing {
	out := sizing{User: s.User, Account: s.Account, Partition: s.Partition, Name: s.Name, Line: s.Line, Curve: s.Curve, Off: s.Off, Runs: s.Runs, Checked: s.Checked, OnTime: s.OnTime}
	for _, z := range s.Sizes {
		out.Seen = append(out.Seen, size{z.Nodes, z.Runs, z.Median, z.Mostly, z.Slower})
	}
	return out
}

type boundary struct {
	At     core.Time `json:"at"`
	After  string    `json:"after"`
	Before string    `json:"before"`
}

type silent struct {
	Sound        int `json:"use_what_they_hold"`
	Seldom       int `json:"too_seldom"`
	NoSteps      int `json:"without_steps"`
	NotCompleted int `json:"not_completed"`
}

type gap struct {
	From  core.Time `json:"from"`
	Until core.Time `json:"until"`
	Why   string    `json:"why"`
}

type leftOut struct {
	Unfinished int  `json:"unfinished"`
	NeverBegan int  `json:"never_began"`
	Resized    int  `json:"resized"`
	Companions int  `json:"companions"`
	Hetero     int  `json:"heterogeneous"`
	Broken     int  `json:"broken"`
	Lines      int  `json:"unreadable_lines"`
	Cut        bool `json:"cut"`
	Values     int  `json:"unreadable_values"`
	Doubled    int  `json:"doubled_times"`
}

func adviceOf(a *advise.Advice, monthly float64) advice {
	out := advice{User: a.User, Account: a.Account, Partition: a.Partition, Name: a.Name, Requested: a.Requested, Kind: a.Kind, Line: a.Line, EP: a.EP,
		Why: a.Why, Sequence: a.Sequence, Of: a.Of, Runs: a.Runs, Checked: a.Checked, OnTime: a.OnTime, Held: a.Held, Used: a.Used, Saved: a.Saved, Monthly: monthly, Latest: a.Latest}
	for _, w := range a.Where {
		out.Boundary = append(out.Boundary, boundary{w.At, w.After, w.Before})
	}
	return out
}

func writeJSON(w io.Writer, report *advise.Report, h *heard, s *supposed) error {
	d := document{WhatIf: s.json(), Period: report.Period, Jobs: len(h.runs), Advice: []advice{}, Sizes: []sizing{}, Missing: []gap{}, Silent: silent{report.Left.Sound, report.Left.Seldom, report.Left.NoSteps, report.Left.NotCompleted},
		LeftOut: leftOut{h.left.Unfinished, h.left.NeverBegan, h.left.Resized, h.left.Companions, h.left.Hetero, h.left.Broken, h.left.Lines.Count, h.left.Cut, h.left.Values.Count, h.left.Doubled.Count}}
	for i := range report.Advice {
		d.Advice = append(d.Advice, adviceOf(&report.Advice[i], report.Monthly(report.Advice[i].Saved)))
	}
	for i := range report.Sizes {
		d.Sizes = append(d.Sizes, sizingOf(&report.Sizes[i]))
	}
	for _, g := range h.gaps {
		d.Missing = append(d.Missing, gap{g.From, g.Until, g.Why.Error()})
	}
	return encode(w, d)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
