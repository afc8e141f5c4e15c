package render

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"accordion/traces/advise"
	"accordion/traces/advise/whatif"
)

// Limits of what a page shows.
const (
	mostDrawn = 16  // groups with a drawing
	mostAlone = 4   // drawings of groups that are left alone
	mostRuns  = 60  // runs in a drawing, the latest ones
	mostRows  = 200 // rows of a table
)

// Page is the content of a page.
type Page struct {
	Title   string
	Note    string // one line under the title: number of jobs, and their period
	Report  *advise.Report
	Runs    []advise.Run   // the runs of Report
	Options advise.Options // the options of Report
	WhatIf  *WhatIf        // nil unless a what-if was requested
	Missing []string       // sentences about missing input
	Notes   []Note         // how the page was made
}

// Note is a fact for the reader, with its name.
type Note struct{ Name, Text string }

// NewPage returns the page of a report. `from` is the source of the jobs: the name of a file, or "sacct". `user` is the only user whose jobs
// were read, or "". `study` is nil unless a what-if was requested.
func NewPage(report *advise.Report, in *Input, o advise.Options, from, user string, study *whatif.Study) *Page {
	p := &Page{Title: "Who would gain here?", Note: period(report, in), Report: report, Runs: in.Runs, Options: o}
	if user != "" {
		p.Title = "What would " + user + " gain?"
	}
	if study != nil {
		p.WhatIf = words(study)
	}
	for _, g := range in.Gaps {
		p.Missing = append(p.Missing, strings.Replace(g.String(), "nothing", "Nothing", 1)+".")
	}
	for _, text := range in.LeftOutText {
		p.Missing = append(p.Missing, "Left out: "+text+".")
	}
	for _, line := range in.Warnings {
		p.Missing = append(p.Missing, line+".")
	}
	if in.LeftOut.Cut {
		p.Missing = append(p.Missing, "The accounting ends within a line; what it was about is left out.")
	}
	if in.Source.isLog() {
		p.Missing = append(p.Missing, logLimits(in.Source))
	}
	p.Notes = []Note{
		{Name: "Read", Text: from + "; nothing was changed, no job was touched"},
		{Name: "A line", Text: fmt.Sprintf("has of each step the most nodes seen, and the duration that %.0f %% of the runs kept to, and %.0f %% more; the last third of the runs judges it, and plays no part in it", 100*o.Quantile, 100*max(o.Margin, 0))},
		{Name: "Saved", Text: "is what the runs held, less what they would have held with the line's nodes for as long as each of their steps lasted, and for two seconds the larger size where they grow, for one where they shrink"},
		{Name: "A month", Text: "has 30 days"},
	}
	return p
}

// period returns the number of jobs, and the period in which they ran.
func period(report *advise.Report, in *Input) string {
	first, last := in.From, in.Until
	if first == 0 && last == 0 {
		for i := range in.Runs {
			if r := &in.Runs[i]; i == 0 || r.Start < first {
				first = r.Start
			}
			last = max(last, in.Runs[i].End)
		}
	}
	jobs := count(len(in.Runs), "job")
	if last <= first {
		return jobs
	}
	return fmt.Sprintf("%s in %s, from %s to %s", jobs, span(report.Period), date(first), date(last))
}

//go:embed page
var files embed.FS

// form is the page's template. The template function `on` combines a drawing with its canvas.
var form = template.Must(template.New("page.html").Funcs(template.FuncMap{"on": func(of any, c canvas) drawing { return drawing{of, c} }}).ParseFS(files, "page/page.html"))

type drawing struct {
	Of     any
	Canvas canvas
}

// canvas has the constants of a drawing, for the template.
type canvas struct{ Width, Height, Left, Right, Top, Bottom int }

// Write writes the page. Names of jobs and users are escaped. It returns only errors of w.
func (p *Page) Write(w io.Writer) error {
	style, err := files.ReadFile("page/page.css")
	if err == nil {
		s := p.show()
		s.Style = template.CSS(style)
		err = form.ExecuteTemplate(w, "page.html", s)
	}
	if err != nil {
		return fmt.Errorf("write the page %q: %w", p.Title, err)
	}
	return nil
}
