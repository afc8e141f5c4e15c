package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxOutput bounds what is kept of a program's output, in bytes. 100,000 jobs take about 20 MB.
const maxOutput = 256 << 20

// A Failure is a client program that did not do what it was asked to.
type Failure struct {
	Command string // the program and its arguments
	Code    int    // its exit code; -1 when it was ended by its deadline or never began
	Said    string // its standard error, or where that is empty the beginning of its output
	Cause   error
}

func (f *Failure) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(f.Said), "\n")
	switch {
	case errors.Is(f.Cause, context.DeadlineExceeded):
		return fmt.Sprintf("%s: no answer within its time limit, ended (is slurmctld up? `scontrol ping`)", f.Command)
	case f.Code < 0 || line == "":
		return fmt.Sprintf("%s: %v", f.Command, f.Cause)
	}
	return fmt.Sprintf("%s: exit code %d: %s", f.Command, f.Code, line)
}

func (f *Failure) Unwrap() error { return f.Cause }

// says is true when err is a Failure whose message contains one of the words, whatever their case.
func says(err error, words ...string) bool {
	var f *Failure
	if !errors.As(err, &f) {
		return false
	}
	text := strings.ToLower(f.Said)
	for _, w := range words {
		if strings.Contains(text, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// runner runs external programs: each with a deadline, few at once, in a clean environment, and with nothing left
// behind when the deadline passes.
type runner struct {
	bin     string   // directory of the clients; "": PATH
	env     []string // all of the programs' environment
	timeout time.Duration
	slots   chan struct{} // one token a running program
	pace    *allowance    // programs a minute
	talk    consoles
}

// newRunner prepares a runner. The environment holds what the clients need and nothing of ours: a SQUEUE_FORMAT,
// SLURM_TIME_FORMAT or SALLOC_PARTITION of the administrator's shell would change what they print and do.
func newRunner(c Config) *runner {
	r := &runner{bin: c.Bin, timeout: c.Timeout, slots: make(chan struct{}, c.AtOnce), pace: newAllowance(c.Clients)}
	r.env = []string{
		"LC_ALL=C",
		"TZ=UTC",                  // with the next line: times without daylight saving's double hour
		"SLURM_TIME_FORMAT=%s",    // seconds since 1970
		"SLURM_BITSTR_LEN=0",      // an array's pending elements in full
		"HOME=/", "SHELL=/bin/sh", // salloc looks them up
	}
	path := os.Getenv("PATH")
	if path == "" {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	r.env = append(r.env, "PATH="+path)
	conf := c.Conf
	if conf == "" {
		conf = os.Getenv("SLURM_CONF")
	}
	if conf != "" {
		r.env = append(r.env, "SLURM_CONF="+conf)
	}
	return r
}

// call is one run of a program, or what a console does in its place.
type call struct {
	program string
	args    []string
	input   string
	env     []string                 // added to the runner's
	kind    kind                     // of the console that suits it
	stamped bool                     // by a console, which leaves its stamp in front of each time, or not at all (errSilent)
	as      *user                    // who runs it; nil: ourselves
	until   func(stderr string) bool // it has done what it was asked to, as it says: it is ended then. nil: it ends by itself
}

// A user is who a program is run as, by number: not every controller knows its users by name.
type user struct{ uid, gid uint32 }

// output is what a program printed. The stamp is "" unless the call asks for it.
type output struct{ stdout, stderr, stamp string }

// run has the call carried out: by a console where one can do it, else by a program of its own. It returns what was printed.
// The error is a *Failure, or the context's when it ended before anything began.
func (r *runner) run(ctx context.Context, c call) (output, error) {
	if !r.talk.speaks() && c.stamped {
		return output{}, errSilent
	}
	if command := spoken(c); command != "" && r.talk.speaks() {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return output{}, fmt.Errorf("%s: not begun: %w", c.program, ctx.Err())
		}
		out, err := r.tell(ctx, c, command)
		<-r.slots
		if c.stamped || !errors.Is(err, errSilent) {
			return out, err
		}
	}
	return r.program(ctx, c)
}

// program waits for its turn and a slot, and runs the program to its end or its deadline.
func (r *runner) program(ctx context.Context, c call) (output, error) {
	turn, err := r.pace.turn(ctx)
	if err != nil {
		return output{}, fmt.Errorf("%s: not begun, %d client programs began within a minute: %w", c.program, r.pace.limit, err)
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		r.pace.give(turn)
		return output{}, fmt.Errorf("%s: not begun: %w", c.program, ctx.Err())
	}
	r.pace.begin(turn)
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, r.path(c.program), c.args...)
	cmd.Env = append(append([]string(nil), r.env...), c.env...)
	if cmd.Dir = "/"; c.program == "scontrol" {
		if cmd.Dir, err = scratch(); err != nil {
			return output{}, err
		}
		defer os.RemoveAll(cmd.Dir)
	}
	cmd.Stdin = strings.NewReader(c.input)
	stdout, stderr := &bounded{limit: maxOutput}, &bounded{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// The whole group is killed: a client's child that keeps our pipe open would keep us waiting.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.as.uid, Gid: c.as.gid}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	enough := &watched{bounded: stderr, until: c.until, end: cmd.Cancel}
	if c.until != nil {
		cmd.Stderr = enough
	}

	err = cmd.Run()
	out := output{stdout: stdout.String(), stderr: stderr.String()}
	if enough.seen {
		return out, nil
	}
	if err == nil && stdout.dropped {
		err = fmt.Errorf("more than %d MB of output", maxOutput>>20)
	}
	if err == nil {
		return out, nil
	}
	f := &Failure{Command: commandLine(c), Code: -1, Said: out.stderr, Cause: err}
	if strings.TrimSpace(f.Said) == "" { // "Reservation r not found" comes on standard output
		f.Said = out.stdout[:min(len(out.stdout), 4096)]
	}
	if ctx.Err() != nil {
		f.Cause = ctx.Err()
	} else if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		f.Code = exit.ExitCode()
	}
	return out, f
}

// scratch makes a directory for a scontrol: after an update that changes a running job's nodes it leaves scripts for the
// job's owner in the directory it is in, which are of no use here.
func scratch() (string, error) {
	dir, err := os.MkdirTemp("", "accordion-scontrol-")
	if err != nil {
		return "", fmt.Errorf("a directory for scontrol: %w", err)
	}
	return dir, nil
}

// scontrol runs one scontrol command.
func (r *runner) scontrol(ctx context.Context, args ...string) error {
	_, err := r.run(ctx, call{program: "scontrol", args: args})
	return err
}

func (r *runner) path(program string) string {
	if r.bin == "" {
		return program
	}
	return filepath.Join(r.bin, program)
}

// commandLine is how a call reads in an error: short, on one line.
func commandLine(c call) string {
	text := strings.Join(append([]string{c.program}, c.args...), " ")
	if c.input != "" {
		text += " <<< " + strings.TrimSpace(c.input)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}

// bounded keeps the first limit bytes that are written to it. (It does not embed a buffer, whose ReadFrom would keep all.)
type bounded struct {
	kept    bytes.Buffer
	limit   int
	dropped bool
}

func (b *bounded) String() string { return b.kept.String() }

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.kept.Len(); len(p) > room {
		b.dropped = true
		b.kept.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.kept.Write(p)
}

// watched ends a program once what it has written is enough. A program is written to by one goroutine, which Run waits for.
type watched struct {
	*bounded
	until func(string) bool
	end   func() error
	seen  bool
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.bounded.Write(p)
	if !w.seen && w.until(w.String()) {
		w.seen = true
		_ = w.end() // it may have ended by itself
	}
	return n, err
}
