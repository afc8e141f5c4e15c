package plan

import (
	"iter"
	"slices"
	"sort"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/core"
	"accordion/core/place"
)

// Grain is the grain of time limits, in seconds: a batch system may round them up to minutes.
const Grain core.Time = 60

// Approach returns how many seconds before a reservation of others a waiting managed job is planned to end: its time limit leaves it
// the least allowance for being late, and is whole minutes. A batch system does not start a job whose limit reaches into a reservation.
func Approach(s managed.Settings) core.Time { return s.Overrun.Least + Grain }

// A plan looks at mostTimes occurrences of one reservation, counted on each of its nodes, and at fewestTimes at least. Otherwise a cycle of
// a large cluster would take seconds.
const (
	mostTimes   = 100_000
	fewestTimes = 20
)

// lookAtReservations notes when reservations of others occupy nodes. early is the same with what lies ahead begun sooner, for jobs that
// wait; nil: nothing lies ahead. Nothing is planned after the last occurrence that is known of a reservation that repeats.
func (v *World) lookAtReservations(busy spans) (early spans) {
	var lies bool
	for i := range v.Snapshot.Reservations {
		lies = lies || v.liesAhead(&v.Snapshot.Reservations[i])
	}
	if lies && len(v.Jobs)+len(v.Parts) > 0 {
		early = make(spans, len(busy))
		for i := range busy {
			early[i] = slices.Clone(busy[i])
		}
	}
	approach := Approach(v.Settings)
	v.closing = make([][]*adapter.Reservation, len(v.Nodes))
	for i := range v.Snapshot.Reservations {
		r := &v.Snapshot.Reservations[i]
		if r.Ours() {
			continue
		}
		all := r.Spans()
		all = all[:min(len(all), max(fewestTimes, mostTimes/max(len(r.Nodes), 1)))]
		if r.Repeats != "" {
			all = append(all, adapter.Span{Start: all[len(all)-1].End, End: core.Forever})
		}
		for _, name := range r.Nodes {
			n, here := v.Index[name]
			if !here {
				continue
			}
			v.closing[n] = append(v.closing[n], r)
			for _, s := range all {
				busy.add(n, max(s.Start, v.Now), s.End)
				if early != nil && s.End > v.Now {
					early.add(n, max(s.Start-approach, v.Now), s.End)
				}
				v.closed[n] = v.closed[n] || s.Start <= v.Now && v.Now < s.End && v.taken[n].Kind == managed.Nobody
			}
		}
	}
	return early
}

// liesAhead reports whether a reservation of others begins later than now.
func (v *World) liesAhead(r *adapter.Reservation) bool {
	return !r.Ours() && (r.Start > v.Now || len(r.Later) > 0)
}

// ahead returns what others occupy, as jobs that wait are planned around it.
func (v *World) ahead() []place.Claim {
	if v.early != nil {
		return v.early
	}
	return v.claims
}

// Closes returns the first reservation of others that begins on one of the nodes at that second or later, and when; nil: none does.
func (v *World) Closes(nodes []string, from core.Time) (first *adapter.Reservation, at core.Time) {
	return v.closes(nodes, from, func(*adapter.Reservation) bool { return true })
}

// ClosesStrictly is Closes for reservations into which no time limit may reach.
func (v *World) ClosesStrictly(nodes []string, from core.Time) (first *adapter.Reservation, at core.Time) {
	return v.closes(nodes, from, func(r *adapter.Reservation) bool { return r.Strict })
}

func (v *World) closes(nodes []string, from core.Time, counts func(*adapter.Reservation) bool) (first *adapter.Reservation, at core.Time) {
	at = core.Forever
	for r := range v.over(nodes) {
		if !counts(r) {
			continue
		}
		if r.Start >= from {
			if r.Start < at {
				first, at = r, r.Start
			}
			continue
		}
		i := sort.Search(len(r.Later), func(i int) bool { return r.Later[i].Start >= from })
		if i < len(r.Later) && r.Later[i].Start < at {
			first, at = r, r.Later[i].Start
		}
	}
	return first, at
}

// over yields the reservations of others over some of the nodes, each once.
func (v *World) over(nodes []string) iter.Seq[*adapter.Reservation] {
	return func(yield func(*adapter.Reservation) bool) {
		var seen []*adapter.Reservation
		for _, name := range nodes {
			n, here := v.Index[name]
			if !here {
				continue
			}
			for _, r := range v.closing[n] {
				if slices.Contains(seen, r) {
					continue
				}
				if seen = append(seen, r); !yield(r) {
					return
				}
			}
		}
	}
}

// Before returns the reservation of others without which a job of that profile could begin on idle nodes now, and when that begins; nil:
// there is none.
func (v *World) Before(ep core.EP) (first *adapter.Reservation, at core.Time) {
	at = core.Forever
	until := v.Now + v.Settings.StartLead + ep.Total() + Approach(v.Settings)
	idle, lasting := 0, 0
	for i, name := range v.Nodes {
		if v.taken[i].Kind != managed.Nobody || v.closed[i] {
			continue
		}
		idle++
		r, begins := v.Closes([]string{name}, v.Now+1)
		if begins >= until {
			lasting++
		} else if begins < at {
			first, at = r, begins
		}
	}
	if lasting >= ep[0].Nodes || idle < ep[0].Nodes {
		return nil, core.Forever
	}
	return first, at
}

// Repeating returns a reservation of others that repeats and without whose nodes none of the job's choices can be had; nil: there is none.
func (v *World) Repeating(r *managed.Job) *adapter.Reservation {
	fewest := len(v.Nodes)
	for _, ep := range r.Choices {
		fewest = min(fewest, ep.Peak())
	}
	for closes := range v.over(v.Nodes) {
		if closes.Repeats == "" {
			continue
		}
		others := 0
		for n := range v.Nodes {
			if !v.lost[n] && !slices.Contains(v.closing[n], closes) {
				others++
			}
		}
		if others < fewest {
			return closes
		}
	}
	return nil
}

// opens returns the last second before that one, or that second, at which a reservation of others ends on one of the nodes; 0: none
// does.
func (v *World) opens(nodes []string, before core.Time) (at core.Time) {
	for r := range v.over(nodes) {
		for _, s := range r.Spans() {
			if s.End <= before {
				at = max(at, s.End)
			}
		}
	}
	return at
}
