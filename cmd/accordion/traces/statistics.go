package traces

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/sizing"
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
		Short: "Count job arrivals by time of day, for policies that predict arrivals",
		Long: `Count job arrivals by time of day, for policies that predict arrivals (scojo-p; sizes load). Jobs are short (they request less than
a minute), medium (less than an hour) or long. For each kind and each half hour of the day, it counts the jobs that arrive, their
nodes, and their run times. It counts the jobs that "accordion replay" would replay.

The result is JSON. "accordion replay --statistics FILE" reads it. The half hours are in UTC if the log has its start time
(UnixStartTime), and else count from second 0 of the log.`,
		Args: command.OneFile,
	}
	strict := strictFlag(c)
	c.Flags().StringVarP(&out, "out", "o", "-", "the file to write (-: standard output)")
	command.Output(c, "out", command.AFile)
	machine.register(c)
	c.Flags().IntVar(&s.ProcsPerNode, "procs-per-node", 1, "count whole nodes with this many processors")
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
		write := func(w io.Writer) error { _, err := w.Write(sizing.Format(f)); return err }
		if out == "-" {
			return write(cmd.OutOrStdout())
		}
		return files.Save(files.File{Path: out, Write: write})
	}
	return c
}

// counted returns the statistics of a log's usable jobs.
func counted(log *swf.Log, s workload.Selection, window string) (f sizing.File, err error) {
	if window != "" {
		if s.Window, err = workload.ParseWindow(window, &log.Header); err != nil {
			return f, fmt.Errorf("--window: %w", err)
		}
	}
	selected, err := s.Select(log)
	if err != nil {
		return f, err
	}
	begin, _ := log.Header.UnixStart() // 0 if the start is unknown
	if f, err = selected.Arrivals(begin); err != nil {
		return f, fmt.Errorf("%s: %w", log.Name, err)
	}
	return f, nil
}
