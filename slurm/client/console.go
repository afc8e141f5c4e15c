package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A console is one live scontrol without a command: it reads commands from its standard input and carries each out as
// another scontrol would, so that one program does the work of hundreds. What belongs to a command is told by words that
// nobody can guess, one after it on each stream: `show hostlist WORD` prints WORD on standard output, and a WORD that is no
// command is complained about on standard error. Neither asks slurmctld.
//
// A console carries out one command at a time. It ends when its standard input does: a killed sidecar leaves none behind.
//
// Each has a stamp, another word that nobody can guess, and puts it in front of every time that it prints (SLURM_TIME_FORMAT):
// so what Slurm wrote into a job's record is told from what a user wrote there (see cuts.go).
type console struct {
	kind   kind
	stamp  string
	halt   func() // ends its program
	wait   func() // waits until it has ended
	stdin  io.WriteCloser
	stdout *stream
	stderr *stream
	born   time.Time
	used   time.Time // when it last ended a command

	ending sync.Mutex
	gone   bool // and its number may be another's
}

// listening is how long a console may take until it answers, which needs no slurmctld: a program that reads all of its input
// before it prints anything never does.
const listening = 10 * time.Second

// openConsole starts a scontrol, in a directory that is removed at once: what it would leave there it cannot write.
func (r *Runner) openConsole(k kind) (*console, error) {
	if r.execute != nil {
		return r.executedConsole(k), nil
	}
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	defer os.Remove(dir)
	stamp := newStamp()
	cmd := exec.Command(r.Path("scontrol"), "--oneliner", "--all")
	cmd.Env, cmd.Dir = append(slices.Clone(r.env), "SLURM_TIME_FORMAT="+stamp+"%s"), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe to scontrol: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe from scontrol: %w", err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe from scontrol: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	now := time.Now()
	return &console{kind: k, stamp: stamp, stdin: in, stdout: &stream{from: out}, stderr: &stream{from: errs}, born: now, used: now,
		halt: func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) },
		wait: func() { _ = cmd.Wait() }, // it closes the other pipes; how the program ended does not matter
	}, nil
}

// executedConsole returns a console whose scontrol the runner's executor carries out.
func (r *Runner) executedConsole(k kind) *console {
	stamp := newStamp()
	cmd := exec.Command(r.Path("scontrol"), "--oneliner", "--all")
	cmd.Env = append(slices.Clone(r.env), "SLURM_TIME_FORMAT="+stamp+"%s")
	stdin, stdout, stderr := newPipe(), newPipe(), newPipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	shut := func() { _ = errors.Join(stdin.Close(), stdout.Close(), stderr.Close()) }
	go func() {
		defer close(ended)
		_ = r.execute(ctx, cmd)
		shut()
	}()
	now := time.Now()
	return &console{kind: k, stamp: stamp, stdin: stdin, stdout: &stream{from: stdout}, stderr: &stream{from: stderr}, born: now, used: now,
		halt: func() { cancel(); shut() }, wait: func() { <-ended }}
}

// A pipe keeps what is written to it until it is read, as the operating system's do up to some size.
type pipe struct {
	mu      sync.Mutex
	changed *sync.Cond
	held    bytes.Buffer
	closed  bool
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// Write never waits. It fails once the pipe is closed.
func (p *pipe) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	p.changed.Broadcast()
	return p.held.Write(data)
}

// Read waits until something was written. It returns io.EOF once the pipe is closed and empty.
func (p *pipe) Read(into []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held.Len() == 0 && !p.closed {
		p.changed.Wait()
	}
	return p.held.Read(into)
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.changed.Broadcast()
	return nil
}

// newStamp is 80 bits of chance in letters and digits. With the seconds of a time it must fit the 31 characters that Slurm has
// for one until 23.02.
func newStamp() string { return rand.Text()[:16] }

// end ends the program and its children, and waits for it.
func (c *console) end() {
	c.kill()
	_ = c.stdin.Close()
	c.ending.Lock()
	defer c.ending.Unlock()
	c.wait()
	c.gone = true
}

// kill ends the program and its children; what waits for their words is woken.
func (c *console) kill() {
	c.ending.Lock()
	defer c.ending.Unlock()
	if !c.gone {
		c.halt()
	}
}

// listens finds out whether the console will carry out a command, without giving it one.
func (c *console) listens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listening)
	defer cancel()
	_, err := c.carryOut(ctx, "")
	return err
}

// carryOut gives the console commands, one a line, and returns what it prints. A command that fails is no error here:
// what it says is in stderr. After an error the console must be ended; the command may have been carried out.
func (c *console) carryOut(ctx context.Context, commands string) (output, error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	if commands != "" && !strings.HasSuffix(commands, "\n") {
		commands += "\n"
	}
	words := [2]string{"x" + rand.Text(), "x" + rand.Text()} // of standard output and standard error
	complaint := make(chan error, 1)
	var said []byte
	go func() {
		var err error
		said, err = c.stderr.until([]byte("invalid keyword: " + words[1] + "\n"))
		complaint <- err
	}()
	_, wrong := io.WriteString(c.stdin, commands+words[1]+"\nshow hostlist "+words[0]+"\n")
	if wrong != nil {
		c.kill()
	}
	printed, err := c.stdout.until([]byte("\n"+words[0]+"\n"), []byte(Prompt+words[0]+"\n"))
	if err != nil {
		c.kill() // who reads the other stream is woken
	}
	err = errors.Join(wrong, err, <-complaint)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	c.used = time.Now()
	return output{spokenOf(string(printed), commands, words), string(said), c.stamp}, err
}

// Prompt is what scontrol prints before it reads a command.
const Prompt = "scontrol: "

// spokenOf is what commands printed, without the prompts and the commands themselves, which a scontrol that was built with
// readline repeats. A long command is repeated in a way that suits a terminal, and stays.
func spokenOf(printed, commands string, words [2]string) string {
	printed = strings.TrimSuffix(printed, Prompt+"show hostlist "+words[0])
	if repeated, ok := strings.CutSuffix(printed, Prompt+words[1]+"\n"); ok {
		printed = repeated
	} else {
		printed = strings.TrimSuffix(printed, Prompt)
	}
	printed = strings.TrimPrefix(printed, Prompt)
	if strings.Count(commands, "\n") == 1 {
		printed = strings.TrimPrefix(printed, commands)
	}
	return printed
}

// A stream is what a console prints, read up to a word at a time.
type stream struct {
	from io.Reader
	held []byte // read, and not yet asked for
}

// until reads to one of the ends and returns what is before it. Before the end of a stream nothing is held back.
func (s *stream) until(ends ...[]byte) ([]byte, error) {
	longest := 0
	for _, e := range ends {
		longest = max(longest, len(e))
	}
	for looked := 0; ; {
		for _, e := range ends {
			if i := bytes.Index(s.held[looked:], e); i >= 0 {
				i += looked
				before := s.held[:i:i]
				s.held = append([]byte(nil), s.held[i+len(e):]...)
				return before, nil
			}
		}
		looked = max(0, len(s.held)-longest)
		if len(s.held) > maxOutput {
			return nil, fmt.Errorf("more than %d MB of output", maxOutput>>20)
		}
		if cap(s.held)-len(s.held) < 4<<10 {
			s.held = append(make([]byte, 0, 2*len(s.held)+16<<10), s.held...)
		}
		n, err := s.from.Read(s.held[len(s.held):cap(s.held)])
		s.held = s.held[:len(s.held)+n]
		if err != nil && n == 0 {
			return s.held, err
		}
	}
}
