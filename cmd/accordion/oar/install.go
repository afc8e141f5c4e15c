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

// installPatience bounds an installation: a table that a program has locked is waited for no longer.
const installPatience = time.Minute

func installCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "install",
		Short: "Add to an OAR what Accordion needs there, and say of each part what was done",
		Long: `Add to an OAR what Accordion needs there: tables of its own in OAR's database, the link to this program among OAR's
schedulers, the queue that it plans, a server epilogue (beside oar.conf, which names it with --epilogue only; one that the site
has is run after it), and the two admission rules that take "-t ep=5x500s,10x1h" and refuse what is wrong in one line. What is there already stays, or is mended; nothing of OAR's own is changed. Run it on OAR's server as root, and
again after each upgrade of Accordion. "accordion oar uninstall" takes all of it away.`,
		Args: command.NoArguments,
	}
	priority := c.Flags().Int("priority", setup.AsItIs, fmt.Sprintf("of the queue; OAR plans those of higher priority first (default: as it is, %d for a new one)", setup.DefaultPriority))
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
		Short: "Take away from an OAR what \"accordion oar install\" has added",
		Long: `Take away from an OAR all that "accordion oar install" has added, and say of each part what was done. While jobs are in
the queue nothing is removed, and the exit status is 1.`,
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

// setupFlags are what both have; the function gives what they mean.
func setupFlags(c *cobra.Command) func(cmd *cobra.Command) (setup.Setup, error) {
	file := confFlag(c)
	queue := c.Flags().String("queue", setup.DefaultQueue, "the queue whose jobs Accordion plans")
	epilogue := c.Flags().Bool("epilogue", false, "let it edit oar.conf, to name the server's epilogue or not to; a copy is left beside it")
	return func(cmd *cobra.Command) (setup.Setup, error) {
		s := setup.Setup{Queue: *queue, File: File(*file), Epilogue: *epilogue, OARDir: Dir(),
			Tell: func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) }}
		if err := setup.NewQueue(*queue); err != nil {
			return s, command.Usage(fmt.Errorf("oar %s: --queue: %w", cmd.Name(), err))
		}
		var err error
		if s.Program, err = os.Executable(); err != nil {
			return s, fmt.Errorf("where is this program? %w", err)
		}
		s.Conf, err = conf.Read(s.File)
		var wrong *conf.Error
		if errors.As(err, &wrong) {
			err = command.Usage(err)
		}
		return s, err
	}
}

// Dir is where OAR's own programs are.
func Dir() string { return cmp.Or(os.Getenv("OARDIR"), conf.DefaultOARDir) }
