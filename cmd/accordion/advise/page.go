package advise

import (
	"fmt"

	"github.com/spf13/cobra"

	"accordion/traces/advise"
	"accordion/traces/advise/page"
	"accordion/traces/files"
)

// savePage writes the HTML page, all of it or, on an error, nothing.
func (f *flags) savePage(cmd *cobra.Command, report *advise.Report, h *heard, o advise.Options, s *supposed) error {
	p := page.Page{Title: "Who would gain here?", Note: note(report, h), Report: report, Runs: h.runs, Options: o}
	if s != nil {
		p.WhatIf = s.words()
	}
	if f.user != "" {
		p.Title = "What would " + f.user + " gain?"
	}
	for _, g := range h.gaps {
		p.Missing = append(p.Missing, fmt.Sprintf("Nothing is known from %s to %s: %v.", date(g.From), date(g.Until), g.Why))
	}
	if text := h.left.String(); text != "" {
		p.Missing = append(p.Missing, "Left out: "+text+".")
	}
	if h.also != "" {
		p.Missing = append(p.Missing, "Left out: "+h.also+".")
	}
	for _, line := range h.left.Warnings() {
		p.Missing = append(p.Missing, line+".")
	}
	if h.left.Cut {
		p.Missing = append(p.Missing, "The accounting ends within a line; what it was about is left out.")
	}
	if h.log != nil {
		p.Missing = append(p.Missing, h.log.cannot())
	}
	from := "sacct"
	if f.file != "" {
		from = f.file
	}
	if h.oar {
		from = "OAR's database, which knows nothing of what a job starts"
	}
	p.Notes = []page.Note{
		{Name: "Read", Text: fmt.Sprintf("%s; nothing was changed, no job was touched", from)},
		{Name: "A line", Text: fmt.Sprintf("has of each step the most nodes seen, and the duration that %.0f %% of the runs kept to, and %.0f %% more; the last third of the runs judges it, and plays no part in it", 100*f.quantile, 100*f.margin)},
		{Name: "Saved", Text: "is what the runs held, less what they would have held with the line's nodes for as long as each of their steps lasted, and for two seconds the larger size where they grow, for one where they shrink"},
		{Name: "A month", Text: "has 30 days"},
	}
	return files.Save(files.File{Path: f.html, Write: p.Write})
}

// note says what was read, and of when.
func note(report *advise.Report, h *heard) string {
	first, last := h.from, h.until
	if first == 0 && last == 0 {
		for i := range h.runs {
			if r := &h.runs[i]; i == 0 || r.Start < first {
				first = r.Start
			}
			last = max(last, h.runs[i].End)
		}
	}
	jobs := count(len(h.runs), "job")
	if last <= first {
		return jobs
	}
	return fmt.Sprintf("%s in %s, from %s to %s", jobs, span(report.Period), date(first), date(last))
}
