package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"accordion/traces/advise"
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
