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

// Part is "accordion part".
func Part() *cobra.Command {
	c := &cobra.Command{
		Use:   "part [--done STATUS]",
		Short: "In a job of accordion launch: wait until all parts of the application are there",
		Long: `Wait until all parts of the application are there: on each cluster that it starts on, a job. Written in the job script before what the
parts do together, in the script's own shell:

    eval "$(accordion part)" || exit
    ./solve "$ACCORDION_PARTS"

All parts are let through at once, or none is. What it prints are commands for the shell, whose last one has the exit status:

    0   go on: all parts are there
    2   the command line is wrong, or this is not a job
    4   no sidecar answered
    75  not all parts came up, or the job is no part of an application that starts: leave, before anything was done

Exported are

    ACCORDION_APPLICATION  the number of the application
    ACCORDION_PART         the cluster that this part is on
    ACCORDION_PARTS        file with a line CLUSTER HOST for each host of all parts

Further, where the script has no EXIT trap, one is set that runs accordion part --done $?: it tells the sidecar that this part is over, and
with which status. A script with an EXIT trap of its own should do so there. Without it, others who wait may be shown later what is free.

It waits for as long as it takes. When the sidecar is restarted meanwhile it waits up to 2 minutes for it and asks again; where none has
answered it gives up after 10 seconds. The sidecar is where accordion step asks it.`,
	}
	done := c.Flags().Int("done", 0, "say that this part is over, with an exit `status`")
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

// ourselves is the path by which this program was started: its name says what it is.
func ourselves() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
