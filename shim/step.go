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
	StatusResized   = 0 // the next step begins, with the same or another size
	StatusRefused   = 1 // the sidecar refused: not a managed job, another user's job, wrong nodes, or no next step
	StatusUsage     = 2 // the command line is wrong, or this is not a job
	StatusTimedOut  = 3 // the user's timeout passed before the job had the nodes
	StatusNoSidecar = 4 // no sidecar answers
)

// Options are the options of one call of Step.
type Options struct {
	Keep    string        // host list: the nodes to keep when the job shrinks
	Release string        // host list: the nodes to release when the job shrinks; not together with Keep
	Timeout time.Duration // how long to wait; 0 means no limit
	Getenv  Getenv        // os.LookupEnv
}

// Outcome is the result of a call of Step, for its shell and its user.
type Outcome struct {
	Status  int    // exit status, one of the above
	Text    string // for the shell: exports, then a command that exits with the status
	Message string // one line for the user, never empty
}

// Usage returns the outcome for a wrong command line. Its text also sets the status, because a shell that evaluates an empty text continues
// as after a success.
func Usage(err error) Outcome {
	return Outcome{Status: StatusUsage, Text: new(script).end(StatusUsage), Message: oneLine(err.Error())}
}

// Step ends the job's present step, waits until the job has the nodes of the next step, and describes them. It returns
// no error. The outcome says what went wrong, and a job can continue with the nodes that the outcome's text describes.
func Step(ctx context.Context, o Options) Outcome {
	return step(ctx, o, &client{dial: Dialer(o.Getenv), timeouts: defaultTimeouts})
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

// maxList limits a host list in bytes, so that a request fits into a frame.
const maxList = wire.MaxFrame / 2

// check checks the form of the options. Only the sidecar knows whether the job has these nodes.
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
		return fmt.Errorf("--keep, --release: a list of %d bytes, at most %d are possible: shorten it, such as n[1-9]", n, maxList)
	}
	if o.Timeout < 0 {
		return fmt.Errorf("--timeout: %v is negative", o.Timeout)
	}
	return nil
}

// answered turns a reply into an outcome. The outcome describes the present allocation, whatever the status is.
func (j job) answered(ctx context.Context, r wire.Reply) Outcome {
	var text script
	var messages []string
	status := StatusRefused
	switch r.Status {
	case wire.Resized:
		status = StatusResized
		messages = append(messages, stepMessage(r))
	case wire.Late:
		status = StatusTimedOut
		messages = append(messages, reason("the next step's nodes did not come in time", r.Why))
	case wire.Over:
		messages = append(messages, reason("there is no next step: the last one goes on", r.Why))
	default:
		messages = append(messages, reason("refused", r.Why))
	}

	has, err := j.replied(r)
	switch {
	case err != nil:
		messages = append(messages, err.Error())
		messages = append(messages, j.describe(&text, j.present(ctx))...)
	case len(has.nodes) > 0:
		messages = append(messages, j.describe(&text, has)...)
		j.exportStep(&text, r.Step, r.Steps, r.Until, r.Generation)
	case status != StatusRefused: // A refusal may concern a job of another user.
		messages = append(messages, j.describe(&text, j.present(ctx))...)
	}
	return j.outcome(status, &text, messages)
}

// stepMessage returns the message for the step that begins now.
func stepMessage(r wire.Reply) string {
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

// unanswered returns the outcome if the sidecar has not answered. The outcome describes the present allocation.
func (j job) unanswered(ctx context.Context, err error, timeout time.Duration) Outcome {
	var text script
	if ctx.Err() != nil { // The job is being ended, so there is no time to ask the batch system.
		return j.outcome(StatusRefused, &text, []string{"interrupted"})
	}
	status, messages := StatusNoSidecar, []string{err.Error()}
	if errors.Is(err, errTimeout) {
		status, messages = StatusTimedOut, []string{fmt.Sprintf("the next step's nodes did not come within %v", timeout)}
	}
	messages = append(messages, j.describe(&text, j.present(ctx))...)
	return j.outcome(status, &text, messages)
}

func (j job) outcome(status int, text *script, messages []string) Outcome {
	return Outcome{
		Status:  status,
		Text:    text.end(status),
		Message: oneLine(fmt.Sprintf("job %d: %s", j.id, strings.Join(messages, "; "))),
	}
}

// maxMessage limits a line for the user, in bytes.
const maxMessage = 1000

// oneLine returns text from another program in a form that is safe for a terminal and a log, without control characters and not too long.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
