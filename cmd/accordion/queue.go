package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/adapter/status"
)

func init() { subcommands = append(subcommands, queueCommand) }

func queueCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "queue",
		Short: "Show every job of the pool, ordinary ones too, with planned starts and sizes",
		Long: `Show every job of the pool as the sidecar plans it: those that hold nodes, then those that wait, in the order of the
queue, then those that are held back. Times with ~ are planned; the sizes of an evolving job are those of its steps: 5
(2,5,3) holds 5 nodes and has three steps.

The start of an ordinary job is an estimate: the batch system starts it itself. A managed job's plan becomes a promise when
it starts. "accordion explain JOB" says more on one job. It works while the sidecar is down, and says so.`,
		Args: noArguments,
	}
	file := configFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object, for programs")
	user := c.Flags().StringP("user", "u", "", "only this user's jobs")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		conf, err := loadConfig(*file)
		if err != nil {
			return err
		}
		j, err := journal.OpenReadOnly(conf.Journal.Path)
		if err != nil {
			return err
		}
		defer j.Close()
		report, err := status.ReadQueue(j)
		if err != nil {
			return err
		}
		if *user != "" {
			report = report.Of(*user)
		}
		if *asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
		}
		return report.Table(cmd.OutOrStdout(), time.Now(), time.Local)
	}
	return c
}
