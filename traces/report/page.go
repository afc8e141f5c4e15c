package report

import (
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"accordion/charts"
)

//go:embed page
var pageFiles embed.FS

// page has two templates, "head" and "tail". Between them are the packed columns, which no template processes.
var page = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// scripts are the page's scripts, in the order of their dependencies. They also depend on package charts.
var scripts = []string{"data", "time", "series", "raster", "view", "charts", "plots", "real", "gantt", "main"}

// Write writes the report as one HTML page. Names of jobs, policies and notes are escaped. It returns an error before it writes anything if
// the report cannot be shown.
func (r *Report) Write(w io.Writer) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("report %q: %w", r.Title, err)
	}
	shown, err := r.show()
	if err != nil {
		return fmt.Errorf("report %q: %w", r.Title, err)
	}
	p := writer{to: w}
	p.template("head", shown)
	p.column("jobs", packJobs(r.Workload.Jobs))
	for i := range r.Replays {
		replay := &r.Replays[i]
		p.column(fmt.Sprintf("times-%d", i), packTimes(r.Workload.Jobs, replay.Result.Outcomes))
		if replay.Held != nil {
			p.column(fmt.Sprintf("held-%d", i), packHeld(replay.Result.Outcomes, replay.Held))
		}
	}
	p.template("tail", shown)
	if p.err != nil {
		return fmt.Errorf("write the report %q: %w", r.Title, p.err)
	}
	return nil
}

// writer keeps the first error, so that its user checks only once.
type writer struct {
	to  io.Writer
	err error
}

func (w *writer) template(name string, shown any) {
	if w.err == nil {
		w.err = page.ExecuteTemplate(w.to, name, shown)
	}
}

// column writes packed bytes under a name for the page's scripts.
func (w *writer) column(name string, packed []byte) {
	w.text(`<script type="application/octet-stream" id="` + name + `">`)
	if w.err == nil {
		to := base64.NewEncoder(base64.StdEncoding, w.to)
		_, w.err = to.Write(packed)
		if err := to.Close(); w.err == nil {
			w.err = err
		}
	}
	w.text("</script>\n")
}

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

// shown is the input of the templates.
type shown struct {
	Title, Note string
	Style       template.CSS
	Script      template.JS
	Policies    []shownPolicy
	Columns     int // number of columns of the table
	Lead        *lead
	Table       []group
	Notes       []Note
	Facts       facts // input of the page's scripts
	Chart       bool  // the nodes are known for at least one policy
	Real        bool  // the page shows jobs that really ran
}

// shownPolicy is one column of the table.
type shownPolicy struct {
	Name string
	Key  int // index of its color
}

func (r *Report) show() (*shown, error) {
	s := &shown{Title: r.Title, Note: r.Note, Notes: r.Notes, Lead: r.lead(), Table: r.table(), Facts: r.facts(), Columns: len(r.Replays) + 1, Real: r.Real != nil}
	for i := range r.Replays {
		s.Policies = append(s.Policies, shownPolicy{Name: r.Replays[i].Result.Policy, Key: i % len(policyColour)})
		s.Chart = s.Chart || r.Replays[i].Held != nil
	}
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	s.Style = template.CSS(style)
	var code strings.Builder
	code.WriteString("\"use strict\";\n(() => {\n" + charts.Script())
	for _, name := range scripts {
		text, err := pageFiles.ReadFile("page/" + name + ".js")
		if err != nil {
			return nil, err
		}
		code.WriteString(charts.Bare(string(text)))
	}
	code.WriteString("})();\n")
	s.Script = template.JS(code.String())
	return s, nil
}

// facts is what the scripts need in addition to the columns.
type facts struct {
	Begin    *int64   `json:"begin"` // second 0 in Unix seconds, as the site's clock showed it; nil if unknown
	Nodes    int      `json:"nodes"`
	Policies []string `json:"policies"`
	Held     []bool   `json:"held"` // whether each policy has a Gantt chart

	Cumulative []cumulative `json:"cumulative"`
	Classes    []classes    `json:"classes"`
	Real       *Real        `json:"real"`
}

func (r *Report) facts() facts {
	f := facts{Nodes: r.Workload.Machine.Nodes, Real: r.Real}
	f.Cumulative, f.Classes = r.distributions()
	if !r.Begin.IsZero() {
		_, offset := r.Begin.Zone()
		begin := r.Begin.Unix() + int64(offset)
		f.Begin = &begin
	}
	for i := range r.Replays {
		f.Policies = append(f.Policies, r.Replays[i].Result.Policy)
		f.Held = append(f.Held, r.Replays[i].Held != nil)
	}
	return f
}
