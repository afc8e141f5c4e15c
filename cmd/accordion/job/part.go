package job

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim"
)

func init() { forScripts = append(forScripts, Part) }

// Part returns the command "accordion part".
func Part() *cobra.Command {
	c := &cobra.Command{
		Use:   "part [--done STATUS]",
		Short: "In a job of accordion launch: wait until all parts of the application have started",
		Example: `  eval "$(accordion part)" || exit
  accordion part --done 0`,
		Long: `Wait until all parts of the application have started. The application has one part, a job, on each cluster that it uses. Write this in
the job script, in the script's own shell, before the parts work together:

    eval "$(accordion part)" || exit
    ./solve "$ACCORDION_PARTS"

Either all parts continue at the same time, or none does. The output is shell commands. Their exit status is

    0   continue: all parts have started
    2   the command line is wrong, or this is not a job
    4   no sidecar answered
    75  not all parts started, or the job is not part of an application that starts: exit without doing anything

They export

    ACCORDION_APPLICATION  the number of the application
    ACCORDION_PART         the cluster of this part
    ACCORDION_PARTS        a file with one line, CLUSTER HOST, for each host of all parts

If the script has no EXIT trap, they also set one that runs accordion part --done $?. This call reports to the sidecar that
this part has ended, and with which exit status. If your script has its own EXIT trap, call accordion part --done there. Otherwise the sidecar may notice
later that the nodes are free.

The command waits without a time limit. If the sidecar is restarted meanwhile, it waits up to 2 minutes for the sidecar and asks
again. If no sidecar answers, it gives up after 10 seconds. It finds the sidecar in the same way as accordion step.`,
	}
	done := c.Flags().Int("done", 0, "report that this part has ended, with an exit `status`")
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return finish(cmd, shim.Usage(command.WrongFlag(cmd, err))) })
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := command.NoArguments(cmd, args); err != nil {
			return finish(cmd, shim.Usage(err))
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		program, err := ourselves()
		if err != nil {
			return finish(cmd, shim.Usage(err))
		}
		o := shim.PartOptions{Getenv: os.LookupEnv, Program: program}
		if !cmd.Flags().Changed("done") {
			return finish(cmd, shim.Part(cmd.Context(), o))
		}
		if *done < 0 || *done > 255 {
			return finish(cmd, shim.Usage(errors.New("--done: an exit status is 0 to 255")))
		}
		return finish(cmd, shim.PartDone(cmd.Context(), o, *done))
	}
	return c
}

// ourselves returns the path by which this program was started, because the program's file name selects what it does.
func ourselves() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
