package replay

// arena keeps the spans of many jobs in a few large pieces, which are never copied.
type arena struct{ pieces [][]Span }

// stored is where an arena has some spans. The zero value is none.
type stored struct{ piece, first, count int32 }

// piece is how many spans a piece of an arena has room for, if they are not those of one job.
const piece = 1 << 14

// store copies spans into the arena.
func (a *arena) store(spans []Span) stored {
	last := len(a.pieces) - 1
	if last < 0 || cap(a.pieces[last])-len(a.pieces[last]) < len(spans) {
		a.pieces = append(a.pieces, make([]Span, 0, max(piece, len(spans))))
		last++
	}
	first := len(a.pieces[last])
	a.pieces[last] = append(a.pieces[last], spans...)
	return stored{int32(last), int32(first), int32(len(spans))}
}

// at are spans that were stored. Do not change them.
func (a *arena) at(s stored) Nodes {
	if s.count == 0 {
		return nil
	}
	return a.pieces[s.piece][s.first : s.first+s.count : s.first+s.count]
}
