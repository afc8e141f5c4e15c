package delegated

import (
	"slices"

	"accordion/core"
)

// Join adds an application at an earlier rank: after those that subscribed before that second, and, among those of the same second, after
// those with lower IDs. Callers use it to give an application its place back after a failed start or a restart. Errors are *Error.
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

// Leave removes an application in any state at once, without a ghost. From now on its caller reports what it occupies by Occupy. Errors are
// *Error.
func (r *RMS) Leave(now core.Time, id core.JobID) error {
	a := r.byID[id]
	if a == nil {
		return &Error{"leave", id, "", ErrUnknown}
	}
	if err := r.at(now, "leave", id); err != nil {
		return err
	}
	r.fromOutside()
	r.applications = slices.DeleteFunc(r.applications, func(b *application) bool { return a == b })
	r.forget(a)
	r.want()
	return nil
}

// halfMinute is the step in seconds to which the end of a kept place is rounded up, so that views change rarely.
const halfMinute core.Time = 30

// Hold sets when an application's request may begin: not before from (core.Forever: not until the next call of Hold). With keep set, the
// request does not start when its time comes. It keeps its place, until a full half minute, and requests after it do not get that place.
// Errors are *Error.
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
		r.fromOutside()
		r.want()
	}
	return nil
}
