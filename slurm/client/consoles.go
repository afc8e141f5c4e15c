package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// These constants are how long a console lives. A restart of slurmctld does not matter, because each command uses a
// new connection. Consoles are replaced anyway, because a program that runs for a day may leak memory or
// descriptors.
const (
	consoleLife = 10 * time.Minute
	listingLife = time.Minute      // scontrol caches its lists, and requests a list from slurmctld only if it has changed
	consoleIdle = 30 * time.Second // after its last command
	silentFor   = 10 * time.Minute // the pause before a scontrol that never worked as a console is tried again
	silentOnce  = 10 * time.Second // the pause before a scontrol that worked as a console before is tried again
)

// consoles holds the idle consoles of a runner. Lists have consoles of their own. After a command about one job,
// scontrol's cache has only that job. Until slurmctld has newer data, scontrol would print that cache as the list
// of all jobs.
type consoles struct {
	mu     sync.Mutex
	free   map[Kind][]*console
	silent time.Time // when scontrol last failed as a console; the zero time if it works
	spoke  bool      // scontrol has worked as a console before
	reap   *time.Timer
}

// A Kind is what a console is used for.
type Kind int

// The kinds of consoles.
const (
	acting  Kind = iota // single jobs and all changes
	Listing             // lists of everything
)

// Speaks reports whether scontrol may be tried as a console.
func (c *consoles) Speaks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause := silentFor
	if c.spoke {
		pause = silentOnce
	}
	return c.silent.IsZero() || time.Since(c.silent) >= pause
}

// ErrSilent means that scontrol does not carry out commands from its standard input. In this case nothing was done.
var ErrSilent = errors.New("scontrol does not carry out commands from its standard input")

// take returns a console that answers, either an idle or a new one. Before it starts a new console it waits for a
// place among the programs of the minute.
func (r *Runner) take(ctx context.Context, k Kind) (*console, error) {
	for live := r.Consoles.pop(k); live != nil; live = r.Consoles.pop(k) {
		if !live.expired(time.Now()) && live.answers(ctx) == nil {
			return live, nil
		}
		live.end()
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("scontrol: not started: %w", err)
	}
	turn, err := r.Pace.Turn(ctx)
	if err != nil {
		return nil, fmt.Errorf("scontrol: not started, %d client programs began within a minute: %w", r.Pace.Limit, err)
	}
	fresh, err := r.openConsole(k)
	if err != nil {
		r.Pace.giveBack(turn)
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	r.Pace.Begin(turn)
	if err = fresh.answers(ctx); err == nil {
		r.Consoles.noteAnswer()
		return fresh, nil
	}
	fresh.end()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("scontrol: not started: %w", ctx.Err())
	}
	r.Consoles.NoteSilent(time.Now())
	return nil, fmt.Errorf("%w: %w", ErrSilent, err)
}

// noteAnswer records that a scontrol answered as a console.
func (c *consoles) noteAnswer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent, c.spoke = time.Time{}, true
}

// NoteSilent records that a scontrol did not answer as a console.
func (c *consoles) NoteSilent(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = at
}

// pop removes and returns the most recently used idle console of the kind, or returns nil if there is none.
func (c *consoles) pop(k Kind) *console {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.free[k]
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	c.free[k] = all[:len(all)-1]
	return last
}

// put adds a console to the idle ones. It also schedules the console's end, in case the console stays unused.
func (c *consoles) put(one *console) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free == nil {
		c.free = map[Kind][]*console{}
	}
	c.free[one.kind] = append(c.free[one.kind], one)
	if c.reap == nil {
		c.reap = time.AfterFunc(consoleIdle, c.tidy)
	}
}

// tidy ends the consoles that are too old or were unused for too long.
func (c *consoles) tidy() {
	c.mu.Lock()
	var over []*console
	left := 0
	for k, all := range c.free {
		kept := all[:0:0]
		for _, one := range all {
			if one.expired(time.Now()) {
				over = append(over, one)
			} else {
				kept = append(kept, one)
			}
		}
		c.free[k] = kept
		left += len(kept)
	}
	if c.reap = nil; left > 0 {
		c.reap = time.AfterFunc(consoleIdle, c.tidy)
	}
	c.mu.Unlock()
	for _, one := range over {
		one.end()
	}
}

// close ends all idle consoles.
func (c *consoles) close() {
	c.mu.Lock()
	over := append(c.free[acting], c.free[Listing]...)
	c.free = nil
	if c.reap != nil {
		c.reap.Stop()
		c.reap = nil
	}
	c.mu.Unlock()
	for _, one := range over {
		one.end()
	}
}

// expired reports whether a console has lived long enough. It also returns true after the wall clock jumped.
// scontrol's cached list has a time by slurmctld's clock. If that clock was set back, scontrol keeps its old list.
func (c *console) expired(now time.Time) bool {
	life := consoleLife
	if c.kind == Listing {
		life = listingLife
	}
	lived := now.Sub(c.started)
	byTheClock := now.Round(0).Sub(c.started.Round(0))
	return lived >= life || now.Sub(c.used) >= consoleIdle || (byTheClock-lived).Abs() >= 500*time.Millisecond
}

// consoleCommand returns the console's command for the call, or "" if the call needs its own program. Arguments
// with blanks, quotes or special characters need their own program, because a console does not remove quotes, and
// readline takes special characters for keys.
func consoleCommand(c Call) string {
	if c.Program != "scontrol" || len(c.Env) > 0 {
		return ""
	}
	args := c.Args
	for len(args) > 0 && (args[0] == "--oneliner" || args[0] == "--all") {
		args = args[1:]
	}
	if c.Input != "" && len(args) == 0 {
		return c.Input
	}
	for _, a := range args {
		for _, b := range []byte(a) {
			if b <= ' ' || b > '~' || b == '"' || b == '\'' {
				return ""
			}
		}
		if a == "" {
			return ""
		}
	}
	return strings.Join(args, " ")
}

// tell makes a console carry out the call. It returns ErrSilent if no console works. In that case the call needs
// its own program. If the call had a communication failure or exceeded its deadline, tell ends the console.
func (r *Runner) tell(ctx context.Context, c Call, command string) (Output, error) {
	one, err := r.take(ctx, c.Kind)
	if err != nil {
		return Output{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	out, err := one.carryOut(ctx, command)
	if !c.Stamped {
		out.Stdout, out.Stamp = strings.ReplaceAll(out.Stdout, out.Stamp, ""), ""
	}
	if err != nil {
		one.end()
		f := &Failure{Command: commandLine(c), Code: -1, Said: out.Stderr, Cause: err}
		if ctx.Err() == nil && complaints(out.Stderr) != "" {
			f.Code = 1 // the error message shows that the command failed
		}
		return out, f
	}
	if said := complaints(out.Stderr); said != "" {
		err = &Failure{Command: commandLine(c), Code: 1, Said: said, Cause: errors.New("scontrol reported an error")}
	}
	if one.expired(time.Now()) || Says(err, lostWords...) {
		one.end()
	} else {
		r.Consoles.put(one)
	}
	return out, err
}

// lostWords are Slurm's words for a communication failure.
var lostWords = []string{"unable to contact", "communication", "connection", "timed out", "zero bytes", "protocol"}

// Unanswered reports whether an error means that slurmctld did not answer. The command may have been carried out
// anyway.
func Unanswered(err error) bool {
	var f *Failure
	return errors.As(err, &f) && (errors.Is(f.Cause, context.DeadlineExceeded) || Says(err, lostWords...))
}

// complaints returns the error messages in a console's standard error. They replace exit codes, which a console
// does not report. Apart from warnings, scontrol prints only errors to standard error.
func complaints(stderr string) string {
	var all []string
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "scontrol: warning") && strings.TrimSpace(line) != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "")
}
