package oar

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"accordion/oar/conf"
	"accordion/oar/cpuset"
)

func epilogueCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "epilogue JOB",
		Short: "On OAR's server, after a job: end its companions",
		Long: `OAR's server runs this after each job, through the script that "accordion oar install" makes. It asks OAR to end the companions of an
evolving job, and cleans the job's cpusets on their nodes, if the sidecar has not done it. The exit status is always 0, because OAR
switches all of its queues off if an epilogue fails.`,
		Args: cobra.ArbitraryArgs,
	}
	file := confFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := epilogue(cmd, File(*file), args); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "accordion: oar epilogue:", err)
		}
		return nil
	}
	return c
}

// epilogue stops soon after its deadline, even if a call ignores the deadline.
func epilogue(cmd *cobra.Command, file string, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want JOB, as OAR gives it")
	}
	job, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || job < 1 {
		return fmt.Errorf("%q is not a job number", args[0])
	}
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), conf.EpiloguePatience()+2*time.Second)
	defer cancel()
	ended, err := within(ctx, func() (int, error) { return cpuset.Epilogue(ctx, conf, job) })
	if ended > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "job %d is over: %d companions are asked to end\n", job, ended)
	}
	if errors.Is(err, errLate) {
		return fmt.Errorf("job %d: not completed within %s", job, conf.EpiloguePatience())
	}
	return err
}
