// Package render shows advice as text for a terminal, as JSON, and as one HTML page without scripts and other files.
//
//	in := &render.Input{Runs: runs}
//	fmt.Print(render.Text(&report, in, 40))
//	err := render.JSON(os.Stdout, &report, in, nil)
//	err = (&render.Page{Title: "Who would gain here?", Report: &report, Runs: runs, Options: options}).Write(os.Stdout)
//
// The text is in text.go (the report), explain.go (one job), reviews.go (how well jobs matched their #EP and #MOLD lines) and whatif_text.go. The page is in page.go
// (its input), shown.go (what its template shows), balance.go (the whole site), chart.go (the runs of a group) and curve.go (a job on several
// sizes). Its template and its style sheet are in page/.
package render

import (
	"fmt"

	"accordion/core"
	"accordion/traces/advise"
)

// Input is what the advice was computed from.
type Input struct {
	Runs        []advise.Run
	From, Until core.Time // period of the report in Unix seconds; both 0 if the report has all data of the file
	Source      Source
	Gaps        []Gap    // periods without data
	LeftOut     LeftOut  // jobs of the accounting that are not runs, for JSON
	LeftOutText []string // LeftOut as clauses, such as "3 that never began"
	Warnings    []string // sentences about unreadable input
}

// Source is where the runs come from. It decides which sentences the texts have.
type Source int

// The sources.
const (
	Accounting Source = iota // Slurm's accounting, with job steps
	OAR                      // OAR's database, without job steps
	Log                      // a workload log, without job steps
	UnnamedLog               // a workload log without names of programs
)

// isLog reports whether the runs come from a workload log.
func (s Source) isLog() bool { return s == Log || s == UnnamedLog }

// Gap is a period without data.
type Gap struct {
	From, Until core.Time // Unix seconds
	Why         error
}

// String returns the gap as a clause, with its reason.
func (g Gap) String() string {
	return fmt.Sprintf("nothing is known from %s to %s: %v", date(g.From), date(g.Until), g.Why)
}

// LeftOut counts the jobs of Slurm's accounting that are no runs.
type LeftOut struct {
	Unfinished int  `json:"unfinished"`
	NeverBegan int  `json:"never_began"`
	Resized    int  `json:"resized"`
	Companions int  `json:"companions"`
	Hetero     int  `json:"heterogeneous"`
	Broken     int  `json:"broken"`
	Lines      int  `json:"unreadable_lines"`
	Cut        bool `json:"cut"` // the file ends within a line
	Values     int  `json:"unreadable_values"`
	Doubled    int  `json:"doubled_times"`
}
