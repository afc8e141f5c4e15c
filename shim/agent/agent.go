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

// Unreachable is the exit status when the command could not be started on the host. It is the same as ssh's.
const Unreachable = 255

// World contains what an agent needs in addition to its command line.
type World struct {
	Environment []string // os.Environ()
	Getenv      func(name string) (string, bool)
	User        string // the present user
	Shell       string // the user's login shell, for which launchers write their commands
	In          *os.File
	Out, Err    io.Writer
}

// target is where a command runs.
type target struct {
	job  int64
	node string
}

// find returns the allocation and the node for the host of a call.
func find(w World, c Call) (target, error) {
	if c.User != "" && c.User != w.User {
		return target{}, fmt.Errorf("as user %s: a job's steps are its own user's (%s)", c.User, w.User)
	}
	list, err := allocation.Find(w.Getenv)
	if err != nil {
		return target{}, err
	}
	if len(list) > 0 {
		a, node, ok := list.Of(c.Host)
		if !ok {
			return target{}, fmt.Errorf("it is in none of the job's allocations: %s", list)
		}
		return target{a.Job, node}, nil
	}
	text, _ := w.Getenv("SLURM_JOB_ID")
	job, err := strconv.ParseInt(text, 10, 64)
	if err != nil || job <= 0 {
		return target{}, errors.New("this is no job of Slurm (SLURM_JOB_ID is not set)")
	}
	nodes, _ := w.Getenv("SLURM_JOB_NODELIST")
	if held, err := hostlist.Expand(nodes); err == nil { // The list may be outdated, so Slurm has to decide.
		if _, node, ok := (allocation.List{{Job: job, Nodes: held}}).Of(c.Host); ok {
			return target{job, node}, nil
		}
	}
	return target{job, c.Host}, nil
}

// arguments returns the arguments of srun for a step that gets all resources of the job on the node. --mem=0 stands for all of the memory,
// and does not reduce the memory of other steps.
func (p target) arguments(c Call, shell, gres string) []string {
	all := []string{
		"--jobid=" + strconv.FormatInt(p.job, 10), "--nodes=1", "--ntasks=1", "--nodelist=" + p.node,
		"--overlap", "--cpu-bind=none", "--mem=0", "--mpi=none", "--export=ALL", "--job-name=accordion-agent",
	}
	if gres != "" { // Without --gres, a step of one task gets only the devices of one task of the job.
		all = append(all, "--gres="+gres)
	}
	if c.NoInput {
		all = append(all, "--input=none")
	}
	return append(all, "--", shell, "-c", attached(c.Command))
}

// Run runs the command and returns its exit status. If the command could not be started, it returns Unreachable, and prints a line with the
// host and the reason. It may be called only once in a process.
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
	case err != nil: // srun may still reach the allocation.
	case !job.Runs():
		return 0, fmt.Errorf("allocation %d is over: it is %s", p.job, job.State)
	case !slices.Contains(job.Nodes, p.node):
		return 0, fmt.Errorf("allocation %d has %s", p.job, hostlist.Compact(job.Nodes))
	default:
		gres = job.Gres(p.node)
	}
	return p.step(p.arguments(c, w.Shell, gres), w)
}

// step runs srun until it ends. A signal that ends the agent also ends the step.
func (p target) step(arguments []string, w World) (status int, err error) {
	runtime.LockOSThread() // srun is killed when the thread that started it ends
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)

	var messages srun.Messages
	errs := &srun.Writer{Pass: func(line []byte) error {
		if messages.Add(strings.TrimRight(string(line), "\n")) {
			return nil // ssh also prints nothing about a command's status
		}
		_, err := w.Err.Write(line)
		return err
	}}
	command := exec.Command("srun", arguments...)
	command.Env = srun.Bare(withoutLaunchers(w.Environment))
	command.Stdin, command.Stdout, command.Stderr = w.In, w.Out, errs
	command.WaitDelay = 5 * time.Second
	// srun gets a process group of its own, because a terminal's ^C is for the launcher.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		return 0, fmt.Errorf("start srun: %w", err)
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-signals:
				_ = command.Process.Signal(syscall.SIGTERM) // an error means that it has just ended
			case <-over:
				return
			}
		}
	}()
	_ = command.Wait() // ProcessState has the result
	close(over)
	errs.Flush()
	if why := messages.StartError(); why != "" && !command.ProcessState.Success() {
		return 0, fmt.Errorf("allocation %d: %s", p.job, why)
	}
	if ws, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return command.ProcessState.ExitCode(), nil
}

// LoginShell returns the shell of a user's passwd entry, which ssh would start. If there is none, it returns $SHELL or, failing that,
// /bin/sh.
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
