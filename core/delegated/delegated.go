// Package delegated implements the batch system's side of delegated scheduling: C. Klein and C. Pérez, "Untying RMS from Application
// Scheduling", RR-7389 (2010), section 5.3. Each application has a launcher, a program that requests nodes for it. The RMS sends the
// launcher a view: how many nodes are occupied on each cluster, and until when. The launcher answers with a request. The RMS
// estimates when the request can start, starts it then, and sends a new view whenever the view changes.
//
//	rms := delegated.New([]int{128, 128}, delegated.Options{FairStart: 5, Timer: 1}, &delegated.Indexed{})
//	messages, err := rms.Subscribe(now, 1)                    // the view of application 1
//	err = rms.Request(now, 1, moldable.Request{Parts: []moldable.Part{{Cluster: 0, Hosts: 64}}, Walltime: 3600})
//	messages, err = rms.Wake(rms.Next())                      // application 1 starts; the views of the others change
//	err = rms.Done(now, 1)                                    // its hosts stay occupied for the fair-start delay
//
// The package is pure: the caller passes each event with its second and gets messages back. Seconds may be real or simulated.
//
// Applications keep the order in which they subscribed, as in the paper's Figure 5. Its section 5.3.2 orders applications by their
// first requests instead. A launcher that computes for long would then rank behind all applications that arrive meanwhile.
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
	RequestSent              // the application's first or changed request waits for a pass
	Waiting                  // the request has an estimate
	Started
	FinishSent // was asked to end, and keeps its hosts until Done
	Ghost      // has ended; its hosts stay occupied for the fair-start delay
	Finished   // has ended, or was never known
)

var stateNames = []string{"submitted", "request sent", "waiting", "started", "being ended", "ghost", "finished"}

func (s State) String() string { return stateNames[s] }

// Options of an RMS. Times are seconds.
type Options struct {
	FairStart core.Time // how long the hosts of an ended application stay occupied, so that slow launchers can answer
	Timer     core.Time // shortest time between the beginnings of two passes

	// TellEstimates also sends a message if a request will start later than its launcher can know from its view. For example, a
	// request that was to start now is late if the pass comes a second later. Without this option launchers receive only changed
	// views, as in the paper.
	TellEstimates bool

	// Watch also sends changed views to applications without a request. A launcher that found no suitable request in its first view may find
	// one in a later view. In the paper each application has a request as soon as it has a view.
	Watch bool

	// EarlyGhosts ends ghosts before their fair-start delay has passed: in the first pass for which no launcher has sent a request
	// since the pass before. Launchers that answer without delay have all answered by then. Slow launchers may be too late, because
	// the RMS cannot distinguish a launcher that is computing from one that has no new request.
	EarlyGhosts bool

	// Limit is the number of requests that a pass considers, in their order; 0 means all. Applications beyond the limit get no view.
	Limit int
}

// Kind is the kind of a message.
type Kind int

// The kinds of messages.
const (
	View  Kind = iota // the launcher's view or the estimate of its request has changed
	Start             // the application starts, with its request
	End               // the application should end, and the RMS waits for Done
)

// Message is a message to a launcher. Its slices are read only.
type Message struct {
	To       core.JobID
	Kind     Kind
	Changes  []Change         // View: the clusters whose occupation has changed; empty if only the estimate has changed
	Estimate core.Time        // View: when the request would start; core.Forever if it cannot start, or if there is no request
	Request  moldable.Request // Start: the hosts and the walltime that the application gets
}

// Stretch is an occupation of hosts in [From, To) by something other than the applications and jobs of the RMS.
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

// application is an application in its RMS. From state RequestSent on, its request has parts.
type application struct {
	id      core.JobID
	viewer  int // its number on the board
	state   State
	since   core.Time // when it subscribed
	viewed  bool      // it has received a view
	asked   int       // number of views sent that no request has answered yet
	request moldable.Request
	from    core.Time // earliest start (Hold)
	keep    bool      // the application must not start yet, but keeps its place (Hold)

	estimate   core.Time // when the request would start; in state Waiting
	known      core.Time // the latest start that its launcher expects (TellEstimates)
	start      core.Time // when it started; from state Started on
	over       bool      // Done was called
	done       core.Time // when Done was called
	freed      core.Time // when the ghost ends
	passWanted bool      // a pass was requested for the ghost's end
}

// waits reports whether an application has a request that has not started.
func (a *application) waits() bool { return a.state == RequestSent || a.state == Waiting }

// holds reports whether an application holds hosts.
func (a *application) holds() bool {
	return a.state == Started || a.state == FinishSent || a.state == Ghost
}

// until returns when an application's hosts become free, for a pass at now. For an application past its walltime the end is
// unknown.
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
