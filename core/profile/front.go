package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// Front remembers of a profile that is filled up where there was no room: as long as nothing is taken out of it, a need that was looked
// for once finds no room before it did then, and neither does one for longer. So who places a long queue, one job after the
// other, looks for each only behind the place of those like it. The zero value knows nothing.
type Front struct {
	since core.Time
	rows  [][]blocked // by nodes; those for more seconds, and later, behind others
	used  []int       // rows that are not empty
}

// blocked says that a need for so many seconds, or more, begins at an instant at the earliest.
type blocked struct {
	seconds core.Time
	until   core.Time
}

// Forget is for a profile out of which something was taken, or another one: nothing is known any more. It is for searches from an
// instant on, or later.
func (f *Front) Forget(since core.Time) {
	for _, n := range f.used {
		f.rows[n] = f.rows[n][:0]
	}
	f.used, f.since = f.used[:0], since
}

// Since says that time goes on: searches begin at an instant or later from now on. Those that begin earlier all the same are
// made as if nothing was known.
func (f *Front) Since(now core.Time) { f.since = max(f.since, now) }

// Behind is the profile as it is, where searches are helped by what is remembered of it.
func (p *Profile) Behind(f *Front) Lifted { return Lifted{profile: p, start: list.EndOfTime, front: f} }

// search is Earlier of a profile.
func (f *Front) search(p *Profile, n int, d, from, until core.Time) (core.Time, bool) {
	if n <= 0 || n > p.nodes || d < 1 || from < f.since || from >= until {
		return p.Earlier(n, d, from, until)
	}
	if len(f.rows) <= p.nodes {
		f.rows = slices.Grow(f.rows, p.nodes+1-len(f.rows))[:p.nodes+1]
	}
	row := f.rows[n]
	i := behind(row, d)
	known := f.since
	if i > 0 {
		known = max(known, row[i-1].until)
	}
	at, ok := p.Earlier(n, d, max(from, known), until)
	if from <= known {
		found := at
		if !ok {
			found = max(known, until)
		}
		f.note(n, i, blocked{d, found})
	}
	return at, ok
}

// behind is the number of entries for no more seconds.
func behind(row []blocked, seconds core.Time) int {
	low, high := 0, len(row)
	for low < high {
		if middle := int(uint(low+high) >> 1); row[middle].seconds <= seconds {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// note enters what was found, behind so many entries; those that say no more than it go.
func (f *Front) note(n, i int, b blocked) {
	row := f.rows[n]
	if i > 0 && row[i-1].until >= b.until {
		return // known
	}
	first, last := i, i
	if i > 0 && row[i-1].seconds == b.seconds {
		first--
	}
	for last < len(row) && row[last].until <= b.until {
		last++
	}
	if len(row) == 0 {
		f.used = append(f.used, n)
	}
	f.rows[n] = slices.Replace(row, first, last, b)
}
