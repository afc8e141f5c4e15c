package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/adapter/status"
)

func init() { subcommands = append(subcommands, statusCommand) }

func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Show each managed job: state, step, nodes, plan, promise, why it waits",
		Long: `Show each managed job as the sidecar last saw it: its state, its step, the nodes it holds, its start, its promised
end (with ~ while it waits: the planned one), and why it waits. It works while the sidecar is down, and says so.`,
		Args: noArguments,
	}
	file := configFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object, for programs")
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
		report, err := status.Read(j)
		if err != nil {
			return err
		}
		if *asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
		}
		return report.Table(cmd.OutOrStdout(), time.Now(), time.Local)
	}
	return c
}
