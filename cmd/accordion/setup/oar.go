package setup

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/cmd/accordion/oar"
	oarsetup "accordion/oar/setup"
	decided "accordion/slurm/setup"
)

func oarCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "oar",
		Short: "Install the sidecar on OAR's server, or remove it",
		Long: `Install the sidecar on OAR's server. Run this command there as root. It

  - writes the sidecar's configuration
  - does what "accordion oar install" does
  - prints the lines that you have to add to oar.conf
  - checks OAR like "accordion preflight", and returns its exit status

Run it again to repair what was changed since. --dry-run changes nothing. --remove deletes the files that setup wrote, unless they
were changed, and does what "accordion oar uninstall" does. While jobs are in the queue, nothing is removed.`,
		Args: command.NoArguments,
	}
	file := command.ConfigFlag(c)
	queue := c.Flags().String("queue", oarsetup.DefaultQueue, "the queue whose jobs Accordion plans")
	priority := c.Flags().Int("priority", oarsetup.DefaultPriority, "priority of the queue; OAR plans queues with higher priority first")
	conf := c.Flags().String("conf", "", "oar.conf (default $OARCONFFILE, else /etc/oar/oar.conf)")
	epilogue := c.Flags().Bool("epilogue", false, "also add the server epilogue to oar.conf; a copy of oar.conf is kept next to it")
	web := webFlag(c)
	dry := c.Flags().Bool("dry-run", false, "print what would be done, and change nothing")
	remove := c.Flags().Bool("remove", false, "remove what setup has written and added")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := oarsetup.NewQueue(*queue); err != nil {
			return command.Usage(fmt.Errorf("setup oar: --queue: %w", err))
		}
		mine, err := remembered(file.Path())
		if err != nil {
			return err
		}
		args := []string{"--queue", *queue}
		if *conf != "" {
			args = append(args, "--conf", *conf)
		}
		if *epilogue {
			args = append(args, "--epilogue")
		}
		if *remove {
			if !*dry {
				if err := oarsays(cmd, append([]string{"uninstall"}, args...)...); err != nil {
					return err
				}
			}
			return mine.remove(cmd.OutOrStdout(), *dry)
		}
		text := fmt.Sprintf("# Written by accordion setup oar. What may stand here besides: accordion config example\nsystem = \"oar\"\n\n[oar]\nqueue = %q\n", *queue)
		if *conf != "" {
			text += fmt.Sprintf("conf = %q\n", *conf)
		}
		text += decided.Web(*web)
		configuration := decided.File{Path: file.Path(), Text: text, What: "the sidecar's configuration"}
		if err := mine.put(cmd.OutOrStdout(), []decided.File{configuration}, *dry); err != nil {
			return err
		}
		if *dry {
			fmt.Fprintf(cmd.OutOrStdout(), "would be added to OAR: tables, the scheduler accordion_oar, the queue %s, the server's epilogue, two admission rules (accordion oar install --help)\n", *queue)
		} else if err := oarsays(cmd, append([]string{"install", "--priority", strconv.Itoa(*priority)}, args...)...); err != nil {
			return err
		}
		name, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the path of this program: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "\nSet this in oar.conf on every node, where the program has to be installed, for jobs whose first step is larger than their least one:\n\n    PROLOGUE_EXEC_FILE=\"%s oar prologue\"\n\n"+
			"When preflight has nothing against it (it follows, and can be asked again: accordion preflight): systemctl enable --now accordion.service\n\n", name)
		if *dry {
			return nil // what preflight checks does not exist yet
		}
		return preflight(cmd, file.Path())
	}
	return c
}

// oarsays runs "accordion oar" with the given arguments.
func oarsays(cmd *cobra.Command, words ...string) error {
	c := oar.Command()
	c.SetArgs(words)
	c.SetOut(cmd.OutOrStdout())
	c.SetErr(cmd.ErrOrStderr())
	c.SilenceErrors, c.SilenceUsage = true, true
	return c.ExecuteContext(cmd.Context())
}
