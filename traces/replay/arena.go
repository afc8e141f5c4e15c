package replay

// arena keeps the spans of many jobs in a few large pieces of memory, which are never copied.
type arena struct{ pieces [][]Span }

// stored is the place of some spans in an arena. The zero value has no spans.
type stored struct{ piece, first, count int32 }

// piece is the number of spans in a piece of an arena. A job with more spans has its own piece.
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

// at returns stored spans. The caller must not change them.
func (a *arena) at(s stored) Nodes {
	if s.count == 0 {
		return nil
	}
	return a.pieces[s.piece][s.first : s.first+s.count : s.first+s.count]
}
