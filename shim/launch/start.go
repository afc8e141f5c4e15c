package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"accordion/shim/allocation"
	"accordion/shim/srun"
)

// Streams are the streams of the calling process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// forwarded are the signals that are passed on to each srun. URG is not among them, because the Go runtime uses it.
var forwarded = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}

// Start executes a plan. It returns the highest exit status of all parts, or the status of a part that could not be started. It may be
// called only once in a process. The process must end soon after, because all its signals are passed on to the parts.
func Start(p Plan, environment []string, s Streams) int {
	// A part is killed when the thread that started it ends (Pdeathsig), and so when this process ends.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // so that a closed pipe is a write error, as in srun, and not a signal

	c := &execution{plan: p, ended: make(chan partEnd, len(p.Parts)), verdict: make(chan bool, 1), err: &sharedWriter{w: s.Err}}
	for _, w := range p.Warnings {
		c.printf("%s", w)
	}
	if err := c.open(s); err != nil {
		c.printf("%v", err)
		return 1
	}
	c.start(environment, s.In)
	return c.await(signals)
}

// execution is the running parts. Only one goroutine uses it; the goroutines that wait for the parts send to its
// channels.
type execution struct {
	plan        Plan
	processes   []*process
	running     int
	tasksOut    *sharedWriter // standard output of the tasks
	tasksErr    *sharedWriter // standard error of the tasks
	err         *sharedWriter // our own standard error
	ended       chan partEnd
	verdict     chan bool        // whether the cluster ends a step when one of its tasks fails
	asked       bool             // the cluster's setting was requested (see verdict)
	stopping    bool             // the other parts were sent a signal to end
	again       <-chan time.Time // when TERM is sent again to the parts that still run
	startStatus int              // exit status of a part that could not be started
	worst       int
}

// process is the srun of one part.
type process struct {
	Part
	command *exec.Cmd
	labels  *labels
	flush   func() // called after all parts have ended, so that an incomplete line does not precede another part's line
	done    bool
}

// partEnd describes how the srun of a part ended.
type partEnd struct {
	of     *process
	status int
	state  string // state of the part's job, if srun failed and the job no longer runs
}

func (c *execution) printf(format string, args ...any) {
	fmt.Fprintf(c.err, "accordion run: "+format+"\n", args...)
}

// open opens the files for the tasks' output.
func (c *execution) open(s Streams) error {
	c.tasksOut, c.tasksErr = &sharedWriter{w: s.Out}, c.err
	file := func(to Sink) (*sharedWriter, error) {
		how := os.O_TRUNC
		if to.Append {
			how = os.O_APPEND
		}
		f, err := os.OpenFile(to.Path, os.O_WRONLY|os.O_CREATE|how, 0o666)
		return &sharedWriter{w: f}, err
	}
	var err error
	if c.plan.Out.Path != "" {
		if c.tasksOut, err = file(c.plan.Out); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	switch {
	case c.plan.Err.Path == "":
	case c.plan.Err == c.plan.Out:
		c.tasksErr = c.tasksOut
	default:
		if c.tasksErr, err = file(c.plan.Err); err != nil {
			return fmt.Errorf("--error: %w", err)
		}
	}
	return nil
}

// start starts an srun for each part. If an srun cannot be started, the other parts are ended.
func (c *execution) start(environment []string, in io.Reader) {
	var pipes []io.WriteCloser
	for _, p := range c.plan.Parts {
		m := c.process(p, environment)
		if p.Feeds {
			if pipe, err := m.command.StdinPipe(); err == nil {
				pipes = append(pipes, pipe)
			}
		}
		if err := m.command.Start(); err != nil {
			c.startStatus = 1
			c.printf("srun for allocation %s cannot be started: %v", p.Allocation, err)
			c.end()
			break
		}
		c.processes = append(c.processes, m)
		c.running++
		go func() { c.ended <- wait(m) }()
	}
	if len(pipes) > 0 {
		go feed(in, pipes)
	}
}

func (c *execution) process(p Part, environment []string) *process {
	m := &process{Part: p, labels: &labels{first: p.FirstTask, width: len(strconv.Itoa(c.plan.Tasks - 1)), label: c.plan.Label}}
	raw := c.plan.Raw && !c.plan.Label
	out := &srun.Writer{Raw: raw, Pass: func(line []byte) error {
		_, err := c.tasksOut.Write(m.labels.relabel(line))
		return err
	}}
	errs := &srun.Writer{Pass: func(line []byte) error {
		line, own := m.labels.convert(line)
		to := c.tasksErr
		switch {
		case raw: // the line was written already
			return nil
		case own:
			to = c.err
		}
		_, err := to.Write(line)
		return err
	}}
	m.flush = func() { out.Flush(); errs.Flush() }
	m.command = exec.Command("srun", p.Arguments...)
	m.command.Env = srun.For(p.Job, environment)
	m.command.Stdout, m.command.Stderr = out, errs
	if raw {
		m.command.Stderr = io.MultiWriter(c.tasksErr, errs)
	}
	m.command.WaitDelay = 5 * time.Second // how long processes that srun has started may keep our pipes open after srun's end
	// srun gets a process group of its own, because a terminal's signals reach this process, which passes them on.
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return m
}

// wait waits for the end of a part. If the part failed because its allocation has ended, the result has the state of the allocation's job.
func wait(m *process) partEnd {
	err := m.command.Wait()
	e := partEnd{of: m, status: status(m.command.ProcessState)}
	if err == nil || e.status == 0 {
		return e
	}
	switch job, err := allocation.Show(context.Background(), m.Job); {
	case errors.Is(err, allocation.ErrUnknown):
		e.state = "unknown to Slurm"
	case err == nil && !job.Runs():
		e.state = job.State
	}
	return e
}

// status returns an exit status as a shell counts it.
func status(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// await waits until all parts have ended, and passes signals on to them.
func (c *execution) await(signals <-chan os.Signal) int {
	var late <-chan time.Time
	for c.running > 0 {
		select {
		case s := <-signals:
			c.signal(s)
		case e := <-c.ended:
			c.partEnded(e)
			if late == nil && c.plan.Wait > 0 {
				late = time.After(c.plan.Wait)
			}
		case <-late:
			c.printf("the first allocation's tasks ended %v ago: the others are ended (--wait)", c.plan.Wait)
			c.end()
		case kills := <-c.verdict:
			if kills {
				c.end()
			}
		case <-c.again:
			c.end()
		}
	}
	for _, m := range c.processes {
		m.flush()
	}
	if c.startStatus != 0 {
		return c.startStatus
	}
	return c.worst
}

// partEnded handles the end of a part.
func (c *execution) partEnded(e partEnd) {
	c.running--
	e.of.done = true
	c.worst = max(c.worst, e.status)
	if e.status == 0 {
		return
	}
	why := e.of.labels.messages.StartError()
	switch {
	case c.stopping: // the part was sent a signal to end
	case why != "":
		c.startStatus = e.status
		c.printf("allocation %s: its tasks could not be started: %s%s", e.of.Allocation, why, c.others())
		c.end()
	case e.state != "":
		c.printf("allocation %s has ended (%s) while its tasks ran", e.of.Allocation, e.state)
	}
	switch {
	case c.stopping || c.running == 0 || c.plan.KillOnBad == No:
	case c.plan.KillOnBad == Yes:
		c.end()
	case !c.asked:
		c.asked = true
		go func() {
			kills, err := allocation.KillsOnBadExit(context.Background())
			c.verdict <- kills && err == nil
		}()
	}
}

func (c *execution) others() string {
	if c.running == 0 {
		return ""
	}
	return "; the others are ended"
}

// signal passes a signal on to every srun that runs.
func (c *execution) signal(s os.Signal) {
	for _, m := range c.processes {
		if !m.done {
			_ = m.command.Process.Signal(s) // it may just be ending
		}
	}
}

// end sends TERM to the sruns of all running parts. Each srun then ends its tasks. An srun that is just creating its
// step may pass TERM on before its tasks run, so end is called repeatedly.
func (c *execution) end() {
	c.stopping, c.again = true, time.After(endAgain)
	c.signal(syscall.SIGTERM)
}

// endAgain is the pause before TERM is sent again to parts that still run.
const endAgain = 5 * time.Second
