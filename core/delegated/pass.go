package delegated

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// Wake does what is due at second `now`: it ends ghosts, ends late applications, and makes a pass if one is due. The messages are in the
// order of sending. They are valid until the next call of the RMS. Errors are *Error.
func (r *RMS) Wake(now core.Time) ([]Message, error) {
	if err := r.at(now, "wake", noID); err != nil {
		return nil, err
	}
	r.out, r.changes = r.out[:0], r.changes[:0]
	if now >= r.ends {
		r.checkEnds()
	}
	if now >= r.due {
		r.pass()
	}
	return r.out, nil
}

// checkEnds finds the ghosts that end, and the applications that should have ended.
func (r *RMS) checkEnds() {
	for _, a := range r.applications {
		switch {
		case a.state == Ghost && a.freed <= r.now && !a.passWanted:
			a.passWanted = true
			r.fromOutside()
			r.want()
		case a.state == Started && !a.over && a.start+a.request.Walltime <= r.now:
			r.finish(a)
			r.fromOutside()
			r.want()
		}
	}
	r.setNextEnd()
}

// setNextEnd sets r.ends to the next second at which checkEnds has something to do.
func (r *RMS) setNextEnd() {
	r.ends = core.Forever
	for _, a := range r.applications {
		switch {
		case a.state == Ghost && !a.passWanted:
			r.ends = min(r.ends, a.freed)
		case a.state == Started && !a.over:
			r.ends = min(r.ends, a.start+a.request.Walltime)
		}
	}
}

// pass implements Figure 5 of RR-7389.
func (r *RMS) pass() {
	r.last, r.due = r.now, core.Forever
	r.counts.Passes++
	r.counts.Chain++
	r.counts.Longest = max(r.counts.Longest, r.counts.Chain)
	if r.options.EarlyGhosts {
		r.endGhostsEarly()
	}
	r.updateGhosts()
	r.board.Begin(r.now, r.hosts)
	r.beginLocals()
	r.drawHeld()
	considered := 0
	for _, a := range r.applications {
		r.placeLocals(a.since)
		switch {
		case a.waits() && r.considered(considered):
			considered++
			r.schedule(a)
		case a.state == Submitted && (r.options.Watch || !a.viewed) && r.considered(considered):
			r.sendView(a, core.Forever)
		case a.state == Waiting: // the application is beyond the limit
			a.estimate = core.Forever
		}
	}
	r.placeLocals(core.Forever)
	if r.options.EarlyGhosts && slices.ContainsFunc(r.applications, func(a *application) bool { return a.state == Ghost }) {
		r.want() // the next pass finds out whether a launcher has answered
	}
	r.setNextEnd()
}

// endGhostsEarly ends all ghosts if no launcher has sent a request since the last pass.
func (r *RMS) endGhostsEarly() {
	if slices.ContainsFunc(r.applications, func(a *application) bool { return a.state == RequestSent }) {
		return
	}
	for _, a := range r.applications {
		if a.state == Ghost {
			a.freed = min(a.freed, r.now)
		}
	}
}

// updateGhosts turns ended applications into ghosts, and ends ghosts whose time has passed.
func (r *RMS) updateGhosts() {
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

// drawHeld marks the hosts that are held now as occupied on the board.
func (r *RMS) drawHeld() {
	take := func(cluster int, from, to core.Time, hosts int) {
		r.board.Occupy(cluster, from, to, hosts)
		r.addRunning(cluster, from, to, hosts)
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

// schedule places a request.
func (r *RMS) schedule(a *application) {
	dirty := r.sendView(a, core.Forever)
	a.state, a.estimate = Waiting, r.findStart(a.request, max(r.now, a.from))
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
		if a.keep && a.estimate == r.now { // the beginning of a kept place moves with each pass; the end of that place stays, so that views do not change
			d += halfMinute - 1 - (a.estimate+d-1)%halfMinute
		}
		for _, p := range a.request.Parts {
			r.board.Occupy(p.Cluster, a.estimate, a.estimate+d, p.Hosts)
			r.addWaiting(p.Cluster, a.estimate, d, p.Hosts)
			if a.estimate == r.now {
				r.useWindows(p.Cluster, p.Hosts, a.request.Walltime)
			}
		}
	}
	if a.estimate == r.now && !a.keep {
		a.state, a.start = Started, r.now
		r.out = append(r.out, Message{To: a.id, Kind: Start, Estimate: r.now, Request: a.request})
	}
}

// findStart returns the first second, not before t, from which all parts of a request fit for its walltime, or
// core.Forever if they never fit. Enough hosts must be free. If windows matter, the same hosts must be free for
// the whole walltime.
func (r *RMS) findStart(q moldable.Request, t core.Time) core.Time {
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
		if len(q.Parts) == 1 && !r.needsNames(q.Parts[0].Cluster) {
			break
		}
	}
	return t
}

// expected returns the second at which a launcher expects its request to start according to its view. It returns core.Forever if
// the view never has enough free hosts.
func (r *RMS) expected(a *application) core.Time {
	t := r.now
	for moved := true; moved; {
		moved = false
		for _, p := range a.request.Parts {
			start := firstRoom(r.board.Seen(a.viewer, p.Cluster), r.hosts[p.Cluster]-p.Hosts, a.request.Walltime, t)
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

// firstRoom returns the first second, at or after `from`, from which at most `most` hosts are used for d seconds.
func firstRoom(points []profile.Point, most int, d, from core.Time) core.Time {
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
