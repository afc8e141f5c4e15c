// Package client runs Slurm's client programs: each with a deadline, few at once, in a clean environment, by a console that
// carries out many commands where one can do it, and no more of them in a minute than the administrator allows. What they print is
// not its matter.
//
//	run := client.New(client.Config{Timeout: 20 * time.Second, AtOnce: 6})
//	out, err := run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"show", "config"}})
package client

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

	"accordion/adapter/fair"
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

// Says is true when err is a Failure whose message contains one of the words, whatever their case.
func Says(err error, words ...string) bool {
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

// Runner runs external programs: each with a deadline, few at once, in a clean environment, and with nothing left
// behind when the deadline passes.
type Runner struct {
	bin     string   // directory of the clients; "": PATH
	env     []string // all of the programs' environment
	Timeout time.Duration
	slots   *fair.Gate // of what runs at the same time
	Pace    *Allowance // programs a minute
	Talk    consoles
	execute Executor
}

// An Executor runs a client program, whose path, arguments, environment and streams are set, to its end. It returns nil for the exit
// code 0, else an error with the method ExitCode. When ctx ends it ends the program.
type Executor func(ctx context.Context, cmd *exec.Cmd) error

// Config is how Slurm's client programs are run.
type Config struct {
	Bin     string        // their directory; "": PATH
	Conf    string        // path of slurm.conf; "": SLURM_CONF, or the clients' own default
	Timeout time.Duration // of each run
	AtOnce  int           // that run at the same time
	Clients int           // that begin in a minute; 0: no bound
	Execute Executor      // carries them out; nil: the operating system
}

// New prepares a runner. The environment holds what the clients need and nothing of ours: a SQUEUE_FORMAT,
// SLURM_TIME_FORMAT or SALLOC_PARTITION of the administrator's shell would change what they print and do.
func New(c Config) *Runner {
	r := &Runner{bin: c.Bin, Timeout: c.Timeout, slots: fair.NewGate(c.AtOnce, 1, time.Now), Pace: newAllowance(c.Clients), execute: c.Execute}
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

// Call is one run of a program, or what a console does in its place.
type Call struct {
	Program string
	Args    []string
	Input   string
	Env     []string                 // added to the runner's
	Kind    Kind                     // of the console that suits it
	Stamped bool                     // by a console, which leaves its stamp in front of each time, or not at all (errSilent)
	As      *User                    // who runs it; nil: ourselves
	Until   func(stderr string) bool // it has done what it was asked to, as it says: it is ended then. nil: it ends by itself
}

// User is an account that runs a program, by number: not every controller knows its users by name.
type User struct{ Uid, Gid uint32 }

// Output is what a program printed. The stamp is "" unless the call asks for it.
type Output struct{ Stdout, Stderr, Stamp string }

// Run has the call carried out: by a console where one can do it, else by a program of its own. It returns what was printed.
// The error is a *Failure, or the context's when it ended before anything began.
func (r *Runner) Run(ctx context.Context, c Call) (Output, error) {
	if !r.Talk.Speaks() && c.Stamped {
		return Output{}, ErrSilent
	}
	if command := consoleCommand(c); command != "" && r.Talk.Speaks() {
		leave, err := r.slots.Enter(ctx)
		if err != nil {
			return Output{}, fmt.Errorf("%s: not begun: %w", c.Program, err)
		}
		out, err := r.tell(ctx, c, command)
		leave()
		if c.Stamped || !errors.Is(err, ErrSilent) {
			return out, err
		}
	}
	return r.program(ctx, c)
}

// program waits for its turn and a slot, and runs the program to its end or its deadline.
func (r *Runner) program(ctx context.Context, c Call) (Output, error) {
	turn, err := r.Pace.Turn(ctx)
	if err != nil {
		return Output{}, fmt.Errorf("%s: not begun, %d client programs began within a minute: %w", c.Program, r.Pace.Limit, err)
	}
	leave, err := r.slots.Enter(ctx)
	if err != nil {
		r.Pace.give(turn)
		return Output{}, fmt.Errorf("%s: not begun: %w", c.Program, err)
	}
	defer leave()
	r.Pace.Begin(turn)
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()

	cmd := exec.CommandContext(ctx, r.Path(c.Program), c.Args...)
	cmd.Env = append(append([]string(nil), r.env...), c.Env...)
	if cmd.Dir = "/"; c.Program == "scontrol" && r.execute == nil {
		if cmd.Dir, err = scratchDir(); err != nil {
			return Output{}, err
		}
		defer os.RemoveAll(cmd.Dir)
	}
	cmd.Stdin = strings.NewReader(c.Input)
	stdout, stderr := &bounded{limit: maxOutput}, &bounded{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	// The whole group is killed: a client's child that keeps our pipe open would keep us waiting.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.As != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.As.Uid, Gid: c.As.Gid}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	end, run := cmd.Cancel, cmd.Run
	if r.execute != nil {
		end, run = func() error { cancel(); return nil }, func() error { return r.execute(ctx, cmd) }
	}
	enough := &untilDone{bounded: stderr, until: c.Until, end: end}
	if c.Until != nil {
		cmd.Stderr = enough
	}

	err = run()
	out := Output{Stdout: stdout.String(), Stderr: stderr.String()}
	if enough.seen {
		return out, nil
	}
	if err == nil && stdout.dropped {
		err = fmt.Errorf("more than %d MB of output", maxOutput>>20)
	}
	if err == nil {
		return out, nil
	}
	f := &Failure{Command: commandLine(c), Code: -1, Said: out.Stderr, Cause: err}
	if strings.TrimSpace(f.Said) == "" { // "Reservation r not found" comes on standard output
		f.Said = out.Stdout[:min(len(out.Stdout), 4096)]
	}
	if ctx.Err() != nil {
		f.Cause = ctx.Err()
	} else if exit := interface{ ExitCode() int }(nil); errors.As(err, &exit) {
		f.Code = exit.ExitCode()
	}
	return out, f
}

// scratchDir makes a directory for a scontrol: after an update that changes a running job's nodes it leaves scripts for the
// job's owner in the directory it is in, which are of no use here.
func scratchDir() (string, error) {
	dir, err := os.MkdirTemp("", "accordion-scontrol-")
	if err != nil {
		return "", fmt.Errorf("a directory for scontrol: %w", err)
	}
	return dir, nil
}

// Scontrol runs one scontrol command.
func (r *Runner) Scontrol(ctx context.Context, args ...string) error {
	_, err := r.Run(ctx, Call{Program: "scontrol", Args: args})
	return err
}

// Path returns the path of one of Slurm's programs.
func (r *Runner) Path(program string) string {
	if r.bin == "" {
		return program
	}
	return filepath.Join(r.bin, program)
}

// commandLine is how a call reads in an error: short, on one line.
func commandLine(c Call) string {
	text := strings.Join(append([]string{c.Program}, c.Args...), " ")
	if c.Input != "" {
		text += " <<< " + strings.TrimSpace(c.Input)
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

// untilDone ends a program once what it has written is enough. A program is written to by one goroutine, which Run waits for.
type untilDone struct {
	*bounded
	until func(string) bool
	end   func() error
	seen  bool
}

func (w *untilDone) Write(p []byte) (int, error) {
	n, err := w.bounded.Write(p)
	if !w.seen && w.until(w.String()) {
		w.seen = true
		_ = w.end() // it may have ended by itself
	}
	return n, err
}

// Begun is how many programs were begun so far.
func (r *Runner) Begun() int64 {
	r.Pace.mu.Lock()
	defer r.Pace.mu.Unlock()
	return r.Pace.total
}

// Close ends the programs that wait for commands. The runner may be used again: it starts others.
func (r *Runner) Close() { r.Talk.close() }
