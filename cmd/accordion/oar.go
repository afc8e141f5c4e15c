package main

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

	"accordion/oar/conf"
	"accordion/oar/pass"
)

func init() { subcommands = append(subcommands, oarCommand) }

// patience is how long a pass may take, and hardPatience after how long it is ended whatever it does; offPatience is how long
// OAR may take to switch a queue off.
const (
	patience     = 10 * time.Second
	hardPatience = patience + 5*time.Second
	offPatience  = 30 * time.Second
)

// runScheduler is run under the name that OAR calls. OAR logs what is written to standard output, and nothing else; it
// switches the queue off for any exit status but 0 and 1, and for a signal. So the pass is a process of its own, and this
// one has little that could go wrong. When it is killed all the same, or the shell between it and OAR, OAR goes on as soon as
// nobody holds the standard output: who is left does his work to the end, and switches the queue on again.
func runScheduler(ctx context.Context) int {
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
	if now := os.Getppid(); (now != shell || now == 1) && len(os.Args) > 1 { // 1: it was dead before we looked
		err = errors.Join(err, outlive(oarConf(""), os.Args[1]))
	}
	if err == nil {
		return 0
	}
	if pass.ProcessState == nil || pass.ProcessState.ExitCode() < 0 {
		fmt.Println("accordion: the pass was ended before its time; unless it says above what is planned, nothing was written:", err)
	}
	return 1
}

func oarCommand() *cobra.Command {
	c := &cobra.Command{Use: "oar", Short: "Accordion's part in an OAR: what it adds there, and what OAR calls"}
	c.AddCommand(oarInstallCommand(), oarUninstallCommand(), oarScheduleCommand(), oarPrologueCommand(), oarEpilogueCommand())
	return c
}

func oarScheduleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule [flags] QUEUE NOW [DATE]",
		Short: "Plan the waiting jobs of an OAR queue, as OAR's meta-scheduler asks for it",
		Long: `Read the waiting jobs of a queue from OAR's database, plan them, and write the plan back. OAR's meta-scheduler calls this
for each pass, with the second for which it plans, and a date that is not looked at. "accordion oar install" makes the queue.

Under the name accordion_oar the program takes these arguments and nothing else. The exit status is 0 when the plan was
written and 1 when nothing was; OAR switches a queue off for any other.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return usage(fmt.Errorf("oar schedule: want QUEUE NOW [DATE], as OAR gives them; there are %d arguments", len(args)))
			}
			return nil
		},
	}
	file := oarConfFlag(c)
	deadline := c.Flags().Duration("deadline", patience, "what is planned by then is written")
	caller := c.Flags().Int("caller", 0, "")
	_ = c.Flags().MarkHidden("caller")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		now, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || now < 0 {
			return usage(fmt.Errorf("oar schedule: NOW is %q, and not a second since 1970", args[1]))
		}
		if *deadline < 100*time.Millisecond {
			return usage(fmt.Errorf("oar schedule: --deadline %s is no time; give 100ms at least", *deadline))
		}
		pass := pass.Pass{Queue: args[0], Now: now, Patience: *deadline}
		if *caller == 0 {
			return oarPass(cmd, oarConf(*file), pass)
		}
		ended := time.AfterFunc(hardPatience, func() { os.Exit(1) }) // the caller may be dead, who would do it
		err = oarPass(cmd, oarConf(*file), pass)
		if os.Getppid() == *caller {
			return err
		}
		ended.Stop()
		return errors.Join(err, outlive(oarConf(*file), pass.Queue))
	}
	return c
}

// outlive is what is done by a process whose caller was killed: it lets OAR go on, which now switches the queue off, and
// switches it on.
func outlive(file, queue string) error {
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), offPatience)
	defer cancel()
	return pass.Reactivate(ctx, conf, queue, func() error {
		nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("leaving OAR's pipe: %w", err)
		}
		for fd := range 3 {
			if err := syscall.Dup3(int(nowhere.Fd()), fd, 0); err != nil {
				return fmt.Errorf("leaving OAR's pipe: %w", err)
			}
		}
		return nil
	})
}

// oarConfFlag is --conf; oarConf gives what it means.
func oarConfFlag(c *cobra.Command) *string {
	return c.Flags().String("conf", "", "OAR's configuration (default: $OARCONFFILE, else "+conf.DefaultFile+")")
}

func oarConf(flag string) string { return cmp.Or(flag, os.Getenv("OARCONFFILE"), conf.DefaultFile) }

// oarPass does a pass, and gives up soon after its deadline though a call may ignore it.
func oarPass(cmd *cobra.Command, file string, which pass.Pass) error {
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), which.Patience+time.Second)
	defer cancel()
	type result struct {
		pass.Report
		error
	}
	done := make(chan result, 1)
	go func() {
		report, err := pass.Schedule(ctx, conf, which)
		done <- result{report, err}
	}()
	select {
	case r := <-done:
		if r.error != nil {
			return r.error
		}
		for _, l := range r.Launches {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), l); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), r.Report); err != nil {
			return err
		}
		select {
		case <-time.After(r.Rest):
		case <-ctx.Done():
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("queue %s: nothing was planned: the database did not answer within %s", which.Queue, which.Patience)
	}
}
