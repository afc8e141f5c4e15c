// Package page shows advice as one HTML page that needs nothing else, and no script: what the site would gain, the groups of jobs that gain most
// with the profiles of their runs and the line that is advised, and what is not known.
//
//	p := page.Page{Title: "Who would gain here?", Report: &report, Runs: runs, Options: options}
//	err := p.Write(os.Stdout)
//
// Files: page.go (what is given), shown.go (what the template shows of it), balance.go (the site as a whole), chart.go (a group's runs), curve.go (a
// job on several sizes), page/ (the template and its style).
package page
