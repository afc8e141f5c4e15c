package input

import "fmt"

// An Error is a line that cannot be read, or a value in it.
type Error struct {
	File   string
	Line   int    // line number; the first line is 1
	Column string // "" for the whole line
	Why    string
}

// Error returns one line: file:line, the column, and what is wrong.
func (e *Error) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Column, e.Why)
}

// Unread counts what could not be read, and has the first errors.
type Unread struct {
	Count int
	First []*Error // at most mostFirst
}

// mostFirst is the number of errors that are kept. Further ones are often of the same kind.
const mostFirst = 3

// Add counts an error.
func (u *Unread) Add(e *Error) {
	u.Count++
	if len(u.First) < mostFirst {
		u.First = append(u.First, e)
	}
}

// join adds the counts of another Unread.
func (u *Unread) join(other Unread) {
	u.Count += other.Count
	u.First = append(u.First, other.First...)
	u.First = u.First[:min(len(u.First), mostFirst)]
}

// Warnings returns lines for the user: the number of errors of a kind ("line"), what happened to them ("cannot be read, left out"), and the
// first errors. It returns nil if there are none.
func (u *Unread) Warnings(kind, what string) []string {
	if u.Count == 0 {
		return nil
	}
	if u.Count > 1 {
		kind += "s"
	}
	all := []string{fmt.Sprintf("%d %s %s: %v", u.Count, kind, what, u.First[0])}
	for _, e := range u.First[1:] {
		all = append(all, e.Error())
	}
	if more := u.Count - len(u.First); more > 0 {
		all = append(all, fmt.Sprintf("… and %d more", more))
	}
	return all
}
