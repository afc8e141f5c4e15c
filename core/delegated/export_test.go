package delegated

import (
	"slices"

	"accordion/core"
)

// Places returns where the last pass put a cluster's own waiting jobs, in their order. Jobs that never fit have no place.
func (r *RMS) Places(cluster int) []core.Planned {
	if cluster < 0 || cluster >= len(r.locals) || r.locals[cluster] == nil || r.locals[cluster].state == nil {
		return nil
	}
	all := r.locals[cluster].state.Plan(r.last).Jobs
	return slices.DeleteFunc(all, func(p core.Planned) bool { return p.Job < 0 })
}

// Withdraw removes an application. If it has started, Withdraw returns a message that asks it to end. Errors are *Error.
func (r *RMS) Withdraw(now core.Time, id core.JobID) ([]Message, error) {
	a := r.byID[id]
	switch {
	case a == nil:
		return nil, &Error{"withdrawal", id, "", ErrUnknown}
	case a.over || a.state == FinishSent:
		return nil, &Error{"withdrawal", id, "", ErrOver}
	}
	if err := r.at(now, "withdrawal", id); err != nil {
		return nil, err
	}
	r.fromOutside()
	r.out = r.out[:0]
	if a.state == Started {
		r.finish(a)
		return r.out, nil
	}
	r.applications = slices.DeleteFunc(r.applications, func(b *application) bool { return a == b })
	r.forget(a)
	r.want()
	return r.out, nil
}
