package delegated

import (
	"fmt"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// RMS sends views, accepts requests and starts applications. Only one goroutine at a time may use it. The caller reports events in
// the order of their seconds. It calls Wake at the second that Next returns, after all events of that second.
type RMS struct {
	options Options
	board   Board
	hosts   []int // number of hosts of each cluster

	applications []*application // in the order of their subscriptions
	byID         map[core.JobID]*application
	elsewhere    []Stretch
	locals       []*local // by cluster; nil for a cluster without a load of its own
	points       []profile.Point
	viewers      int            // count of board numbers assigned so far
	spare        []*application // removed applications, for reuse with their numbers on the board

	now     core.Time
	last    core.Time // second of the last pass; -core.Forever before the first
	due     core.Time // second of the next pass; core.Forever if none is needed
	ends    core.Time // the next end of a ghost or of a walltime
	counts  Counts
	changes []Change // memory for messages
	out     []Message
}

// New returns an RMS without applications. `hosts` has the number of hosts of each cluster. The RMS owns the board from then on.
func New(hosts []int, o Options, board Board) *RMS {
	r := &RMS{
		options: o, board: board, hosts: slices.Clone(hosts), byID: map[core.JobID]*application{},
		now: -core.Forever, last: -core.Forever, due: core.Forever, ends: core.Forever,
	}
	board.Begin(-core.Forever, r.hosts)
	return r
}

// Counts returns what the RMS has done so far.
func (r *RMS) Counts() Counts { return r.counts }

// Steps returns the number of steps that the board has visited. On a Linear these are the basic operations of RR-7389.
func (r *RMS) Steps() int64 { return r.board.Steps() }

// Next returns the second at which Wake should be called, or core.Forever.
func (r *RMS) Next() core.Time { return max(r.now, min(r.due, r.ends)) }

// State returns the state of an application, or Finished if the application is not known.
func (r *RMS) State(id core.JobID) State {
	if a := r.byID[id]; a != nil {
		return a.state
	}
	return Finished
}

// Estimate returns when an application's request would start according to the last pass. It returns core.Forever if the request
// cannot start, or if no pass has considered it.
func (r *RMS) Estimate(id core.JobID) core.Time {
	if a := r.byID[id]; a != nil && a.state == Waiting {
		return a.estimate
	}
	return core.Forever
}

// at advances the RMS to a second. It is the last check of an event, so that a refused event changes nothing.
func (r *RMS) at(now core.Time, event string, id core.JobID) error {
	if now < r.now {
		return &Error{event, id, fmt.Sprintf("second %d after second %d", now, r.now), ErrPast}
	}
	r.now = now
	return nil
}

// want requests a pass for the earliest second that the timer (Options.Timer) allows.
func (r *RMS) want() {
	if r.due == core.Forever {
		r.due = max(r.now, r.last+r.options.Timer)
	}
}

// fromOutside records an event from outside: it ends the present chain of passes (Counts.Chain).
func (r *RMS) fromOutside() { r.counts.Chain = 0 }

// Subscribe adds an application after all others. It returns a message with the view of the last pass, or no message if the
// application is beyond the limit. Errors are *Error.
func (r *RMS) Subscribe(now core.Time, id core.JobID) ([]Message, error) {
	if r.byID[id] != nil {
		return nil, &Error{"subscription", id, "", ErrSubscribed}
	}
	if err := r.at(now, "subscription", id); err != nil {
		return nil, err
	}
	r.fromOutside()
	a := r.newApplication(id)
	a.since = now
	r.byID[id] = a
	r.applications = append(r.applications, a)
	r.out, r.changes = r.out[:0], r.changes[:0]
	if r.considered(r.requests()) {
		r.sendView(a, core.Forever)
	}
	return r.out, nil
}

// newApplication returns a new application.
func (r *RMS) newApplication(id core.JobID) *application {
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

// requests returns how many applications have waiting requests.
func (r *RMS) requests() int {
	n := 0
	for _, a := range r.applications {
		if a.waits() {
			n++
		}
	}
	return n
}

// considered reports whether a pass considers an application that has `before` requests before its own.
func (r *RMS) considered(before int) bool { return r.options.Limit == 0 || before < r.options.Limit }

// sendView sends an application's launcher the part of the board that has changed for it. It reports whether there was a change
// to send.
func (r *RMS) sendView(a *application, estimate core.Time) bool {
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

// Request sets an application's request from now on. A request that equals the present one changes nothing. A request that answers
// no view counts as an event from outside. Errors are *Error, and leave the earlier request in force.
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
		r.fromOutside()
	}
	a.state = RequestSent
	a.request.Parts, a.request.Walltime = append(a.request.Parts[:0], q.Parts...), q.Walltime
	if r.options.TellEstimates {
		a.known = r.expected(a)
	}
	r.want()
	return nil
}

// check returns an error that says what is wrong with a request, or nil.
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

// Done reports the end of an application. Its hosts become free when its ghost ends. Errors are *Error.
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
	r.fromOutside()
	a.over, a.done = true, now
	r.want()
	return nil
}

// finish sends a message that asks an application to end.
func (r *RMS) finish(a *application) {
	a.state = FinishSent
	r.out = append(r.out, Message{To: a.id, Kind: End, Estimate: core.Forever})
}

// forget removes an application.
func (r *RMS) forget(a *application) {
	a.state = Finished
	r.board.Forget(a.viewer)
	delete(r.byID, a.id)
	r.spare = append(r.spare, a)
}

// Resize sets the number of hosts of each cluster; 0 means that a cluster is gone. There may be more clusters than before, but not
// fewer. A request that is too large now stays in force. It has no estimate until it is changed or the hosts are back. Errors are
// *Error.
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
	r.fromOutside()
	r.hosts = append(r.hosts[:0], hosts...)
	r.want()
	return nil
}

// Occupy sets what occupies the clusters besides applications and local jobs. Errors are *Error.
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
	r.fromOutside()
	r.elsewhere = append(r.elsewhere[:0], all...)
	r.want()
	return nil
}
