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
	kind    Kind
	stamp   string
	halt    func() // ends its program
	wait    func() // waits until it has ended
	stdin   io.WriteCloser
	stdout  *stream
	stderr  *stream
	started time.Time
	used    time.Time // when it last ended a command

	ending sync.Mutex
	gone   bool // and its number may be another's
}

// answerTimeout is how long a console may take until it answers, which needs no slurmctld: a program that reads all of its input
// before it prints anything never does.
const answerTimeout = 10 * time.Second

// openConsole starts a scontrol, in a directory that is removed at once: what it would leave there it cannot write.
func (r *Runner) openConsole(k Kind) (*console, error) {
	now := time.Now()
	c := &console{kind: k, stamp: newStamp(), started: now, used: now}
	cmd := exec.Command(r.Path("scontrol"), "--oneliner", "--all")
	cmd.Env = append(slices.Clone(r.env), "SLURM_TIME_FORMAT="+c.stamp+"%s")
	if r.execute != nil {
		c.execute(cmd, r.execute)
		return c, nil
	}
	dir, err := scratchDir()
	if err != nil {
		return nil, err
	}
	defer os.Remove(dir)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	errs, errErr := cmd.StderrPipe()
	if err := errors.Join(errIn, errOut, errErr); err != nil {
		return nil, fmt.Errorf("pipes to scontrol: %w", err)
	}
	c.stdin, c.stdout, c.stderr = in, &stream{from: out}, &stream{from: errs}
	c.halt = func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	c.wait = func() { _ = cmd.Wait() } // it closes the other pipes; how the program ended does not matter
	return c, cmd.Start()
}

// execute has the runner's executor carry out the console's scontrol.
func (c *console) execute(cmd *exec.Cmd, by Executor) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	stderr, errs := io.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	c.stdin, c.stdout, c.stderr = stdin, &stream{from: stdout}, &stream{from: stderr}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	c.halt = func() {
		cancel()
		_ = errors.Join(in.Close(), out.Close(), errs.Close())
	}
	c.wait = func() { <-ended }
	go func() {
		defer close(ended)
		_ = by(ctx, cmd)
		c.halt()
	}()
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

// answers finds out whether the console will carry out a command, without giving it one.
func (c *console) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err := c.carryOut(ctx, "")
	return err
}

// carryOut gives the console commands, one a line, and returns what it prints. A command that fails is no error here:
// what it says is in stderr. After an error the console must be ended; the command may have been carried out.
func (c *console) carryOut(ctx context.Context, commands string) (Output, error) {
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
	written := make(chan error, 1)
	go func() { // it may print before it has read all
		_, err := io.WriteString(c.stdin, commands+words[1]+"\nshow hostlist "+words[0]+"\n")
		if err != nil {
			c.kill()
		}
		written <- err
	}()
	printed, err := c.stdout.until([]byte("\n"+words[0]+"\n"), []byte(Prompt+words[0]+"\n"))
	if err != nil {
		c.kill() // who reads the other stream is woken
	}
	err = errors.Join(<-written, err, <-complaint)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	c.used = time.Now()
	return Output{withoutPrompts(string(printed), commands, words), string(said), c.stamp}, err
}

// Prompt is what scontrol prints before it reads a command.
const Prompt = "scontrol: "

// withoutPrompts is what commands printed, without the prompts and the commands themselves, which a scontrol that was built with
// readline repeats. A long command is repeated in a way that suits a terminal, and stays.
func withoutPrompts(printed, commands string, words [2]string) string {
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
