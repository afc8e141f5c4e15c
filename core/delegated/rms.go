package delegated

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// RMS shows views, takes requests and starts applications. One goroutine owns it. Its caller tells it what happens, in the
// order of the seconds, and calls Wake at the second that Next names, when it has told everything of that second.
type RMS struct {
	options Options
	board   Board
	hosts   []int // of each cluster

	applications []*application // in the order of their subscriptions
	byID         map[core.JobID]*application
	elsewhere    []Stretch
	locals       []*local // a cluster; nil where there is none
	points       []profile.Point
	viewers      int            // numbers given so far
	spare        []*application // those that are over: memory, and a number on the board each

	now     core.Time
	last    core.Time // the last pass; -core.Forever before the first
	due     core.Time // the next pass; core.Forever when none is wanted
	ends    core.Time // the first end of a ghost, or of a walltime, that is to be looked at
	counts  Counts
	changes []Change // memory of messages
	out     []Message
}

// New is an RMS without applications, on clusters with so many hosts each. The board is its own from then on.
func New(hosts []int, o Options, board Board) *RMS {
	r := &RMS{
		options: o, board: board, hosts: slices.Clone(hosts), byID: map[core.JobID]*application{},
		now: -core.Forever, last: -core.Forever, due: core.Forever, ends: core.Forever,
	}
	board.Begin(-core.Forever, r.hosts)
	return r
}

// Counts are what was done so far.
func (r *RMS) Counts() Counts { return r.counts }

// Steps are those of the board so far: on Linear the basic operations of RR-7389.
func (r *RMS) Steps() int64 { return r.board.Steps() }

// Next is the second at which Wake is to be called; core.Forever when there is nothing to wait for.
func (r *RMS) Next() core.Time { return max(r.now, min(r.due, r.ends)) }

// State is where an application stands; Finished for one that is not known, or no more.
func (r *RMS) State(id core.JobID) State {
	if a := r.byID[id]; a != nil {
		return a.state
	}
	return Finished
}

// Estimate is when an application's request would start by the last pass; core.Forever when it cannot, or is in none.
func (r *RMS) Estimate(id core.JobID) core.Time {
	if a := r.byID[id]; a != nil && a.state == Waiting {
		return a.estimate
	}
	return core.Forever
}

// at goes on to a second: the last of an event's checks, so that one that is refused changes nothing.
func (r *RMS) at(now core.Time, event string, id core.JobID) error {
	if now < r.now {
		return &Error{event, id, fmt.Sprintf("second %d after second %d", now, r.now), ErrPast}
	}
	r.now = now
	return nil
}

// want asks for a pass: a timer after the last one at the earliest.
func (r *RMS) want() {
	if r.due == core.Forever {
		r.due = max(r.now, r.last+r.options.Timer)
	}
}

// outside notes that something happened from outside.
func (r *RMS) outside() { r.counts.Chain = 0 }

// Subscribe adds an application, behind all others. The message is its view as the last pass left it; there is none where the
// application is behind the limit. An error is an *Error.
func (r *RMS) Subscribe(now core.Time, id core.JobID) ([]Message, error) {
	if r.byID[id] != nil {
		return nil, &Error{"subscription", id, "", ErrSubscribed}
	}
	if err := r.at(now, "subscription", id); err != nil {
		return nil, err
	}
	r.outside()
	a := r.fresh(id)
	a.since = now
	r.byID[id] = a
	r.applications = append(r.applications, a)
	r.out, r.changes = r.out[:0], r.changes[:0]
	if r.within(r.requests()) {
		r.show(a, core.Forever)
	}
	return r.out, nil
}

// fresh is a new application.
func (r *RMS) fresh(id core.JobID) *application {
	n := len(r.spare)
	if n == 0 {
		r.viewers++
		return &application{id: id, viewer: r.viewers - 1}
	}
	a := r.spare[n-1]
	r.spare = r.spare[:n-1]
	*a = application{id: id, viewer: a.viewer, request: moldable.Request{Parts: a.request.Parts[:0]}}
	return a
}

// requests is how many applications have requests that wait.
func (r *RMS) requests() int {
	n := 0
	for _, a := range r.applications {
		if a.waits() {
			n++
		}
	}
	return n
}

// within says whether one that has so many requests before it is considered.
func (r *RMS) within(before int) bool { return r.options.Limit == 0 || before < r.options.Limit }

// show writes to an application's launcher what is new on the board, if anything is.
func (r *RMS) show(a *application, estimate core.Time) bool {
	first := len(r.changes)
	r.changes = r.board.Look(a.viewer, r.now, r.changes)
	a.viewed = true
	if len(r.changes) == first {
		return false
	}
	a.asked++
	r.out = append(r.out, Message{To: a.id, Kind: View, Changes: r.changes[first:len(r.changes):len(r.changes)], Estimate: estimate})
	return true
}

// Request says what an application wants from now on, in place of what it wanted. One that is in force already is nothing
// new. One more than there were views answers none, and is an event from outside. An error is an *Error, and the former request
// stands.
func (r *RMS) Request(now core.Time, id core.JobID, q moldable.Request) error {
	a := r.byID[id]
	switch {
	case a == nil:
		return &Error{"request", id, "", ErrUnknown}
	case a.state == Started:
		return &Error{"request", id, "", ErrStarted}
	case a.holds():
		return &Error{"request", id, "", ErrOver}
	}
	if err := r.check(id, q); err != nil {
		return err
	}
	if err := r.at(now, "request", id); err != nil {
		return err
	}
	if a.state != Submitted && a.request.Walltime == q.Walltime && slices.Equal(a.request.Parts, q.Parts) {
		return nil
	}
	if a.asked > 0 {
		a.asked-- // at most one request counts as the answer to a view
	} else {
		r.outside()
	}
	a.state = RequestSent
	a.request.Parts, a.request.Walltime = append(a.request.Parts[:0], q.Parts...), q.Walltime
	if r.options.TellEstimates {
		a.known = r.expected(a)
	}
	r.want()
	return nil
}

// check says what is wrong with a request.
func (r *RMS) check(id core.JobID, q moldable.Request) error {
	if len(q.Parts) == 0 {
		return &Error{"request", id, "", ErrNoHosts}
	}
	for i, p := range q.Parts {
		detail := fmt.Sprintf
		switch {
		case p.Cluster < 0 || p.Cluster >= len(r.hosts):
			return &Error{"request", id, detail("cluster %d of %d, counted from 0", p.Cluster, len(r.hosts)), ErrNoCluster}
		case i > 0 && p.Cluster <= q.Parts[i-1].Cluster:
			return &Error{"request", id, detail("cluster %d after %d", p.Cluster, q.Parts[i-1].Cluster), ErrTwice}
		case p.Hosts < 1:
			return &Error{"request", id, detail("%d hosts of cluster %d", p.Hosts, p.Cluster), ErrNoHosts}
		case p.Hosts > r.hosts[p.Cluster]:
			return &Error{"request", id, detail("%d hosts of cluster %d, which has %d", p.Hosts, p.Cluster, r.hosts[p.Cluster]), ErrTooMany}
		}
	}
	if q.Walltime < 1 || q.Walltime > core.MaxTotal {
		return &Error{"request", id, fmt.Sprintf("%d s", q.Walltime), ErrWalltime}
	}
	return nil
}

// Done says that an application is over: its hosts are free once its ghost is. An error is an *Error.
func (r *RMS) Done(now core.Time, id core.JobID) error {
	a := r.byID[id]
	switch {
	case a == nil:
		return &Error{"done", id, "", ErrUnknown}
	case a.over:
		return &Error{"done", id, "", ErrOver}
	case !a.holds():
		return &Error{"done", id, a.state.String(), ErrNotStarted}
	}
	if err := r.at(now, "done", id); err != nil {
		return err
	}
	r.outside()
	a.over, a.done = true, now
	r.want()
	return nil
}

// finish tells an application to end.
func (r *RMS) finish(a *application) {
	a.state = FinishSent
	r.out = append(r.out, Message{To: a.id, Kind: End, Estimate: core.Forever})
}

// forget ends an application for good.
func (r *RMS) forget(a *application) {
	a.state = Finished
	r.board.Forget(a.viewer)
	delete(r.byID, a.id)
	r.spare = append(r.spare, a)
}

// Resize says how many hosts each cluster has from now on; 0 where a cluster is gone. There may be more clusters than before,
// not fewer. Requests that are now too large stand and have no estimate until they are changed, or the hosts are back. An
// error is an *Error.
func (r *RMS) Resize(now core.Time, hosts []int) error {
	if len(hosts) < len(r.hosts) {
		return &Error{"resize", noID, fmt.Sprintf("%d clusters, were %d; one that is gone has 0 hosts", len(hosts), len(r.hosts)), ErrNoCluster}
	}
	if i := slices.IndexFunc(hosts, func(n int) bool { return n < 0 }); i >= 0 {
		return &Error{"resize", noID, fmt.Sprintf("%d hosts of cluster %d", hosts[i], i), ErrNoHosts}
	}
	if err := r.at(now, "resize", noID); err != nil {
		return err
	}
	r.outside()
	r.hosts = append(r.hosts[:0], hosts...)
	r.want()
	return nil
}

// Occupy says what else occupies the clusters from now on, in place of what it said before. An error is an *Error.
func (r *RMS) Occupy(now core.Time, all []Stretch) error {
	for _, s := range all {
		switch {
		case s.Cluster < 0 || s.Cluster >= len(r.hosts):
			return &Error{"occupation", noID, fmt.Sprintf("cluster %d of %d, counted from 0", s.Cluster, len(r.hosts)), ErrNoCluster}
		case s.Hosts < 1 || s.From >= s.To:
			return &Error{"occupation", noID, fmt.Sprintf("%d hosts of cluster %d from %d to %d", s.Hosts, s.Cluster, s.From, s.To), ErrStretch}
		}
	}
	if err := r.at(now, "occupation", noID); err != nil {
		return err
	}
	r.outside()
	r.elsewhere = append(r.elsewhere[:0], all...)
	r.want()
	return nil
}
