package input

import "fmt"

// An Error says which line cannot be read, or which value in it.
type Error struct {
	File   string
	Line   int    // from 1
	Column string // "" for the whole line
	Why    string
}

// Error returns one line: file:line, the column, what is wrong.
func (e *Error) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Column, e.Why)
}

// Unread counts what could not be read of a text, and keeps the first few errors.
type Unread struct {
	Count int
	First []*Error // at most mostFirst
}

// mostFirst is how many errors are shown: the others are often of the same kind.
const mostFirst = 3

// Add counts one.
func (u *Unread) Add(e *Error) {
	u.Count++
	if len(u.First) < mostFirst {
		u.First = append(u.First, e)
	}
}

// join adds what another one counts.
func (u *Unread) join(other Unread) {
	u.Count += other.Count
	u.First = append(u.First, other.First...)
	u.First = u.First[:min(len(u.First), mostFirst)]
}

// Warnings returns what is to be told, a line each: how many there are of a kind ("line"), what became of them ("cannot be read, left
// out"), and the first few errors. It returns nothing where there are none.
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
