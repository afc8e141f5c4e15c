package ep

import (
	"math"

	"accordion/core"
)

// window appends the waste of a step as a function of its start, for one hole: its requested duration is over at some u of
// [from, to], and it goes on until an instant of [u, u+longest-length] at which the next step begins. What both waste is in
// sums, in pieces over that instant, in order of time, with gaps where the next step cannot begin.
//
// It goes from one u to the next at which another piece is whole in the window, or cut by one of its ends. In between, the
// least is the least of three: one that rises with u, one that stays, and one that falls.
func (l *leastWaste) window(s *spreading, from, to core.Time) {
	w := window{pieces: l.sums, width: s.longest - s.length, whole: l.whole[:0]}
	begun := len(l.pieces)
	for u := from; u <= to && w.move(u); {
		rising, constant, falling, until := w.look(u)
		until = min(until, to)
		// So it is first the one that rises, up to risen, and at last the one that falls, from fallen on.
		risen := u + min(until-u, lead(constant-rising.value, rising.slope), lead(falling.value-rising.value, rising.slope-falling.slope))
		fallen := u + min(until-u+1, max(risen-u, lead(falling.value-constant, -falling.slope))+1)
		l.emit(begun, s, piece{u, risen, rising.value, rising.slope})
		l.emit(begun, s, piece{risen + 1, fallen - 1, constant, 0})
		l.emit(begun, s, piece{fallen, until, falling.at(fallen - u), falling.slope})
		u = until + 1
	}
	l.whole = w.whole
}

// lead says for how long, from 0 on, what is so much less than something else stays at most equal when the difference
// shrinks so fast: -1 when it is not less, never when it stays.
func lead(less, shrinks int64) core.Time {
	switch {
	case less < 0:
		return -1
	case shrinks == 0:
		return never
	}
	return less / shrinks
}

// emit appends a piece of the least over u as one of the step's waste over its start, joined to the last one where it goes
// on in the same line.
func (l *leastWaste) emit(begun int, s *spreading, q piece) {
	if q.from > q.to || q.value >= never {
		return
	}
	q = q.tilt(-s.nodes)
	q.from, q.to = q.from-s.length, q.to-s.length
	if last := len(l.pieces) - 1; last >= begun {
		before := &l.pieces[last]
		if before.to+1 == q.from && before.slope == q.slope && before.at(q.from) == q.value {
			before.to = q.to
			return
		}
	}
	l.pieces = append(l.pieces, q)
}

// never is more than any waste, and than any time.
const never = math.MaxInt64 / 2

// line is a value that changes by slope with each second.
type line struct{ value, slope int64 }

func (a line) at(t core.Time) int64 { return a.value + a.slope*t }

// window is a stretch of time that slides over pieces. Pieces before left are over; from right on they reach to its end or
// beyond. whole, from first on, are those in between that may have the least value yet: in order of time, and their values
// rise.
type window struct {
	pieces      []piece
	width       core.Time
	left, right int
	whole       []int
	first       int // of whole that is not cut or over
}

// move slides the window to [u, u+width]. It is false when no piece is left.
func (w *window) move(u core.Time) bool {
	for w.left < len(w.pieces) && w.pieces[w.left].to < u {
		w.left++
	}
	for ; w.right < len(w.pieces) && w.pieces[w.right].to < u+w.width; w.right++ {
		least := w.pieces[w.right].least()
		for n := len(w.whole); n > w.first && w.pieces[w.whole[n-1]].least() >= least; n-- {
			w.whole = w.whole[:n-1]
		}
		w.whole = append(w.whole, w.right)
	}
	for w.first < len(w.whole) && w.pieces[w.whole[w.first]].from <= u {
		w.first++
	}
	return w.left < len(w.pieces)
}

// look says what the least in [u, u+width] is the least of, as functions of u, and until which u this holds. What there is
// not of the three is never.
func (w *window) look(u core.Time) (rising line, constant int64, falling line, until core.Time) {
	rising, constant, falling = line{never, 0}, never, line{never, 0}
	if w.first < len(w.whole) {
		constant = w.pieces[w.whole[w.first]].least()
	}
	q, end := w.pieces[w.left], u+w.width
	until = q.from - 1
	cut := q.from <= u // by the left end
	if cut {
		until = q.to
		switch {
		case q.slope >= 0:
			rising = line{q.at(u), q.slope}
		case w.right > w.left:
			constant = min(constant, q.at(q.to))
		}
	}
	if w.right == len(w.pieces) {
		return rising, constant, falling, until
	}
	switch q = w.pieces[w.right]; {
	case q.from > end:
		return rising, constant, falling, min(until, q.from-w.width-1)
	case q.slope < 0:
		falling = line{q.at(end), q.slope}
	case !cut || w.right > w.left:
		constant = min(constant, q.value)
	}
	return rising, constant, falling, min(until, q.to-w.width)
}
