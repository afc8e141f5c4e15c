// Package server communicates with OAR's server and nodes. A Notifier sends commands to the server, which does not answer, so the sender
// polls the database for the result. A ChangeWatcher reports changes in the database. A Remote runs programs on nodes as OAR's account, or
// as a user, with the command that OAR itself uses to reach nodes (OPENSSH_CMD).
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

// Commands to OAR's server, one on each line. After it has ended jobs, OAR's server runs a pass without being asked.
const (
	Ends   = "Qdel"       // end the jobs for which an end was requested
	Starts = "Scheduling" // run a pass, and start the jobs that are due
	Checks = "ChState"    // check the events, and make the nodes that they name Suspected
)

// Begins returns the command to start a job that has its resources (state toLaunch). It needs no pass.
func Begins(job core.JobID) string { return fmt.Sprintf("OARRUNJOB_%d", job) }

// notifyEvery is the minimum time between two commands that make OAR run a pass. The second for which OAR plans advances by at least one
// with each pass. If it is two seconds ahead of the clock, the pass sleeps for that time.
const notifyEvery = time.Second

// Notifier sends commands to OAR's server. A command that is requested several times within a second is sent once. Commands that launch
// jobs are sent without delay. OAR does not answer, so the caller polls the database.
type Notifier struct {
	Address string
	log     hclog.Logger
	stop    context.CancelFunc
	stopped sync.WaitGroup
	kick    chan struct{}

	mu       sync.Mutex
	launches []string
	wanted   []string  // Ends and Starts
	alarm    time.Time // when to ask OAR for a pass; zero if no such time is known
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

// Notify requests that a command is sent soon.
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

// awake wakes the goroutine that executes `run`.
func (p *Notifier) awake() {
	select {
	case p.kick <- struct{}{}:
	default: // run is awake already
	}
}

// notifyEarlier is how long before a second OAR is asked to run a pass for that second. A pass that begins in one
// second plans for the next second. On a busy machine it may begin almost a second after the request. If the job of an
// advance reservation starts late, its walltime is shortened by the delay.
const notifyEarlier = 950 * time.Millisecond

// NotifyAt requests a pass for a future second in which a job starts. It replaces the previous request of NotifyAt; second 0 cancels that
// request.
func (p *Notifier) NotifyAt(second core.Time) {
	alarm := time.Time{}
	if second > 0 {
		alarm = time.Unix(second, 0).Add(-notifyEarlier)
	}
	p.mu.Lock()
	same := p.alarm.Equal(alarm)
	p.alarm = alarm
	p.mu.Unlock()
	if !same {
		p.awake()
	}
}

// ring requests a pass if the alarm is due. Otherwise it returns the time until the alarm is due, or 0 if there is no alarm.
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

// run sends the requested commands, until ctx ends.
func (p *Notifier) run(ctx context.Context) {
	var rest <-chan time.Time // until OAR may be asked to schedule again; nil if it may be asked now
	for {
		var alarm <-chan time.Time
		if left := p.ring(time.Now()); left > 0 {
			alarm = time.After(left)
		}
		launches, word := p.take(rest == nil)
		for _, one := range append(launches, word) {
			if err := Tell(ctx, p.Address, one); err != nil && ctx.Err() == nil {
				p.log.Warn("OAR's server cannot be notified", "error", err)
			}
		}
		if word != "" {
			rest = time.After(notifyEvery)
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

// take returns the commands to send now. These are all launches and, if `schedule` is set, one command that covers all the other requested
// commands.
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

// Tell sends a line to OAR's server at an address, unless the line is empty. The server does not answer.
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

// LookEvery is the interval at which the database is polled for a result.
const LookEvery = 40 * time.Millisecond
