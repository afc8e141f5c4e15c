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

// What a page shows at most.
const (
	mostDrawn = 16  // groups that are drawn
	mostAlone = 4   // of those that are left alone
	mostRuns  = 60  // runs of a group that are drawn, the latest
	mostRows  = 200 // of a table
)

// Page is what a page shows.
type Page struct {
	Title   string
	Note    string // one line under the title: what was read, and of when
	Report  *advise.Report
	Runs    []advise.Run   // that the report was made of
	Options advise.Options // with which it was made
	WhatIf  *WhatIf        // nil: nobody asked
	Missing []string       // in what was read, a sentence each
	Notes   []Note         // how the page was made
}

// Note is one thing that a reader should know besides.
type Note struct{ Name, Text string }

// NewPage returns the page of a report. from says what was read: the name of a file, or "sacct". user is the only user whose jobs were read, or "".
// study is nil unless a what-if was asked for.
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

// form is the page's template. A drawing is given to it with its canvas.
var form = template.Must(template.New("page.html").Funcs(template.FuncMap{"on": func(of any, c canvas) drawing { return drawing{of, c} }}).ParseFS(files, "page/page.html"))

type drawing struct {
	Of     any
	Canvas canvas
}

// canvas is the measure of a drawing.
type canvas struct{ Width, Height, Left, Right, Top, Bottom int }

// Write writes the page. Whatever names jobs and users have, they are shown as text. Errors are the writer's.
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
