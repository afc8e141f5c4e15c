// Package client runs Slurm's client programs. Each program has a deadline and a clean environment. Few run at the
// same time, and no more per minute than the administrator allows. If possible a console carries out the command. A
// console is one scontrol for many commands. The package does not parse output.
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

// maxOutput is how many bytes of a program's output are kept. The list of 100,000 jobs takes about 20 MB.
const maxOutput = 256 << 20

// A Failure is the error of a client program that refused its command or did not finish in time.
type Failure struct {
	Command string // the program and its arguments
	Code    int    // exit code; -1 if the program exceeded its deadline or never began
	Said    string // standard error; if that is empty, the beginning of standard output
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

// Says reports whether err is a Failure whose message contains one of the words, in upper or lower case.
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

// A Runner runs Slurm's client programs. After a deadline none of a program's processes is left behind.
type Runner struct {
	bin      string   // directory of the programs; "" means that PATH is searched
	env      []string // the programs' whole environment
	Timeout  time.Duration
	slots    *fair.Gate // limits how many programs run at the same time
	Pace     *Allowance // limits how many programs start in a minute
	Consoles consoles
	execute  Executor
}

// An Executor runs a client program to its end. The command's path, arguments, environment and streams are set. An
// Executor returns nil for the exit code 0, otherwise an error with the method ExitCode. When ctx ends, the
// Executor ends the program.
type Executor func(ctx context.Context, cmd *exec.Cmd) error

// Config holds the settings for running Slurm's client programs.
type Config struct {
	Bin     string        // directory of the programs; "" means that PATH is searched
	Conf    string        // path of slurm.conf; "" means SLURM_CONF of the environment, or the clients' own default
	Timeout time.Duration // of each program
	AtOnce  int           // how many programs may run at the same time
	Clients int           // how many programs may begin in a minute; 0 means no limit
	Execute Executor      // runs the programs; nil means that they run as processes of the operating system
}

// New returns a Runner. Its environment holds only what the programs need. A SQUEUE_FORMAT, SLURM_TIME_FORMAT or
// SALLOC_PARTITION of the administrator's shell would change what the programs print and do.
func New(c Config) *Runner {
	r := &Runner{bin: c.Bin, Timeout: c.Timeout, slots: fair.NewGate(c.AtOnce, 1, time.Now), Pace: newAllowance(c.Clients), execute: c.Execute}
	r.env = []string{
		"LC_ALL=C",
		"TZ=UTC",                  // together with the next line: no time is ambiguous when daylight saving time ends
		"SLURM_TIME_FORMAT=%s",    // seconds since 1970
		"SLURM_BITSTR_LEN=0",      // all pending elements of an array
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

// A Call is one run of a program, or of a console instead of the program.
type Call struct {
	Program string
	Args    []string
	Input   string
	Env     []string                 // environment variables added to the Runner's
	Kind    Kind                     // the kind of console that may run it
	Stamped bool                     // only a console may run it, and its output keeps the stamp in front of each time; without a console Run returns ErrSilent
	As      *User                    // the user as whom the program runs; nil means the sidecar's own user
	Until   func(stderr string) bool // if not nil, the program is ended as soon as Until returns true for its standard error
}

// A User identifies a user by number, because not every controller knows its users by name.
type User struct{ Uid, Gid uint32 }

// An Output is what a program printed. `Stamp` is "" unless the call is Stamped.
type Output struct{ Stdout, Stderr, Stamp string }

// Run carries out the call and returns the output. It uses a console if possible, and otherwise a program of its
// own. The error is a *Failure. If the context ended before anything began, it is the context's error.
func (r *Runner) Run(ctx context.Context, c Call) (Output, error) {
	if !r.Consoles.Speaks() && c.Stamped {
		return Output{}, ErrSilent
	}
	if command := consoleCommand(c); command != "" && r.Consoles.Speaks() {
		leave, err := r.slots.Enter(ctx)
		if err != nil {
			return Output{}, fmt.Errorf("%s: not started: %w", c.Program, err)
		}
		out, err := r.tell(ctx, c, command)
		leave()
		if c.Stamped || !errors.Is(err, ErrSilent) {
			return out, err
		}
	}
	return r.program(ctx, c)
}

// program waits for its turn and a slot, and runs the program until its end or its deadline.
func (r *Runner) program(ctx context.Context, c Call) (Output, error) {
	turn, err := r.Pace.Turn(ctx)
	if err != nil {
		return Output{}, fmt.Errorf("%s: not started, %d client programs began within a minute: %w", c.Program, r.Pace.Limit, err)
	}
	leave, err := r.slots.Enter(ctx)
	if err != nil {
		r.Pace.giveBack(turn)
		return Output{}, fmt.Errorf("%s: not started: %w", c.Program, err)
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
	// The whole process group is killed, because a child that keeps the output pipe open would delay the end of the
	// call.
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
	if strings.TrimSpace(f.Said) == "" { // "Reservation r not found" is printed on standard output
		f.Said = out.Stdout[:min(len(out.Stdout), 4096)]
	}
	if ctx.Err() != nil {
		f.Cause = ctx.Err()
	} else if exit := interface{ ExitCode() int }(nil); errors.As(err, &exit) {
		f.Code = exit.ExitCode()
	}
	return out, f
}

// scratchDir creates a directory in which a scontrol runs. After an update of a running job's nodes, scontrol
// writes scripts for the job's owner into its working directory. The sidecar does not need them.
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

// commandLine returns a call as one short line, for errors.
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

// A bounded is a writer that keeps only the first `limit` bytes. It does not embed a bytes.Buffer, whose
// ReadFrom would keep everything.
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

// An untilDone ends a program once its output shows that it is done. One goroutine writes, and Run waits for it.
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
		_ = w.end() // the program may have ended
	}
	return n, err
}

// Begun returns how many programs were started so far.
func (r *Runner) Begun() int64 {
	r.Pace.mu.Lock()
	defer r.Pace.mu.Unlock()
	return r.Pace.total
}

// Close ends the idle consoles. The Runner may be used after Close, and then starts new consoles.
func (r *Runner) Close() { r.Consoles.close() }
