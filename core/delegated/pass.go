package delegated

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// Wake does what is due at a second: it looks who is late and which ghosts end, and makes a pass if one is due. The messages,
// in the order in which they are to be sent, are good until the RMS is told the next thing. An error is an *Error.
func (r *RMS) Wake(now core.Time) ([]Message, error) {
	if err := r.at(now, "wake", noID); err != nil {
		return nil, err
	}
	r.out, r.changes = r.out[:0], r.changes[:0]
	if now >= r.ends {
		r.look()
	}
	if now >= r.due {
		r.pass()
	}
	return r.out, nil
}

// look finds the ghosts that end, and the applications that should have.
func (r *RMS) look() {
	for _, a := range r.applications {
		switch {
		case a.state == Ghost && a.freed <= r.now && !a.told:
			a.told = true
			r.outside()
			r.want()
		case a.state == Started && !a.over && a.start+a.request.Walltime <= r.now:
			r.finish(a)
			r.outside()
			r.want()
		}
	}
	r.await()
}

// await finds the next second at which look has something to do.
func (r *RMS) await() {
	r.ends = core.Forever
	for _, a := range r.applications {
		switch {
		case a.state == Ghost && !a.told:
			r.ends = min(r.ends, a.freed)
		case a.state == Started && !a.over:
			r.ends = min(r.ends, a.start+a.request.Walltime)
		}
	}
}

// pass is Figure 5 of RR-7389.
func (r *RMS) pass() {
	r.last, r.due = r.now, core.Forever
	r.counts.Passes++
	r.counts.Chain++
	r.counts.Longest = max(r.counts.Longest, r.counts.Chain)
	if r.options.EarlyGhosts {
		r.rest()
	}
	r.bury()
	r.board.Begin(r.now, r.hosts)
	r.beginLocals()
	r.base()
	considered := 0
	for _, a := range r.applications {
		r.rank(a.since)
		switch {
		case a.waits() && r.within(considered):
			considered++
			r.schedule(a)
		case a.state == Submitted && (r.options.Watch || !a.viewed) && r.within(considered):
			r.show(a, core.Forever)
		case a.state == Waiting: // behind the limit
			a.estimate = core.Forever
		}
	}
	r.rank(core.Forever)
	if r.options.EarlyGhosts && slices.ContainsFunc(r.applications, func(a *application) bool { return a.state == Ghost }) {
		r.want() // to see whether anybody answers
	}
	r.await()
}

// rest ends the ghosts where nobody has sent a request since the last pass: the exchange that they made has come to rest.
func (r *RMS) rest() {
	if slices.ContainsFunc(r.applications, func(a *application) bool { return a.state == RequestSent }) {
		return
	}
	for _, a := range r.applications {
		if a.state == Ghost {
			a.freed = min(a.freed, r.now)
		}
	}
}

// bury makes ghosts of those that are done, and ends the ghosts whose time is over.
func (r *RMS) bury() {
	kept := r.applications[:0]
	for _, a := range r.applications {
		if a.over && a.state != Ghost {
			a.state, a.freed = Ghost, r.now+r.options.FairStart
		}
		if a.state == Ghost && a.freed <= r.now {
			r.counts.Waste += a.hosts() * (r.now - a.done)
			r.forget(a)
			continue
		}
		kept = append(kept, a)
	}
	clear(r.applications[len(kept):])
	r.applications = kept
}

// base draws what holds hosts now.
func (r *RMS) base() {
	take := func(cluster int, from, to core.Time, hosts int) {
		r.board.Occupy(cluster, from, to, hosts)
		r.runs(cluster, from, to, hosts)
	}
	for _, s := range r.elsewhere {
		take(s.Cluster, max(s.From, r.now), max(s.To, r.now), s.Hosts)
	}
	for _, a := range r.applications {
		if a.holds() {
			for _, p := range a.request.Parts {
				take(p.Cluster, r.now, a.until(r.now), p.Hosts)
			}
		}
	}
}

// schedule gives a request its place.
func (r *RMS) schedule(a *application) {
	dirty := r.show(a, core.Forever)
	a.state, a.estimate = Waiting, r.hole(a.request, max(r.now, a.from))
	switch {
	case dirty:
		r.out[len(r.out)-1].Estimate = a.estimate
		a.known = a.estimate
	case r.options.TellEstimates && a.estimate > a.known:
		r.out = append(r.out, Message{To: a.id, Kind: View, Estimate: a.estimate})
		a.known = a.estimate
		a.asked++
	}
	if a.estimate < core.Forever {
		d := a.request.Walltime
		if a.keep && a.estimate == r.now { // a place that is kept is one second further in each pass: not so its end, for who looks at it
			d += halfMinute - 1 - (a.estimate+d-1)%halfMinute
		}
		for _, p := range a.request.Parts {
			r.board.Occupy(p.Cluster, a.estimate, a.estimate+d, p.Hosts)
			r.stands(p.Cluster, a.estimate, d, p.Hosts)
			if a.estimate == r.now {
				r.take(p.Cluster, p.Hosts, a.request.Walltime)
			}
		}
	}
	if a.estimate == r.now && !a.keep {
		a.state, a.start = Started, r.now
		r.out = append(r.out, Message{To: a.id, Kind: Start, Estimate: r.now, Request: a.request})
	}
}

// hole is the first second, not before t, from which all parts of a request fit for its walltime, by number and by name; core.Forever when there
// is none.
func (r *RMS) hole(q moldable.Request, t core.Time) core.Time {
	if t == core.Forever {
		return core.Forever
	}
	for moved := true; moved; {
		moved = false
		for _, p := range q.Parts {
			if p.Hosts > r.hosts[p.Cluster] {
				return core.Forever
			}
			start, ok := r.board.FirstFit(p.Cluster, p.Hosts, q.Walltime, t, core.Forever)
			if !ok {
				return core.Forever
			}
			if start = r.byName(p.Cluster, p.Hosts, q.Walltime, start); start == core.Forever {
				return core.Forever
			}
			if start > t {
				t, moved = start, true
			}
		}
		if len(q.Parts) == 1 && !r.names(q.Parts[0].Cluster) {
			break
		}
	}
	return t
}

// expected is the second at which a launcher that knows only its view expects its request to start; core.Forever when it has
// not seen room for it.
func (r *RMS) expected(a *application) core.Time {
	t := r.now
	for moved := true; moved; {
		moved = false
		for _, p := range a.request.Parts {
			start := room(r.board.Seen(a.viewer, p.Cluster), r.hosts[p.Cluster]-p.Hosts, a.request.Walltime, t)
			if start > t {
				t, moved = start, true
			}
		}
		if t == core.Forever {
			break
		}
	}
	return t
}

// room is the first second, not before from, from which at most so many hosts are used for d seconds.
func room(points []profile.Point, most int, d, from core.Time) core.Time {
	start := from
	for i, p := range points {
		end := core.Forever
		if i+1 < len(points) {
			end = points[i+1].At
		}
		switch {
		case end <= start:
		case p.Used > most:
			start = end
		case end-start >= d:
			return start
		}
	}
	return start
}
