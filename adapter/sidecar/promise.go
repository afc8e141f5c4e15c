package sidecar

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// tolerance is how many seconds the promised end may move before the promise counts as broken: a punctual growth may take
// two, and pushes what follows by as much.
const tolerance core.Time = 2

// More obstacles: what breaks a promise besides what a growth waits for.
const (
	tardy    obstacle = "late application" // the job itself was late
	lostNode obstacle = "lost node"
)

// account compares every promise with what was promised, and counts what evolving jobs do not hold.
func (s *Sidecar) account(v *sight) error {
	elapsed := min(max(v.now-s.past.accounted, 0), 3600) // a clock that jumps must not spoil a counter
	if s.past.accounted == 0 {
		elapsed = 0
	}
	s.past.accounted = v.now
	var spared int64
	for _, r := range s.sorted() {
		if r.Phase == waiting {
			r.Vowed, r.Slipped, r.Broke = 0, 0, ""
			continue
		}
		if r.Phase == running {
			spared += int64(r.ep().Peak()-r.ep()[r.Step].Nodes) * elapsed
		}
		if r.Phase == running || r.Phase == starting {
			if err := s.keepVow(v, r); err != nil {
				return err
			}
		}
	}
	if spared > 0 {
		s.meter.Spared(spared)
	}
	return nil
}

// keepVow says so when a promise could not be kept: at first, and again when the delay has doubled since.
func (s *Sidecar) keepVow(v *sight, r *record) error {
	slip := r.end() - r.Vowed
	if r.Vowed == 0 || slip < 0 { // made, or improved: the better one counts from now on
		r.Vowed, r.Slipped, r.dirty = r.end(), 0, true
		return nil
	}
	if slip <= max(tolerance, 2*r.Slipped) {
		return nil
	}
	cause := string(s.breaker(v, r))
	if cause != r.Broke {
		s.meter.Broke(cause)
	}
	r.Slipped, r.Broke, r.hindrance, r.dirty = slip, cause, nobody, true
	return s.event(r, "promise broken", fmt.Sprintf("its end moves by %s: %s", core.FormatDuration(slip), cause),
		map[string]any{"promised": r.Vowed, "end": r.end(), "seconds": slip, "cause": cause})
}

// breaker is what most likely broke the job's promise.
func (s *Sidecar) breaker(v *sight, r *record) obstacle {
	switch {
	case r.late:
		return tardy
	case r.hindrance != nobody:
		return r.hindrance
	case slices.ContainsFunc(s.snapshot.Jobs, func(j adapter.Job) bool { return s.overran(v, &j) }):
		return overrunning
	case s.goneSince(r.Planned):
		return lostNode
	case slices.ContainsFunc(v.running, func(o *record) bool { return o != r && o.late }):
		return managed
	}
	return system
}

// overran says whether an ordinary job holds its nodes for longer than the plan allowed for.
func (s *Sidecar) overran(v *sight, j *adapter.Job) bool {
	return j.State == adapter.Running && j.Expands == 0 && s.records[j.Key] == nil && j.Limit < core.Forever &&
		v.now >= j.Started+j.Limit+s.settings.Guard
}

// goneSince says whether a node that is away now went away at that second or later.
func (s *Sidecar) goneSince(second core.Time) bool {
	for _, since := range s.away {
		if since.Unix() >= second {
			return true
		}
	}
	return false
}
