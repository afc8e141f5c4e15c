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

// Streams are those of the calling process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// forwarded are the signals that each srun gets as it would from whoever called it. URG is Go's own.
var forwarded = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}

// Start carries a plan out and returns the exit status: the highest of all parts, and where one of them could not be started, its. It
// may be called once in a process, which ends soon after: until then signals go to the parts.
func Start(p Plan, environment []string, s Streams) int {
	// A part dies with the thread that has started it (Pdeathsig), and so with us.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader that went away is an error of write, as for srun

	c := &crew{plan: p, ended: make(chan ending, len(p.Parts)), verdict: make(chan bool, 1), err: &outlet{w: s.Err}}
	for _, w := range p.Warnings {
		c.say("%s", w)
	}
	if err := c.open(s); err != nil {
		c.say("%v", err)
		return 1
	}
	c.start(environment, s.In)
	return c.await(signals)
}

// crew is the parts while they run. One goroutine owns it; those that wait for a part only tell it.
type crew struct {
	plan     Plan
	members  []*member
	running  int
	tasksOut *outlet // what the tasks write on standard output
	tasksErr *outlet // and on standard error
	err      *outlet // our own
	ended    chan ending
	verdict  chan bool        // the site ends a step when a task of it fails
	asked    bool             // for the verdict
	ending   bool             // the others were told to end
	again    <-chan time.Time // when they are told again
	unfit    int              // exit status of a part that could not be started
	worst    int
}

// member is one part's srun.
type member struct {
	Part
	command *exec.Cmd
	voice   *voice
	flush   func() // at the end of all: half a line must not stand before another part's
	over    bool
}

// ending is how a part's srun ended.
type ending struct {
	of     *member
	status int
	state  string // of its job, when srun failed and the job does not run any more
}

func (c *crew) say(format string, args ...any) {
	fmt.Fprintf(c.err, "accordion run: "+format+"\n", args...)
}

// open opens the files of the tasks' output.
func (c *crew) open(s Streams) error {
	c.tasksOut, c.tasksErr = &outlet{w: s.Out}, c.err
	file := func(to Sink) (*outlet, error) {
		how := os.O_TRUNC
		if to.Append {
			how = os.O_APPEND
		}
		f, err := os.OpenFile(to.Path, os.O_WRONLY|os.O_CREATE|how, 0o666)
		return &outlet{w: f}, err
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

// start starts a srun for each part. When one cannot be started the others are ended.
func (c *crew) start(environment []string, in io.Reader) {
	var pipes []io.WriteCloser
	for _, p := range c.plan.Parts {
		m := c.member(p, environment)
		if p.Feeds {
			if pipe, err := m.command.StdinPipe(); err == nil {
				pipes = append(pipes, pipe)
			}
		}
		if err := m.command.Start(); err != nil {
			c.unfit = 1
			c.say("srun for allocation %s cannot be started: %v", p.Allocation, err)
			c.end()
			break
		}
		c.members = append(c.members, m)
		c.running++
		go func() { c.ended <- wait(m) }()
	}
	if len(pipes) > 0 {
		go feed(in, pipes)
	}
}

func (c *crew) member(p Part, environment []string) *member {
	m := &member{Part: p, voice: &voice{first: p.FirstTask, width: len(strconv.Itoa(c.plan.Tasks - 1)), label: c.plan.Label}}
	raw := c.plan.Raw && !c.plan.Label
	out := &srun.Writer{Raw: raw, Pass: func(line []byte) error {
		_, err := c.tasksOut.Write(m.voice.relabel(line))
		return err
	}}
	errs := &srun.Writer{Pass: func(line []byte) error {
		line, own := m.voice.hear(line)
		to := c.tasksErr
		switch {
		case raw: // it is there already
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
	m.command.WaitDelay = 5 * time.Second // when srun is over what it has started may keep our pipes for so long
	// A group of its own: a terminal's signals reach us, and we pass them on.
	m.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return m
}

// wait waits for a part. When it fails because its allocation has ended, the state of that is told.
func wait(m *member) ending {
	err := m.command.Wait()
	e := ending{of: m, status: status(m.command.ProcessState)}
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

// status is an exit status as a shell counts it.
func status(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// await passes signals on until every part has ended.
func (c *crew) await(signals <-chan os.Signal) int {
	var late <-chan time.Time
	for c.running > 0 {
		select {
		case s := <-signals:
			c.signal(s)
		case e := <-c.ended:
			c.over(e)
			if late == nil && c.plan.Wait > 0 {
				late = time.After(c.plan.Wait)
			}
		case <-late:
			c.say("the first allocation's tasks ended %v ago: the others are ended (--wait)", c.plan.Wait)
			c.end()
		case kills := <-c.verdict:
			if kills {
				c.end()
			}
		case <-c.again:
			c.end()
		}
	}
	for _, m := range c.members {
		m.flush()
	}
	if c.unfit != 0 {
		return c.unfit
	}
	return c.worst
}

// over takes in that a part has ended.
func (c *crew) over(e ending) {
	c.running--
	e.of.over = true
	c.worst = max(c.worst, e.status)
	if e.status == 0 {
		return
	}
	why := e.of.voice.said.WhyNot()
	switch {
	case c.ending: // it was told to
	case why != "":
		c.unfit = e.status
		c.say("allocation %s: its tasks could not be started: %s%s", e.of.Allocation, why, c.others())
		c.end()
	case e.state != "":
		c.say("allocation %s has ended (%s) while its tasks ran", e.of.Allocation, e.state)
	}
	switch {
	case c.ending || c.running == 0 || c.plan.KillOnBad == No:
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

func (c *crew) others() string {
	if c.running == 0 {
		return ""
	}
	return "; the others are ended"
}

// signal passes a signal on to every srun that runs.
func (c *crew) signal(s os.Signal) {
	for _, m := range c.members {
		if !m.over {
			_ = m.command.Process.Signal(s) // it may be ending
		}
	}
}

// end ends all parts that run. TERM makes srun end its tasks; one that just makes its step may pass it on to tasks that do not run yet.
func (c *crew) end() {
	c.ending, c.again = true, time.After(endAgain)
	c.signal(syscall.SIGTERM)
}

// endAgain is after how long parts that run on are told again.
const endAgain = 5 * time.Second
