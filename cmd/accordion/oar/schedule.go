// Package oar has the command "accordion oar": it installs Accordion in OAR, and has the commands that OAR calls.
package oar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/oar/conf"
	"accordion/oar/scheduler"
)

// `patience` is the time limit of a pass. `hardPatience` is the time after which a pass is killed. `offPatience` is
// the longest time that OAR needs to switch a queue off.
const (
	patience     = 10 * time.Second
	hardPatience = patience + 5*time.Second
	offPatience  = 30 * time.Second
)

// RunScheduler runs when OAR calls the program by its scheduler name. OAR logs only standard output. It switches the
// queue off after a signal, and after any exit status except 0 and 1. So the pass runs in a child process, and this
// process does little that can fail. If this process, or the shell between it and OAR, is killed nevertheless, OAR
// continues once no process holds the standard output open. The child then completes the pass and switches the queue
// on again.
func RunScheduler(ctx context.Context) int {
	shell := os.Getppid()
	ctx, cancel := context.WithTimeout(ctx, hardPatience)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		fmt.Println("accordion:", err)
		return 1
	}
	pass := exec.CommandContext(ctx, self)
	pass.Args = append([]string{"accordion", "oar", "schedule", "--caller", strconv.Itoa(os.Getpid())}, os.Args[1:]...)
	pass.Stdout, pass.Stderr = os.Stdout, os.Stdout
	err = pass.Run()
	if now := os.Getppid(); (now != shell || now == 1) && len(os.Args) > 1 { // 1 if the shell had ended before Getppid was called
		err = errors.Join(err, outlive(File(""), os.Args[1]))
	}
	if err == nil {
		return 0
	}
	if pass.ProcessState == nil || pass.ProcessState.ExitCode() < 0 {
		fmt.Println("accordion: the pass was ended before its time; unless it says above what is planned, nothing was written:", err)
	}
	return 1
}

// Command returns the command "accordion oar".
func Command() *cobra.Command {
	c := &cobra.Command{Use: "oar", Short: "Install Accordion in OAR; commands that OAR calls"}
	c.AddCommand(installCommand(), uninstallCommand(), scheduleCommand(), prologueCommand(), epilogueCommand())
	return c
}

func scheduleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule [flags] QUEUE NOW [DATE]",
		Short: "Plan the waiting jobs of an OAR queue; called by OAR's meta-scheduler",
		Long: `Read the waiting jobs of a queue from OAR's database, plan them, and write the plan back. OAR's meta-scheduler calls this
in each pass. NOW is the time for which it plans, in seconds since 1970, and DATE is ignored. "accordion oar install" makes the queue.

If the program is called as accordion_oar, it takes only these arguments. The exit status is 0 if the plan was written, and 1 if
nothing was written. OAR switches a queue off for any other status.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return command.Usage(fmt.Errorf("oar schedule: want QUEUE NOW [DATE], as OAR gives them; there are %d arguments", len(args)))
			}
			return nil
		},
	}
	file := confFlag(c)
	deadline := c.Flags().Duration("deadline", patience, "write what is planned after this time")
	caller := c.Flags().Int("caller", 0, "")
	_ = c.Flags().MarkHidden("caller")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		now, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || now < 0 {
			return command.Usage(fmt.Errorf("oar schedule: NOW %q is not a number of seconds since 1970", args[1]))
		}
		if *deadline < 100*time.Millisecond {
			return command.Usage(fmt.Errorf("oar schedule: --deadline %s is too short; give at least 100ms", *deadline))
		}
		pass := scheduler.Pass{Queue: args[0], Now: now, Patience: *deadline, Statistics: command.ReadStatistics}
		if *caller == 0 {
			return doPass(cmd, File(*file), pass)
		}
		return child{
			caller:     *caller,
			parent:     os.Getppid,
			reactivate: func() error { return outlive(File(*file), pass.Queue) },
			exit:       os.Exit,
		}.run(func() error { return doPass(cmd, File(*file), pass) })
	}
	return c
}

// A child is the process that RunScheduler starts for a pass, with the functions of the operating system that it
// calls.
type child struct {
	caller     int          // process ID of RunScheduler
	parent     func() int   // os.Getppid; differs from caller once RunScheduler was killed
	reactivate func() error // switches the queue on again after OAR has switched it off
	exit       func(status int)
}

// run does the pass and returns its error. If the pass overruns hardPatience, run exits with status 1. RunScheduler also ends such a pass,
// but may have been killed. OAR switches the queue off when RunScheduler is killed; then run switches the queue on again, whether or not
// the pass was in time.
func (c child) run(pass func() error) error {
	overrun := time.AfterFunc(hardPatience, func() {
		if c.parent() != c.caller {
			_ = c.reactivate() // OAR would not read the output
		}
		c.exit(1)
	})
	err := pass()
	if c.parent() == c.caller {
		return err
	}
	overrun.Stop()
	return errors.Join(err, c.reactivate())
}

// outlive switches the queue on again after RunScheduler was killed. It first closes its end of OAR's pipe, because
// OAR does not switch the queue off until the pipe is closed.
func outlive(file, queue string) error {
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), offPatience)
	defer cancel()
	return scheduler.Reactivate(ctx, conf, queue, func() error {
		nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("close OAR's pipe: %w", err)
		}
		for fd := range 3 {
			if err := syscall.Dup3(int(nowhere.Fd()), fd, 0); err != nil {
				return fmt.Errorf("close OAR's pipe: %w", err)
			}
		}
		return nil
	})
}

// confFlag adds the flag --conf.
func confFlag(c *cobra.Command) *string {
	return c.Flags().String("conf", "", "OAR's configuration (default: $OARCONFFILE, else "+conf.DefaultFile+")")
}

// File returns the path of OAR's configuration that --conf or the environment names.
func File(flag string) string { return cmp.Or(flag, os.Getenv("OARCONFFILE"), conf.DefaultFile) }

// doPass runs a pass. It stops soon after its deadline, even if a call ignores the deadline.
func doPass(cmd *cobra.Command, file string, which scheduler.Pass) error {
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), which.Patience+time.Second)
	defer cancel()
	report, err := within(ctx, func() (scheduler.Report, error) { return scheduler.Schedule(ctx, conf, which) })
	if errors.Is(err, errLate) {
		return fmt.Errorf("queue %s: nothing was planned: the database did not answer within %s", which.Queue, which.Patience)
	}
	if err != nil {
		return err
	}
	for _, l := range report.Launches {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), l); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), report); err != nil {
		return err
	}
	select {
	case <-time.After(report.Rest):
	case <-ctx.Done():
	}
	return nil
}

var errLate = errors.New("not completed in time")

// within calls `do` and returns errLate if it has not returned when ctx ends.
func within[T any](ctx context.Context, do func() (T, error)) (result T, err error) {
	type outcome struct {
		result T
		error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := do()
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.error
	case <-ctx.Done():
		return result, errLate
	}
}
