package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/adapter/status"
)

func init() { subcommands = append(subcommands, explainCommand) }

func explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain JOB",
		Short: "Say why a job waits, what is planned for it, who is before it, and what changed",
		Long: `Say in sentences where a job stands: why it waits, when it is planned to start and at which sizes, who has the nodes and
until when, who is before it in the queue, and what happened to it since it was submitted. It knows every job of the pool;
of ordinary ones it gives an estimate and no history. It works while the sidecar is down, and says so.`,
		Args: oneJob,
	}
	file := configFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object, for programs")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return usage(fmt.Errorf("explain: %.40q is not a job's number, such as 4711", args[0]))
		}
		conf, err := loadConfig(*file)
		if err != nil {
			return err
		}
		j, err := journal.OpenReadOnly(conf.Journal.Path)
		if err != nil {
			return err
		}
		defer j.Close()
		explanation, err := status.Explain(j, id)
		if err != nil {
			return err
		}
		if *asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(explanation)
		}
		return explanation.Write(cmd.OutOrStdout(), time.Now(), time.Local)
	}
	return c
}

// oneJob refuses anything but one argument as a mistake of the command line.
func oneJob(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage(fmt.Errorf("%s takes one job's number, such as: accordion explain 4711", cmd.CommandPath()))
	}
	return nil
}
