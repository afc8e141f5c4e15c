package traces

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/arrivals"
	"accordion/traces/files"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

func statisticsCommand() *cobra.Command {
	var s workload.Selection
	var machine machineFlag
	var window, out string
	c := &cobra.Command{
		Use:   "statistics FILE|-",
		Short: "Count which jobs arrive at which time of the day, for policies that predict",
		Long: `Count which jobs arrive at which time of the day, for policies that predict what is still to come (scojo-p; sizes load): of short,
medium and long jobs (that ask for less than a minute, an hour, or more) how many arrive in each half hour of a day, with how many
nodes, and how long they run. It counts the jobs that a replay would replay.

The result is JSON. "accordion replay --statistics FILE" reads it. Half hours are those of UTC where the log says when it
began (UnixStartTime), else from its second 0 on.`,
		Args: command.OneFile,
	}
	strict := strictFlag(c)
	c.Flags().StringVarP(&out, "out", "o", "-", "the file to write (-: standard output)")
	command.Output(c, "out", command.AFile)
	machine.register(c)
	c.Flags().IntVar(&s.ProcsPerNode, "procs-per-node", 1, "count whole nodes of so many processors")
	c.Flags().StringVar(&window, "window", "", "only jobs submitted in FROM..TO, as in a replay")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if s.ProcsPerNode < 1 {
			return command.Usage(fmt.Errorf("statistics: --procs-per-node: %d is not at least 1", s.ProcsPerNode))
		}
		var err error
		if s.Machine, err = machine.size(cmd, s.ProcsPerNode); err != nil {
			return command.Usage(fmt.Errorf("statistics: %w", err))
		}
		log, err := readLog(cmd, args[0], *strict)
		if err != nil {
			return err
		}
		f, err := counted(log, s, window)
		if err != nil {
			return command.Usage(fmt.Errorf("statistics: %w", err))
		}
		write := func(w io.Writer) error { _, err := w.Write(arrivals.Format(f)); return err }
		if out == "-" {
			return write(cmd.OutOrStdout())
		}
		return files.Save(files.File{Path: out, Write: write})
	}
	return c
}

// counted are the statistics of a log's jobs that are of use.
func counted(log *swf.Log, s workload.Selection, window string) (f arrivals.File, err error) {
	if window != "" {
		if s.Window, err = workload.ParseWindow(window, &log.Header); err != nil {
			return f, fmt.Errorf("--window: %w", err)
		}
	}
	selected, err := s.Select(log)
	if err != nil {
		return f, err
	}
	begin, _ := log.Header.UnixStart() // 0 where it is not known
	if f, err = selected.Arrivals(begin); err != nil {
		return f, fmt.Errorf("%s: %w", log.Name, err)
	}
	return f, nil
}
