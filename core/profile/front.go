package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// Front remembers the times at which searches in a profile found no room. As long as nothing is removed from the profile, a
// repeated search, or a search for a longer time, finds no earlier place. So a planner that places a long queue job by job
// searches only behind the places of similar jobs. The zero value remembers nothing.
type Front struct {
	since core.Time
	rows  [][]blocked // by nodes; in a row, entries for more seconds have later times
	used  []int       // indexes of rows that are not empty
}

// blocked records that no place for `seconds` seconds or more starts before `until`.
type blocked struct {
	seconds core.Time
	until   core.Time
}

// Forget forgets everything. Call it after something was removed from the profile, or before the Front is used with another
// profile. Later searches must start at `since` or later.
func (f *Front) Forget(since core.Time) {
	for _, n := range f.used {
		f.rows[n] = f.rows[n][:0]
	}
	f.used, f.since = f.used[:0], since
}

// Since records that later searches start at `now` or later. A search that starts earlier does not use what f
// remembers.
func (f *Front) Since(now core.Time) { f.since = max(f.since, now) }

// Behind returns the profile p for searches that use f, and add their results to f.
func (p *Profile) Behind(f *Front) Lifted { return Lifted{profile: p, start: list.EndOfTime, front: f} }

// search does what Earlier does.
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

// behind returns the number of entries for at most the given seconds.
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

// note inserts a result behind the first i entries, and removes entries that it implies.
func (f *Front) note(n, i int, b blocked) {
	row := f.rows[n]
	if i > 0 && row[i-1].until >= b.until {
		return // f knows this already
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
