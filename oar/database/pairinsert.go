package database

import (
	"strconv"
)

// A PairInsert builds a statement that inserts pairs of numbers.
type PairInsert struct {
	Into string
	Text []byte
	Rows int
}

// Add adds a row to the statement.
func (p *PairInsert) Add(a, b int64) {
	if p.Rows == 0 {
		p.Text = append(p.Text, "INSERT INTO "+p.Into+" VALUES ("...)
	} else {
		p.Text = append(p.Text, ",("...)
	}
	p.Rows++
	p.Text = strconv.AppendInt(p.Text, a, 10)
	p.Text = append(p.Text, ',')
	p.Text = strconv.AppendInt(p.Text, b, 10)
	p.Text = append(p.Text, ')')
}

// RowsAtOnce is the maximum number of rows that one statement inserts.
const RowsAtOnce = 5000
