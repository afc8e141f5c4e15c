package page

// WhatIf is what the lines would have changed, in words: who would lose first.
type WhatIf struct {
	Losses  []string // against the site as it was, a sentence each
	Smaller []string // gains over the site as it was that are smaller with the lines, a sentence each
	About   string   // what was supposed; or why nothing was, and then there are no groups
	Head    []string // of the columns behind the first
	Groups  []Supposed
	Notes   []string // how to read it
}

// Supposed is some of the jobs.
type Supposed struct {
	Name string
	Rows []Case
}

// Case is what these came to in a replay, beside WhatIf.Head.
type Case struct {
	Name  string
	Part  bool // it says what of the row before is due to the lines
	Cells []string
}
