package ep

import (
	"math"

	"accordion/core"
)

// window appends the waste of a step as a function of its start, for one hole. The step's requested duration ends at
// a time u in [from, to]. The step then lasts until the next step starts, at a time in [u, u+longest-length]. `sums`
// has the waste of both steps as pieces over that time, sorted, with gaps where the next step cannot start.
//
// It goes from one u to the next u at which a piece enters the window, leaves it, or is cut by one of its ends.
// Between them, the minimum is the smallest of three functions of u: one that increases, one that is constant,
// and one that decreases.
func (l *leastWaste) window(s *stepRange, from, to core.Time) {
	w := window{pieces: l.sums, width: s.longest - s.length, whole: l.whole[:0]}
	begun := len(l.pieces)
	for u := from; u <= to && w.move(u); {
		rising, constant, falling, until := w.look(u)
		until = min(until, to)
		// So the minimum is the increasing function up to `risen`, the constant up to `fallen`, and then the
		// decreasing function.
		risen := u + min(until-u, lead(constant-rising.value, rising.slope), lead(falling.value-rising.value, rising.slope-falling.slope))
		fallen := u + min(until-u+1, max(risen-u, lead(falling.value-constant, -falling.slope))+1)
		l.emit(begun, s, piece{u, risen, rising.value, rising.slope})
		l.emit(begun, s, piece{risen + 1, fallen - 1, constant, 0})
		l.emit(begun, s, piece{fallen, until, falling.at(fallen - u), falling.slope})
		u = until + 1
	}
	l.whole = w.whole
}

// lead returns for how many seconds a value stays less than or equal to another value. The value is smaller by
// `less` now, and the difference shrinks by `shrinks` each second. lead returns -1 if the value is larger now,
// and the constant `never` if the difference does not shrink.
func lead(less, shrinks int64) core.Time {
	switch {
	case less < 0:
		return -1
	case shrinks == 0:
		return never
	}
	return less / shrinks
}

// emit converts a piece of the minimum over u to the step's waste over its start and appends it. It extends the last
// piece instead if the two form one line.
func (l *leastWaste) emit(begun int, s *stepRange, q piece) {
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

// never is larger than every waste and every time.
const never = math.MaxInt64 / 2

// line is a value that changes by `slope` each second.
type line struct{ value, slope int64 }

func (a line) at(t core.Time) int64 { return a.value + a.slope*t }

// window is a window of time that slides over pieces. The pieces before index `left` end before the window. The
// pieces from index `right` on reach to the window's end or beyond. whole[first:] are the pieces in between
// that may still have the smallest value, sorted by time and by value.
type window struct {
	pieces      []piece
	width       core.Time
	left, right int
	whole       []int
	first       int // the pieces whole[:first] are cut by the left end of the window or have ended
}

// move slides the window to [u, u+width]. It returns false when no piece is left.
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

// look returns the three functions of u whose minimum is the smallest value in [u, u+width], and the u until
// which they are valid. A function that does not exist has the value `never`.
func (w *window) look(u core.Time) (rising line, constant int64, falling line, until core.Time) {
	rising, constant, falling = line{never, 0}, never, line{never, 0}
	if w.first < len(w.whole) {
		constant = w.pieces[w.whole[w.first]].least()
	}
	q, end := w.pieces[w.left], u+w.width
	until = q.from - 1
	cut := q.from <= u // the left end of the window cuts the piece
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
