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

// A console is a live scontrol process without a command. It reads commands from its standard input and carries each
// out as a separate scontrol would, so that one program does the work of hundreds. A random word on each stream marks
// the end of a command's output. `show hostlist WORD` prints WORD on standard output. A WORD that is not a command
// causes an error message on standard error. Neither of these two commands contacts slurmctld.
//
// A console carries out one command at a time. It ends when its standard input is closed, so no console outlives a
// killed sidecar.
//
// Each console has a stamp, another random word, which it prints in front of every time (SLURM_TIME_FORMAT). The
// stamp distinguishes what Slurm wrote into a job's record from what a user wrote there (see cuts.go in slurm/jobs).
type console struct {
	kind    Kind
	stamp   string
	halt    func() // ends its program
	wait    func() // waits until it has ended
	stdin   io.WriteCloser
	stdout  *stream
	stderr  *stream
	started time.Time
	used    time.Time // when its last command ended

	ending sync.Mutex
	gone   bool // the program has ended, so its pid may belong to another process
}

// answerTimeout is how long a console may take to answer a command that does not contact slurmctld. A program that
// reads all of its input before it prints would never answer.
const answerTimeout = 10 * time.Second

// openConsole starts a scontrol in a directory that it removes immediately, so that scontrol cannot leave files
// there.
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
	c.wait = func() { _ = cmd.Wait() } // Wait also closes the other pipes; the exit status does not matter
	return c, cmd.Start()
}

// execute runs the console's scontrol with the runner's executor.
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

// newStamp returns 80 random bits as letters and digits. The stamp and the seconds of a time must together fit into
// 31 characters, the space for a time in Slurm until 23.02.
func newStamp() string { return rand.Text()[:16] }

// end ends the program and its children, and waits for the program.
func (c *console) end() {
	c.kill()
	_ = c.stdin.Close()
	c.ending.Lock()
	defer c.ending.Unlock()
	c.wait()
	c.gone = true
}

// kill ends the program and its children, so that readers of their output return.
func (c *console) kill() {
	c.ending.Lock()
	defer c.ending.Unlock()
	if !c.gone {
		c.halt()
	}
}

// answers checks that the console responds, without a command that contacts slurmctld.
func (c *console) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err := c.carryOut(ctx, "")
	return err
}

// carryOut sends the console commands, one per line, and returns the console's output. If a command fails, its
// message is in Stderr, and carryOut returns no error. If carryOut returns an error, the commands may have been
// carried out, and the caller must end the console.
func (c *console) carryOut(ctx context.Context, commands string) (Output, error) {
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	if commands != "" && !strings.HasSuffix(commands, "\n") {
		commands += "\n"
	}
	words := [2]string{"x" + rand.Text(), "x" + rand.Text()} // they mark the ends of standard output and standard error
	complaint := make(chan error, 1)
	var said []byte
	go func() {
		var err error
		said, err = c.stderr.until([]byte("invalid keyword: " + words[1] + "\n"))
		complaint <- err
	}()
	written := make(chan error, 1)
	go func() { // the console may print before it has read everything
		_, err := io.WriteString(c.stdin, commands+words[1]+"\nshow hostlist "+words[0]+"\n")
		if err != nil {
			c.kill()
		}
		written <- err
	}()
	printed, err := c.stdout.until([]byte("\n"+words[0]+"\n"), []byte(Prompt+words[0]+"\n"))
	if err != nil {
		c.kill() // wakes the reader of the other stream
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

// withoutPrompts returns the output of the commands. It removes prompts, and the commands themselves, which a
// scontrol built with readline echoes. The echo of a long command contains terminal codes and is not removed.
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

// A stream is an output of a console. It is read up to given words.
type stream struct {
	from io.Reader
	held []byte // read but not returned yet
}

// until reads up to one of the words `ends` and returns the text before that word. At the end of the stream it
// returns everything.
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
