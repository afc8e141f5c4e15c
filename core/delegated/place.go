package delegated

import (
	"slices"

	"accordion/core"
)

// Join is Subscribe at a rank of former days: the application goes behind those that subscribed before that second, and, of those of the same
// second, behind those with lower IDs. A caller whose starts may fail, or who was away, gives applications back their places by it.
// An error is an *Error.
func (r *RMS) Join(now core.Time, id core.JobID, rank core.Time) ([]Message, error) {
	messages, err := r.Subscribe(now, id)
	if err != nil {
		return nil, err
	}
	a := r.byID[id]
	a.since = rank
	others := r.applications[:len(r.applications)-1]
	at := len(others)
	for at > 0 && (others[at-1].since > rank || others[at-1].since == rank && others[at-1].id > id) {
		at--
	}
	r.applications = slices.Insert(others, at, a)
	return messages, nil
}

// Leave takes an application out at once, whatever its state, and without a ghost: from now on its caller says by Occupy what it
// occupies. An error is an *Error.
func (r *RMS) Leave(now core.Time, id core.JobID) error {
	a := r.byID[id]
	if a == nil {
		return &Error{"leave", id, "", ErrUnknown}
	}
	if err := r.at(now, "leave", id); err != nil {
		return err
	}
	r.outside()
	r.applications = slices.DeleteFunc(r.applications, func(b *application) bool { return a == b })
	r.forget(a)
	r.want()
	return nil
}

// halfMinute is to what the end of a kept place is rounded up, so that views are quiet.
const halfMinute core.Time = 30

// Hold says that an application's request begins at from at the earliest (core.Forever: not until more is said; anything past: at once), and,
// where keep is set, that it does not start when its time has come: it keeps its place, until a full half minute, and nobody behind it gets
// that. What was said before no longer holds. An error is an *Error.
func (r *RMS) Hold(now core.Time, id core.JobID, from core.Time, keep bool) error {
	a := r.byID[id]
	switch {
	case a == nil:
		return &Error{"hold", id, "", ErrUnknown}
	case a.holds():
		return &Error{"hold", id, "", ErrStarted}
	}
	if err := r.at(now, "hold", id); err != nil {
		return err
	}
	if a.from == from && a.keep == keep {
		return nil
	}
	a.from, a.keep = from, keep
	if a.waits() {
		r.outside()
		r.want()
	}
	return nil
}
