package oar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/oar/conf"
	"accordion/oar/setup"
)

// installPatience limits an installation, which may wait for a table that another program has locked.
const installPatience = time.Minute

func installCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "install",
		Short: "Add what Accordion needs to OAR",
		Long: `Add what Accordion needs to OAR:

  - tables in OAR's database
  - a link to this program among OAR's schedulers
  - the queue that Accordion plans
  - a server epilogue next to oar.conf, which runs before an epilogue of the site
  - two admission rules that accept "-t ep=5x500s,10x1h" and refuse wrong requests with one line

The epilogue is only active if oar.conf names it: use --epilogue, or edit oar.conf. Parts that exist are kept or repaired. Nothing of OAR's own is changed. Run it on OAR's server as root, and again after each upgrade
of Accordion. "accordion oar uninstall" removes everything again.`,
		Args: command.NoArguments,
	}
	priority := c.Flags().Int("priority", setup.AsItIs, fmt.Sprintf("priority of the queue; OAR plans queues with higher priority first (default: unchanged, %d for a new queue)", setup.DefaultPriority))
	setup := setupFlags(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("priority") && (*priority < 0 || *priority > 1<<20) {
			return command.Usage(fmt.Errorf("oar install: --priority %d is not a number from 0 to %d", *priority, 1<<20))
		}
		s, err := setup(cmd)
		if err != nil {
			return err
		}
		s.Priority = *priority
		ctx, cancel := context.WithTimeout(cmd.Context(), installPatience)
		defer cancel()
		return s.Install(ctx)
	}
	return c
}

func uninstallCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove from OAR what \"accordion oar install\" has added",
		Long: `Remove from OAR all that "accordion oar install" has added, and print what was done for each part. While jobs are in the queue, nothing
is removed, and the exit status is 1.`,
		Args: command.NoArguments,
	}
	setup := setupFlags(c)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := setup(cmd)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), installPatience)
		defer cancel()
		return s.Uninstall(ctx)
	}
	return c
}

// setupFlags adds the flags that install and uninstall have in common. The returned function evaluates these flags.
func setupFlags(c *cobra.Command) func(cmd *cobra.Command) (setup.Setup, error) {
	file := confFlag(c)
	queue := c.Flags().String("queue", setup.DefaultQueue, "the queue whose jobs Accordion plans")
	epilogue := c.Flags().Bool("epilogue", false, "also edit oar.conf: add or remove the server epilogue; a copy of oar.conf is kept next to it")
	return func(cmd *cobra.Command) (setup.Setup, error) {
		s := setup.Setup{Queue: *queue, File: File(*file), Epilogue: *epilogue, OARDir: Dir(),
			Tell: func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) }}
		if err := setup.NewQueue(*queue); err != nil {
			return s, command.Usage(fmt.Errorf("oar %s: --queue: %w", cmd.Name(), err))
		}
		var err error
		if s.Program, err = os.Executable(); err != nil {
			return s, fmt.Errorf("find the path of this program: %w", err)
		}
		s.Conf, err = conf.Read(s.File)
		var wrong *conf.Error
		if errors.As(err, &wrong) {
			err = command.Usage(err)
		}
		return s, err
	}
}

// Dir returns the folder of OAR's own programs.
func Dir() string { return cmp.Or(os.Getenv("OARDIR"), conf.DefaultOARDir) }
