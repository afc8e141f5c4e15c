// Package server talks to OAR's server and nodes. A Notifier sends words to the server, and nobody answers: the sender looks at the
// database. Changes come back from the database. A Remote runs programs on nodes as OAR's account, with the command that OAR uses
// itself (OPENSSH_CMD), and from there as a user.
//
//	notifier := server.NewNotifier(conf.Server, conf.ServerPort, log)
//	notifier.Notify(server.Starts)
package server

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/core"
)

// What OAR's server is told, a line each. After it has ended jobs it schedules by itself.
const (
	Ends   = "Qdel"       // end the jobs that were asked to end
	Starts = "Scheduling" // plan, and start what is due
	Checks = "ChState"    // look at the events, and suspect the nodes that they name
)

// Begins is the word for a job that has its resources and shall begin (state toLaunch): no pass is needed for it.
func Begins(job core.JobID) string { return fmt.Sprintf("OARRUNJOB_%d", job) }

// pokeEvery is the least time between two words that make OAR schedule: its clock goes ahead by a second with each
// pass, and a pass that finds it two seconds ahead sleeps as long.
const pokeEvery = time.Second

// Notifier tells OAR's server that there is something to do. What is asked for within a second is told once, but for
// launches, which are told at once. Nobody hears whether it was of use: who asks, looks at the database.
type Notifier struct {
	Address string
	log     hclog.Logger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	kick    chan struct{}

	mu       sync.Mutex
	launches []string
	wanted   []string  // ends, starts
	alarm    time.Time // when OAR is to schedule; zero: at no time that is known
}

// NewNotifier returns a Notifier for the server at host and port. It works in the background until Close.
func NewNotifier(host string, port int, log hclog.Logger) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Notifier{Address: net.JoinHostPort(host, strconv.Itoa(port)), log: log, stop: cancel, kick: make(chan struct{}, 1)}
	p.stopped.Go(func() { p.run(ctx) })
	return p
}

// Close ends the work in the background and waits for its end.
func (p *Notifier) Close() {
	p.stop()
	p.stopped.Wait()
}

// Notify asks for a word to be told soon.
func (p *Notifier) Notify(word string) {
	p.mu.Lock()
	list := &p.launches
	if word == Ends || word == Starts {
		list = &p.wanted
	}
	if !slices.Contains(*list, word) {
		*list = append(*list, word)
	}
	p.mu.Unlock()
	p.awake()
}

// awake has the list of what is to be told looked at.
func (p *Notifier) awake() {
	select {
	case p.kick <- struct{}{}:
	default: // it will look anyway
	}
}

// headStart is how long before a second OAR is told to plan for it. A pass is of the second after that in which it begins: it may begin
// all but a second after it was asked for, as it does on a busy machine. A job that it starts later than reserved loses the seconds between.
const headStart = 950 * time.Millisecond

// NotifyAt asks for a pass of a second to come, in which something starts, in place of the one that was asked for before. 0: nothing starts.
func (p *Notifier) NotifyAt(second core.Time) {
	alarm := time.Time{}
	if second > 0 {
		alarm = time.Unix(second, 0).Add(-headStart)
	}
	p.mu.Lock()
	same := p.alarm.Equal(alarm)
	p.alarm = alarm
	p.mu.Unlock()
	if !same {
		p.awake()
	}
}

// ring wants OAR to schedule where the alarm's time has come, and gives how long it is until then otherwise; 0: there is none.
func (p *Notifier) ring(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm.IsZero() {
		return 0
	}
	if left := p.alarm.Sub(now); left > 0 {
		return left
	}
	p.alarm = time.Time{}
	if !slices.Contains(p.wanted, Starts) {
		p.wanted = append(p.wanted, Starts)
	}
	return 0
}

// run tells what is wanted.
func (p *Notifier) run(ctx context.Context) {
	var rest <-chan time.Time // until it may make OAR schedule again; nil: it may
	for {
		var alarm <-chan time.Time
		if left := p.ring(time.Now()); left > 0 {
			alarm = time.After(left)
		}
		launches, word := p.take(rest == nil)
		for _, one := range append(launches, word) {
			if err := Tell(ctx, p.Address, one); err != nil && ctx.Err() == nil {
				p.log.Warn("OAR's server cannot be told that there is something to do", "error", err)
			}
		}
		if word != "" {
			rest = time.After(pokeEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.kick:
		case <-alarm:
		case <-rest:
			rest = nil
		}
	}
}

// take is what is to be told now: all launches and, where it may be, the one word that does for all others.
func (p *Notifier) take(schedule bool) (launches []string, word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	launches, p.launches = p.launches, nil
	if schedule && len(p.wanted) > 0 {
		if word = p.wanted[0]; slices.Contains(p.wanted, Ends) {
			word = Ends
		}
		p.wanted = nil
	}
	return launches, word
}

// Tell writes a line to OAR's server at an address, which does not answer. An empty one is nothing.
func Tell(ctx context.Context, address, line string) error {
	if line == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if by, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(by); err != nil {
			return err
		}
	}
	_, err = conn.Write([]byte(line + "\n"))
	return err
}

// LookEvery is how often the database is looked at while something is awaited: OAR tells nobody, but for its database.
const LookEvery = 40 * time.Millisecond
