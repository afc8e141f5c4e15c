// Package delegated implements the batch system's side of delegated scheduling: C. Klein and C. Pérez, "Untying RMS from Application
// Scheduling", RR-7389 (2010), section 5.3. Each application has a launcher, a program that requests nodes for it. The RMS sends the
// launcher a view: how many nodes are occupied on each cluster, and until when. The launcher answers with a request. The RMS
// estimates when the request can start, starts it then, and sends a new view whenever the view changes.
//
//	rms := delegated.New([]int{128, 128}, delegated.Options{FairStart: 5, Timer: 1}, &delegated.Indexed{})
//	messages, err := rms.Subscribe(now, 1)                    // its view
//	err = rms.Request(now, 1, moldable.Request{Parts: []moldable.Part{{Cluster: 0, Hosts: 64}}, Walltime: 3600})
//	messages, err = rms.Wake(rms.Next())                      // it starts; the views of other applications change
//	err = rms.Done(now, 1)                                    // its hosts stay occupied for the fair-start delay
//
// The package is pure: each event comes in with its second, messages go out, and the seconds may be real or simulated.
//
// Applications keep the order in which they subscribed. The paper has this order in its Figure 5. Its section 5.3.2 orders
// applications by their first requests instead, and then a launcher that computes for long falls behind all that come meanwhile.
package delegated

import (
	"accordion/core"
	"accordion/core/moldable"
)

// State is the state of an application (Figure 4 of RR-7389).
type State int

// The states, in the order in which an application takes them.
const (
	Submitted   State = iota // has subscribed, and has no request yet
	RequestSent              // its first or changed request waits for a pass
	Waiting                  // its request has an estimate
	Started
	FinishSent // is being ended, and keeps its hosts until Done
	Ghost      // has ended; its hosts stay occupied for the fair-start delay
	Finished   // has ended, or is not known
)

var stateNames = []string{"submitted", "request sent", "waiting", "started", "being ended", "ghost", "finished"}

func (s State) String() string { return stateNames[s] }

// Options of an RMS. Times are seconds.
type Options struct {
	FairStart core.Time // how long the hosts of an ended application stay occupied, so that slow launchers can answer
	Timer     core.Time // shortest time between the beginnings of two passes

	// TellEstimates also sends a message if a request begins later than its launcher can know from its view. Time alone can delay a request
	// that was made for now. Without this option launchers receive only changed views, as in the paper.
	TellEstimates bool

	// Watch also sends changed views to applications without a request. A launcher that found nothing suitable in its first view may find it
	// in a later one. In the paper each application has a request as soon as it has a view.
	Watch bool

	// EarlyGhosts ends ghosts early: in the first pass before which no launcher sent a request since the last pass. If launchers answer at
	// once, all have answered by then. Slow launchers may be too late: the RMS cannot distinguish a launcher that is computing from one that
	// has nothing to say.
	EarlyGhosts bool

	// Limit is how many requests a pass considers, by their order; 0: all. Applications after them get no view.
	Limit int
}

// Kind is the kind of a message.
type Kind int

// The kinds of messages.
const (
	View  Kind = iota // the launcher's view has changed, or its estimate
	Start             // the application starts, with its request
	End               // the application should end, and the RMS waits for Done
)

// Message is a message to a launcher. What it points to is read only.
type Message struct {
	To       core.JobID
	Kind     Kind
	Changes  []Change         // View: the clusters whose occupation has changed; none if only the estimate has
	Estimate core.Time        // View: when the request would start; core.Forever if it cannot, or if there is none
	Request  moldable.Request // Start: what the application gets
}

// Stretch is an occupation of hosts in [From, To) by something that the RMS does not know.
type Stretch struct {
	Cluster  int
	From, To core.Time
	Hosts    int
}

// Counts counts what an RMS has done.
type Counts struct {
	Passes  int
	Chain   int       // passes since the last event from outside: an arrival, an end, the end of a ghost
	Longest int       // the longest chain
	Waste   core.Time // host-seconds that ghosts held
}

// application is an application in its RMS. From RequestSent on, its request has parts.
type application struct {
	id      core.JobID
	viewer  int // its number on the board
	state   State
	since   core.Time // when it subscribed
	viewed  bool      // it has received a view
	asked   int       // messages about views that no request has answered yet
	request moldable.Request
	from    core.Time // earliest start (Hold)
	keep    bool      // it does not start, but keeps its place (Hold)

	estimate   core.Time // in state Waiting
	known      core.Time // the latest start that its launcher expects (TellEstimates)
	start      core.Time // from state Started on
	over       bool      // Done was called
	done       core.Time // when
	freed      core.Time // of a ghost: when it ends
	passWanted bool      // of a ghost: a pass was requested for its end
}

// waits reports whether an application has a request that has not started.
func (a *application) waits() bool { return a.state == RequestSent || a.state == Waiting }

// holds reports whether an application holds hosts.
func (a *application) holds() bool {
	return a.state == Started || a.state == FinishSent || a.state == Ghost
}

// until returns the end of an application's occupation for a pass at now. The end of one that is late is not known.
func (a *application) until(now core.Time) core.Time {
	switch end := a.start + a.request.Walltime; {
	case a.state == Ghost:
		return a.freed
	case end > now:
		return end
	}
	return core.Forever
}

func (a *application) hosts() core.Time {
	var sum core.Time
	for _, p := range a.request.Parts {
		sum += core.Time(p.Hosts)
	}
	return sum
}
