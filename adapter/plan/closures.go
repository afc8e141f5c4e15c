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

// Grain is the granularity of time limits, in seconds: a batch system may round them up to minutes.
const Grain core.Time = 60

// Approach returns how many seconds before a foreign reservation a waiting managed job is planned
// to end. The seconds leave room for the least overrun allowance and for limits in whole minutes,
// because a batch system does not start a job whose limit reaches into a reservation.
func Approach(s managed.Settings) core.Time { return s.Overrun.Least + Grain }

// A plan considers at least fewestTimes occurrences of a repeating reservation. It considers more
// as long as the occurrences, multiplied by the reservation's nodes, do not exceed mostTimes. With
// more occurrences a planning cycle of a large cluster would take seconds.
const (
	mostTimes   = 100_000
	fewestTimes = 20
)

// addReservations records in `busy` when foreign reservations occupy nodes. It returns the same
// spans as waiting jobs see them, in which future reservations begin Approach seconds earlier. It
// returns nil if there is no future reservation. Nothing is planned after the last known occurrence
// of a reservation that repeats.
func (v *World) addReservations(busy spans) (early spans) {
	var lies bool
	for i := range v.Snapshot.Reservations {
		lies = lies || v.beginsLater(&v.Snapshot.Reservations[i])
	}
	if lies && len(v.Jobs)+len(v.Parts) > 0 {
		early = make(spans, len(busy))
		for i := range busy {
			early[i] = slices.Clone(busy[i])
		}
	}
	approach := Approach(v.Settings)
	v.closures = make([][]*adapter.Reservation, len(v.Nodes))
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
			v.closures[n] = append(v.closures[n], r)
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

// beginsLater reports whether a foreign reservation begins later than now.
func (v *World) beginsLater(r *adapter.Reservation) bool {
	return !r.Ours() && (r.Start > v.Now || len(r.Later) > 0)
}

// claimsForWaiting returns the claims as waiting jobs see them, for which foreign reservations
// begin earlier.
func (v *World) claimsForWaiting() []place.Claim {
	if v.early != nil {
		return v.early
	}
	return v.claims
}

// NextReservation returns the first foreign reservation that begins on one of the nodes at the
// second `from` or later, and the second in which it begins. It returns nil if there is no such
// reservation.
func (v *World) NextReservation(nodes []string, from core.Time) (first *adapter.Reservation, at core.Time) {
	return v.nextReservation(nodes, from, func(*adapter.Reservation) bool { return true })
}

// NextStrictReservation does what NextReservation does, but only for reservations into which no
// time limit may reach.
func (v *World) NextStrictReservation(nodes []string, from core.Time) (first *adapter.Reservation, at core.Time) {
	return v.nextReservation(nodes, from, func(r *adapter.Reservation) bool { return r.Strict })
}

func (v *World) nextReservation(nodes []string, from core.Time, counts func(*adapter.Reservation) bool) (first *adapter.Reservation, at core.Time) {
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

// `over` yields the foreign reservations that cover any of the nodes, each once.
func (v *World) over(nodes []string) iter.Seq[*adapter.Reservation] {
	return func(yield func(*adapter.Reservation) bool) {
		var seen []*adapter.Reservation
		for _, name := range nodes {
			n, here := v.Index[name]
			if !here {
				continue
			}
			for _, r := range v.closures[n] {
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

// BlockingReservation returns the foreign reservation that keeps a job of this profile from
// starting on idle nodes now, and the second in which that reservation begins. It returns nil if
// there is no such reservation.
func (v *World) BlockingReservation(ep core.EP) (first *adapter.Reservation, at core.Time) {
	at = core.Forever
	until := v.Now + v.Settings.StartLead + ep.Total() + Approach(v.Settings)
	idle, lasting := 0, 0
	for i, name := range v.Nodes {
		if v.taken[i].Kind != managed.Nobody || v.closed[i] {
			continue
		}
		idle++
		r, begins := v.NextReservation([]string{name}, v.Now+1)
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

// RepeatingReservation returns a foreign reservation that repeats and that leaves too few nodes for
// each of the job's choices. It returns nil if there is none.
func (v *World) RepeatingReservation(r *managed.Job) *adapter.Reservation {
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
			if !v.lost[n] && !slices.Contains(v.closures[n], closes) {
				others++
			}
		}
		if others < fewest {
			return closes
		}
	}
	return nil
}

// lastEnd returns the last second up to `before` in which a foreign reservation ends on one of the
// nodes, and 0 if none does.
func (v *World) lastEnd(nodes []string, before core.Time) (at core.Time) {
	for r := range v.over(nodes) {
		for _, s := range r.Spans() {
			if s.End <= before {
				at = max(at, s.End)
			}
		}
	}
	return at
}
