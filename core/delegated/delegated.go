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

// State is where an application stands: Figure 4 of RR-7389.
type State int

// The states, in the order in which an application takes them.
const (
	Submitted   State = iota // subscribed; no request yet
	RequestSent              // its request, the first or a changed one, waits for a pass
	Waiting                  // its request has an estimate
	Started
	FinishSent // it is being ended, and keeps its hosts until it is done
	Ghost      // done; its hosts stay taken for the fair-start delay
	Finished   // and forgotten
)

var stateNames = []string{"submitted", "request sent", "waiting", "started", "being ended", "ghost", "finished"}

func (s State) String() string { return stateNames[s] }

// Options say how an RMS works. The times are seconds.
type Options struct {
	FairStart core.Time // how long the hosts of an application that is done stay taken, so that slow launchers can answer
	Timer     core.Time // a pass begins so long after the last at the earliest

	// TellEstimates makes the RMS write to a launcher, too, when its request begins later than the launcher could know
	// by its view: time alone can spoil a request that was made for now. Without it a launcher hears of changed views only,
	// as in the paper.
	TellEstimates bool

	// Watch shows changed views also to applications that have no request: a launcher that found nothing for it in its first view may
	// find it in a later one. In the paper each has a request as soon as it has a view.
	Watch bool

	// EarlyGhosts ends ghosts before their time: in the first pass before which nobody has sent a request since the last, as
	// then all have answered, if they answer at once. Launchers that take their time may come too late: the RMS cannot tell
	// one that is thinking from one that has nothing new to say.
	EarlyGhosts bool

	// Limit is how many requests a pass considers, the first ones in the order; 0: all. Applications behind so many get no
	// view.
	Limit int
}

// Kind is what a message is about.
type Kind int

// The kinds of messages.
const (
	View  Kind = iota // what the launcher may see has changed, or its estimate
	Start             // the application starts, with what it requested
	End               // the application is to be ended; Done is awaited
)

// Message is what the RMS says to a launcher. What it points to is read only.
type Message struct {
	To       core.JobID
	Kind     Kind
	Changes  []Change         // of View: clusters whose occupation is another from now on; none where only the estimate is
	Estimate core.Time        // of View: when the request would start; core.Forever when it cannot, or when there is none yet
	Request  moldable.Request // of Start: what the application gets
}

// Stretch is something else that occupies hosts of a cluster in [From, To).
type Stretch struct {
	Cluster  int
	From, To core.Time
	Hosts    int
}

// Counts are what an RMS has done so far.
type Counts struct {
	Passes  int
	Chain   int       // passes since the last event from outside: an arrival, an end, a ghost's end…
	Longest int       // the longest chain
	Waste   core.Time // host-seconds that ghosts held
}

// application is one, in its RMS. Invariant: request has parts from RequestSent on.
type application struct {
	id      core.JobID
	viewer  int // on the board
	state   State
	since   core.Time // when it subscribed
	viewed  bool      // it has a view
	asked   int       // messages about views, that no request has answered yet
	request moldable.Request
	from    core.Time // the request does not begin before (Hold)
	keep    bool      // it does not start: it keeps its place (Hold)

	estimate core.Time // of Waiting
	known    core.Time // the latest start that its launcher may expect (TellEstimates)
	start    core.Time // from Started on
	over     bool      // Done was called
	done     core.Time // when
	freed    core.Time // of a ghost: when it ends
	told     bool      // of a ghost: that its end wants a pass
}

// waits says whether an application has a request that has not started.
func (a *application) waits() bool { return a.state == RequestSent || a.state == Waiting }

// holds says whether an application holds hosts.
func (a *application) holds() bool {
	return a.state == Started || a.state == FinishSent || a.state == Ghost
}

// until is the second up to which a pass at now counts an application's hosts as taken. Nobody knows it of one that is late.
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
