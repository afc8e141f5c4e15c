package shim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// The exit statuses of Step.
const (
	StatusResized   = 0 // the next step begins, whether its size differs or not
	StatusRefused   = 1 // the sidecar said no: no managed job, another's, bad nodes, no next step
	StatusUsage     = 2 // the command line is wrong, or this is no job
	StatusTimedOut  = 3 // the user's timeout passed before the nodes were there
	StatusNoSidecar = 4 // nobody answers
)

// Options of one call of Step.
type Options struct {
	Keep    string        // host list: the nodes to keep at a shrink
	Release string        // host list: the nodes to give back at a shrink; not both
	Timeout time.Duration // how long to wait; 0: for as long as it takes
	Getenv  Getenv        // os.LookupEnv
}

// Outcome is what a call of Step has for its shell and its user.
type Outcome struct {
	Status int    // exit status, one of the above
	Text   string // for the shell: exports, then a command that has the status
	Says   string // one line for the user, never empty
}

// Usage is the outcome of a command line that is wrong. Its text has the status too: a shell that evaluates nothing at
// all goes on as if all were well.
func Usage(err error) Outcome {
	return Outcome{Status: StatusUsage, Text: new(script).end(StatusUsage), Says: oneLine(err.Error())}
}

// Step says that the job's present step is over, waits until the next one's nodes are there, and describes them. It does
// not fail: what went wrong is in the outcome, and a job can go on with the nodes that the text describes.
func Step(ctx context.Context, o Options) Outcome {
	return step(ctx, o, &client{dial: Dialer(o.Getenv), patience: ordinary})
}

func step(ctx context.Context, o Options, c *client) Outcome {
	j, err := findJob(o.Getenv)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return Usage(err)
	}
	reply, err := c.ask(ctx, wire.Request{Job: j.id, Step: j.step(), Keep: o.Keep, Release: o.Release}, o.Timeout)
	if err != nil {
		return j.unanswered(ctx, err, o.Timeout)
	}
	return j.answered(ctx, reply)
}

// maxList bounds a host list, so that a request fits into a frame.
const maxList = wire.MaxFrame / 2 // bytes

// check looks at the form of what the user wrote; whether the job has these nodes is the sidecar's to say.
func (o Options) check() error {
	if o.Keep != "" && o.Release != "" {
		return errors.New("--keep and --release together: say what stays or what goes, not both")
	}
	for flag, list := range map[string]string{"--keep": o.Keep, "--release": o.Release} {
		if _, err := hostlist.Expand(list); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	if n := len(o.Keep) + len(o.Release); n > maxList {
		return fmt.Errorf("--keep, --release: a list of %d bytes, at most %d are possible: write it shorter, as n[1-9]", n, maxList)
	}
	if o.Timeout < 0 {
		return fmt.Errorf("--timeout: %v is negative", o.Timeout)
	}
	return nil
}

// answered turns a reply into an outcome. It describes the present allocation whatever its status.
func (j job) answered(ctx context.Context, r wire.Reply) Outcome {
	var text script
	var says []string
	status := StatusRefused
	switch r.Status {
	case wire.Resized:
		status = StatusResized
		says = append(says, begins(r))
	case wire.Late:
		status = StatusTimedOut
		says = append(says, reason("the next step's nodes did not come in time", r.Why))
	case wire.Over:
		says = append(says, reason("there is no next step: the last one goes on", r.Why))
	default:
		says = append(says, reason("refused", r.Why))
	}

	has, err := j.replied(r)
	switch {
	case err != nil:
		says = append(says, err.Error())
		says = append(says, j.describe(&text, j.present(ctx))...)
	case len(has.nodes) > 0:
		says = append(says, j.describe(&text, has)...)
		j.exportStep(&text, r.Step, r.Steps, r.Until, r.Generation)
	case status != StatusRefused: // what a refusal is about may be no job of ours
		says = append(says, j.describe(&text, j.present(ctx))...)
	}
	return j.outcome(status, &text, says)
}

// begins tells of the step that begins now.
func begins(r wire.Reply) string {
	what := fmt.Sprintf("step %d of %d begins: %d nodes, %s", r.Step, r.Steps, r.Count, r.Nodes)
	if r.Until > 0 {
		what += time.Unix(r.Until, 0).Format(", until 2006-01-02 15:04:05")
	}
	if r.Why != "" {
		what += " (" + r.Why + ")"
	}
	return what
}

func reason(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// unanswered describes the allocation without the sidecar.
func (j job) unanswered(ctx context.Context, err error, timeout time.Duration) Outcome {
	var text script
	if ctx.Err() != nil { // the job is being ended: no time for questions
		return j.outcome(StatusRefused, &text, []string{"interrupted"})
	}
	status, says := StatusNoSidecar, []string{err.Error()}
	if errors.Is(err, errTimeout) {
		status, says = StatusTimedOut, []string{fmt.Sprintf("the next step's nodes did not come within %v", timeout)}
	}
	says = append(says, j.describe(&text, j.present(ctx))...)
	return j.outcome(status, &text, says)
}

func (j job) outcome(status int, text *script, says []string) Outcome {
	return Outcome{
		Status: status,
		Text:   text.end(status),
		Says:   oneLine(fmt.Sprintf("job %d: %s", j.id, strings.Join(says, "; "))),
	}
}

// longest is how much of a line a user reads.
const longest = 1000 // bytes

// oneLine makes text that came from elsewhere safe for a terminal and a log: no control characters, not endless.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
