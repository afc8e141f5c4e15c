package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"accordion/core/hostlist"
	"accordion/shim/allocation"
	"accordion/shim/srun"
)

// Unreachable is the exit status when the command could not be started on the host, as ssh's.
const Unreachable = 255

// World is what an agent depends on beside its command line.
type World struct {
	Environment []string // os.Environ()
	Getenv      func(name string) (string, bool)
	User        string // who we are
	Shell       string // his login shell: launchers write their commands for that
	In          *os.File
	Out, Err    io.Writer
}

// place is where a command runs.
type place struct {
	job  int64
	node string
}

// find is the place that has the host.
func find(w World, c Call) (place, error) {
	if c.User != "" && c.User != w.User {
		return place{}, fmt.Errorf("as user %s: a job's steps are its own user's (%s)", c.User, w.User)
	}
	list, err := allocation.Find(w.Getenv)
	if err != nil {
		return place{}, err
	}
	if len(list) > 0 {
		a, node, ok := list.Of(c.Host)
		if !ok {
			return place{}, fmt.Errorf("it is in none of the job's allocations: %s", list)
		}
		return place{a.Job, node}, nil
	}
	text, _ := w.Getenv("SLURM_JOB_ID")
	job, err := strconv.ParseInt(text, 10, 64)
	if err != nil || job <= 0 {
		return place{}, errors.New("this is no job of Slurm (SLURM_JOB_ID is not set)")
	}
	nodes, _ := w.Getenv("SLURM_JOB_NODELIST")
	if held, err := hostlist.Expand(nodes); err == nil { // it may be of earlier nodes: Slurm judges
		if _, node, ok := (allocation.List{{Job: job, Nodes: held}}).Of(c.Host); ok {
			return place{job, node}, nil
		}
	}
	return place{job, c.Host}, nil
}

// arguments of srun for a step that has all of the node that is the job's. Memory 0 stands for all of it, and does not count.
func (p place) arguments(c Call, shell, gres string) []string {
	all := []string{
		"--jobid=" + strconv.FormatInt(p.job, 10), "--nodes=1", "--ntasks=1", "--nodelist=" + p.node,
		"--overlap", "--cpu-bind=none", "--mem=0", "--mpi=none", "--export=ALL", "--job-name=accordion-agent",
	}
	if gres != "" { // else a step of one task has no more devices than a task of the job
		all = append(all, "--gres="+gres)
	}
	if c.NoInput {
		all = append(all, "--input=none")
	}
	return append(all, "--", shell, "-c", attached(c.Command))
}

// Run runs the command and returns its exit status; Unreachable, with a line that says which host and why, where it could not be
// started. It may be called once in a process.
func Run(ctx context.Context, c Call, w World) int {
	status, err := run(ctx, c, w)
	if err != nil {
		fmt.Fprintf(w.Err, "accordion agent: %s cannot be reached: %v\n", c.Host, err)
		return Unreachable
	}
	return status
}

func run(ctx context.Context, c Call, w World) (status int, err error) {
	p, err := find(w, c)
	if err != nil {
		return 0, err
	}
	gres := ""
	switch job, err := allocation.Show(ctx, p.job); {
	case errors.Is(err, allocation.ErrUnknown):
		return 0, fmt.Errorf("allocation %d is over: %w", p.job, err)
	case err != nil: // srun may still get through
	case !job.Runs():
		return 0, fmt.Errorf("allocation %d is over: it is %s", p.job, job.State)
	case !slices.Contains(job.Nodes, p.node):
		return 0, fmt.Errorf("allocation %d has %s", p.job, hostlist.Compact(job.Nodes))
	default:
		gres = job.Gres(p.node)
	}
	return p.step(p.arguments(c, w.Shell, gres), w)
}

// step runs srun until its end. What ends the agent ends the step.
func (p place) step(arguments []string, w World) (status int, err error) {
	runtime.LockOSThread() // srun dies with the thread that has started it
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)

	var said srun.Said
	errs := &srun.Writer{Pass: func(line []byte) error {
		if said.Hear(strings.TrimRight(string(line), "\n")) {
			return nil // ssh says nothing of a command's status either
		}
		_, err := w.Err.Write(line)
		return err
	}}
	command := exec.Command("srun", arguments...)
	command.Env = srun.Bare(withoutLaunchers(w.Environment))
	command.Stdin, command.Stdout, command.Stderr = w.In, w.Out, errs
	command.WaitDelay = 5 * time.Second
	// A group of its own: a terminal's ^C is the launcher's business.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start srun: %w", err)
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				_ = command.Process.Signal(syscall.SIGTERM) // it may be ending
			case <-over:
				return
			}
		}
	}()
	_ = command.Wait() // its state says it
	close(over)
	errs.Flush()
	if why := said.WhyNot(); why != "" && !command.ProcessState.Success() {
		return 0, fmt.Errorf("allocation %d: %s", p.job, why)
	}
	if ws, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return command.ProcessState.ExitCode(), nil
}

// LoginShell is the shell that a user's entry in passwd names, as ssh would start it; without one $SHELL, else /bin/sh.
func LoginShell(ctx context.Context, uid int, getenv func(string) (string, bool)) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	entry, _ := exec.CommandContext(ctx, "getent", "passwd", strconv.Itoa(uid)).Output()
	shell := ""
	if fields := strings.Split(strings.TrimSpace(string(entry)), ":"); len(fields) == 7 {
		shell = fields[6]
	}
	if shell == "" {
		shell, _ = getenv("SHELL")
	}
	if !strings.HasPrefix(shell, "/") || strings.HasSuffix(shell, "/nologin") || strings.HasSuffix(shell, "/false") {
		return "/bin/sh"
	}
	return shell
}
