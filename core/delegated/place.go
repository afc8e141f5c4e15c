package delegated

import (
	"slices"

	"accordion/core"
)

// Join adds an application as if it had subscribed at second `rank`. Among applications of the same second the one with the lower
// ID comes first. Callers use Join to give an application its place back after a failed start or a restart. Errors are *Error.
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

// Leave removes an application immediately, in any state and without a ghost. From now on the caller reports with Occupy what the
// application occupies. Errors are *Error.
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

// Hold sets the earliest start of an application's request to second `from`. core.Forever means not before the next call of Hold.
// With keep set, the request does not start even if it could. It keeps its place, whose end is rounded up to a half minute, and
// later requests do not get that place. Errors are *Error.
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
