// Package traces is the subcommands on workload logs: trace looks at logs and makes others, replay and compare run them through
// the planner, paper runs the experiments of papers.
package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	_ "time/tzdata" // logs name the time zone of their site, which this machine need not know

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/swf"
	"accordion/traces/swf/survey"
)

// Trace is "accordion trace".
func Trace() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Look at workload logs, and make some of others",
		Long: `Look at workload logs in the Standard Workload Format (SWF, of the Parallel Workloads Archive), cut and filter them, and
make one from Slurm's accounting. Logs may be compressed by gzip. - is standard input. docs/traces.md tells more.

Lines that are not as the format wants them are read as well as can be, and counted on standard error; with --strict the
first of them is an error.`,
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("trace: say what to do: info, check, convert, cut, filter, from-sacct, generate or statistics"))
		},
	}
	for _, sub := range []func() *cobra.Command{infoCommand, checkCommand, convertCommand, cutCommand, filterCommand, fromSacctCommand, generateCommand, statisticsCommand} {
		c.AddCommand(sub())
	}
	return c
}

// someLogs is the arguments of a command that reads one log or several.
func someLogs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return command.Usage(fmt.Errorf("%s: give a FILE, or - for standard input", cmd.Name()))
	}
	return nil
}

// readLog reads a log, and says on standard error what was wrong with it.
func readLog(cmd *cobra.Command, path string, strict bool) (*swf.Log, error) {
	log, err := openLog(cmd, path, strict)
	if err == nil {
		for _, line := range log.Warnings.Lines() {
			fmt.Fprintln(cmd.ErrOrStderr(), "accordion: warning:", line)
		}
	}
	return log, err
}

func openLog(cmd *cobra.Command, path string, strict bool) (log *swf.Log, err error) {
	if path == "-" {
		log, err = swf.Read(cmd.InOrStdin(), "standard input", swf.Options{Strict: strict})
	} else {
		log, err = swf.ReadFile(path, swf.Options{Strict: strict})
	}
	if err != nil {
		return nil, command.Usage(err)
	}
	return log, nil
}

func infoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "info FILE…",
		Short: "Jobs, span, load a week, sizes and run times, and what looks wrong",
		Args:  someLogs,
	}
	asJSON := c.Flags().Bool("json", false, "print JSON, one object a log in a line")
	var machine machineFlag
	machine.register(c)
	strict := strictFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		size, err := machine.size(cmd, 1)
		if err != nil {
			return command.Usage(fmt.Errorf("info: %w", err))
		}
		for i, path := range args {
			log, err := openLog(cmd, path, *strict) // what is wrong is in the survey
			if err != nil {
				return err
			}
			s := survey.Of(log, size)
			if *asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(s)
			} else {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				_, err = io.WriteString(cmd.OutOrStdout(), s.Text())
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

func checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Say what is wrong with logs: exit status 1 when anything is",
		Long: `Say what is wrong with logs, in their form (with file, line and field) and in what they say: jobs submitted before the
log's beginning or out of order, larger than the machine, without processors, that ran longer than they asked for, with a
number that another job has, and so on. One line a kind, with the first such job. Exit status 0: nothing; 1: something, or the
machine's size is unknown; 2: not a log.

Real logs nearly always have something; a replay says what it leaves out for it.`,
		Args: someLogs,
	}
	var machine machineFlag
	machine.register(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		size, err := machine.size(cmd, 1)
		if err != nil {
			return command.Usage(fmt.Errorf("check: %w", err))
		}
		clean := true
		for _, path := range args {
			log, err := openLog(cmd, path, false)
			if err != nil {
				return err
			}
			s := survey.Of(log, size)
			found := s.Wrong()
			for _, line := range found {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, line); err != nil {
					return err
				}
			}
			clean = clean && len(found) == 0
		}
		if !clean {
			return command.ExitError{Status: 1}
		}
		return nil
	}
	return c
}

// logOutput is where a command's log goes, and how it is written.
type logOutput struct {
	path                   string
	rezero, renumber, sort bool
}

func (o *logOutput) flags(c *cobra.Command) {
	c.Flags().StringVarP(&o.path, "out", "o", "-", "the log to write, compressed where its name ends in .gz (-: standard output)")
	command.Output(c, "out", command.AFile)
	c.Flags().BoolVar(&o.sort, "sort", false, "put the jobs in the order of submission")
	c.Flags().BoolVar(&o.rezero, "rezero", false, "the first submission becomes second 0")
	c.Flags().BoolVar(&o.renumber, "renumber", false, "number the jobs from 1")
}
