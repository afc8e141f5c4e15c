package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"accordion/oar/conf"
	"accordion/oar/hooks"
)

func oarEpilogueCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "epilogue JOB",
		Short: "On OAR's server, when a job is over: end its companions",
		Long: `OAR's server runs this when a job is over, through the script that "accordion oar install" makes. It asks OAR to end the
companions of an evolving job, and has the job's cpusets cleaned on their nodes, should the sidecar not have done it. The exit
status is 0 whatever happens: OAR switches all of its queues off when an epilogue fails.`,
		Args: cobra.ArbitraryArgs,
	}
	file := oarConfFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oarEpilogue(cmd, oarConf(*file), args); err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "accordion: oar epilogue:", err)
		}
		return nil
	}
	return c
}

// oarEpilogue gives up soon after its deadline, though a call may ignore it.
func oarEpilogue(cmd *cobra.Command, file string, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("want JOB, as OAR gives it")
	}
	job, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || job < 1 {
		return fmt.Errorf("%q is no job's number", args[0])
	}
	conf, err := conf.Read(file)
	if err != nil {
		return err
	}
	type result struct {
		ended int
		error
	}
	done := make(chan result, 1)
	ctx, cancel := context.WithTimeout(cmd.Context(), conf.EpiloguePatience()+2*time.Second)
	defer cancel()
	go func() {
		ended, err := hooks.Epilogue(ctx, conf, job)
		done <- result{ended, err}
	}()
	select {
	case r := <-done:
		if r.ended > 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "job %d is over: %d companions are asked to end\n", job, r.ended)
		}
		return r.error
	case <-ctx.Done():
		return fmt.Errorf("job %d: it was not done within %s", job, conf.EpiloguePatience())
	}
}
