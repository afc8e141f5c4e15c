package render

import (
	"fmt"
	"html/template"

	"accordion/traces/advise"
)

// shown is what the template shows.
type shown struct {
	Title, Note        string
	Style              template.CSS
	Lines, Users       string
	Saved, Held, Share string
	Balance            []share
	People             rowsOf[person]
	Groups, Alone      []group           // with a drawing
	Others, AlsoAlone  rowsOf[adviceRow] // without a drawing
	Sizes              []sized
	MoreSizes          int
	Movable            string // number of jobs that ran on several sizes, in words
	Silent             []Note // jobs without advice, counted by reason
	WhatIf             *WhatIf
	Missing            []string
	Notes              []Note
	Canvas             canvas
}

// rowsOf is the first rows of a table, and the number of further ones.
type rowsOf[T any] struct {
	Rows []T
	More int
}

// firstRows returns at most mostRows rows.
func firstRows[T any](all []T) rowsOf[T] {
	n := min(len(all), mostRows)
	return rowsOf[T]{all[:n], len(all) - n}
}

// adviceRow is the advice for a group as a row of a table.
type adviceRow struct {
	User, Name, Nodes string
	Runs, OnTime      string // "9", or "5 of 9" if the other runs have other sequences of sizes
	Sequence          string
	Monthly, Share    string
	Line, Why         string
}

// group is an adviceRow with its drawing.
type group struct {
	adviceRow
	Example string
	Where   []place
	Chart   *chart
	Drawn   int // number of drawn runs
	Late    int // runs of Drawn that would not have kept to the line
}

// place is where a step begins in the script, and the sizes before and after.
type place struct{ After, Before, From, To string }

// sized is a job that ran on several sizes.
type sized struct {
	User, Name, Line, About string
	Curve                   *curve
}

func (p *Page) show() *shown {
	s := &shown{Title: p.Title, Note: p.Note, Balance: balance(p.Report), WhatIf: p.WhatIf, Missing: p.Missing, Notes: p.Notes, Silent: silentNotes(p.Report),
		Canvas: canvas{width, height, left, right, top, bottom}}
	var saved int64
	var drawn []advise.Advice
	var others, alone []adviceRow
	lines, leftDrawn := 0, 0
	for _, a := range p.Report.Advice {
		left := a.Kind == advise.LeftAlone
		if !left {
			lines++
			saved += a.Saved
		}
		switch {
		case left && leftDrawn < mostAlone:
			leftDrawn++
			drawn = append(drawn, a)
		case left:
			alone = append(alone, rowOf(p.Report, &a))
		case lines <= mostDrawn:
			drawn = append(drawn, a)
		default:
			others = append(others, rowOf(p.Report, &a))
		}
	}
	s.draw(p, drawn)
	s.Others, s.AlsoAlone = firstRows(others), firstRows(alone)
	everybody := people(p.Report)
	s.People = firstRows(everybody)
	s.Lines, s.Users = count(lines, "line"), count(len(everybody), "user")
	s.Saved, s.Held, s.Share = hours(float64(saved)/3600), hours(float64(p.Report.Held)/3600), percent(saved, p.Report.Held)
	for i := range p.Report.Sizes[:min(len(p.Report.Sizes), mostDrawn)] {
		s.Sizes = append(s.Sizes, sizedOf(&p.Report.Sizes[i]))
	}
	s.Movable = count(len(p.Report.Sizes), "job")
	s.MoreSizes = len(p.Report.Sizes) - len(s.Sizes)
	return s
}

// draw adds the groups with a drawing.
func (s *shown) draw(p *Page, drawn []advise.Advice) {
	for i, seen := range advise.Profiles(p.Runs, drawn, p.Options, mostRuns) {
		a := &drawn[i]
		g := group{adviceRow: rowOf(p.Report, a), Example: a.Latest, Chart: chartOf(a, seen), Drawn: len(seen)}
		for _, one := range seen {
			if !one.Kept {
				g.Late++
			}
		}
		for k, w := range a.Boundaries {
			g.Where = append(g.Where, place{shortOnPage(w.After), shortOnPage(w.Before), fmt.Sprint(a.EP[k].Nodes), nodes(a.EP[k+1].Nodes)})
		}
		if a.Kind == advise.LeftAlone {
			s.Alone = append(s.Alone, g)
		} else {
			s.Groups = append(s.Groups, g)
		}
	}
}

func rowOf(r *advise.Report, a *advise.Advice) adviceRow {
	out := adviceRow{User: shortOnPage(a.User), Name: shortOnPage(a.Name), Nodes: nodes(a.Requested), Runs: fmt.Sprint(a.Runs), Sequence: a.Sequence, OnTime: "–", Monthly: hours(r.Monthly(a.Saved)), Share: percent(a.Saved, a.Held), Line: a.Line, Why: a.Why}
	if a.Of > 0 {
		out.Runs += fmt.Sprintf(" of %d", a.Of)
	}
	if a.Checked > 0 {
		out.OnTime = fmt.Sprintf("%d of %d", a.OnTime, a.Checked)
	}
	return out
}

// sizedOf returns the curve of a job that ran on several sizes.
func sizedOf(s *advise.Sizing) sized {
	return sized{User: shortOnPage(s.User), Name: shortOnPage(s.Name), Line: s.Line, Curve: curveOf(s), About: aboutSizing(s)}
}

// silentNotes counts the jobs without advice, by reason.
func silentNotes(r *advise.Report) []Note {
	var all []Note
	for _, s := range []struct {
		n    int
		what string
	}{
		{r.NoAdvice.FullyUsed, "use what they hold, or waste less than a twentieth of it"},
		{r.NoAdvice.TooFewRuns, "are run too seldom for a line that is known to hold"},
		{r.NoAdvice.NoSteps, "have no steps in what was read, so that nobody knows which of their nodes they used"},
		{r.NoAdvice.NotCompleted, "failed, were cancelled or met their limit, and teach nothing"},
	} {
		if s.n > 0 {
			all = append(all, Note{count(s.n, "job"), s.what})
		}
	}
	return all
}
