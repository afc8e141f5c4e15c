// Package traces has the commands on workload logs. trace reads and changes logs. replay and compare run logs through
// the planner. paper runs the experiments of papers. This package only parses flags. The packages below traces compute
// the results.
package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	_ "time/tzdata" // logs name the time zone of their site, which this machine may not know

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/swf"
)

// Trace returns "accordion trace".
func Trace() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Check, cut, filter and convert workload logs",
		Long: `Check, cut and filter workload logs in the Standard Workload Format (SWF, of the Parallel Workloads Archive), and convert Slurm's
accounting to this format. Logs may be compressed by gzip. - is standard input. See also docs/traces.md.

Lines that violate the format are read as far as possible, and counted on standard error. With --strict, the first one is an error.`,
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("trace: say what to do: info, check, convert, cut, filter, from-sacct, generate or statistics"))
		},
	}
	for _, sub := range []func() *cobra.Command{infoCommand, checkCommand, convertCommand, cutCommand, filterCommand, fromSacctCommand, generateCommand, statisticsCommand} {
		c.AddCommand(sub())
	}
	return c
}

// someLogs checks the arguments of a command that reads one or more logs.
func someLogs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return command.Usage(fmt.Errorf("%s: give a FILE, or - for standard input", cmd.Name()))
	}
	return nil
}

// readLog reads a log, and writes its warnings to standard error.
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
		Short: "Print number of jobs, time span, weekly load, sizes, run times and problems",
		Args:  someLogs,
	}
	asJSON := c.Flags().Bool("json", false, "print JSON for programs: one object per log, one per line")
	var machine machineFlag
	machine.register(c)
	strict := strictFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		size, err := machine.size(cmd, 1)
		if err != nil {
			return command.Usage(fmt.Errorf("info: %w", err))
		}
		for i, path := range args {
			log, err := openLog(cmd, path, *strict) // warnings are not printed here, because the survey contains them
			if err != nil {
				return err
			}
			s := swf.SurveyOf(log, size)
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
		Short: "List the errors in logs; the exit status is 1 if there are any",
		Long: `Check logs for errors of the format (with file, line and field) and for wrong jobs. Examples: a job that is submitted before the log's
beginning, is larger than the machine, has no processors, ran longer than requested, or has the number of another job. Each kind of
error is one line with its first job.

The exit status is 0 if there is no error, 1 if there is one or the machine's size is unknown, and 2 if the file is not a log. Nearly
all real logs contain errors. A replay reports which jobs it leaves out.`,
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
			s := swf.SurveyOf(log, size)
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

// logOutput is the flags of a command that writes a log.
type logOutput struct {
	path                   string
	rezero, renumber, sort bool
}

func (o *logOutput) flags(c *cobra.Command) {
	c.Flags().StringVarP(&o.path, "out", "o", "-", "the log to write, compressed if its name ends in .gz (-: standard output)")
	command.Output(c, "out", command.AFile)
	c.Flags().BoolVar(&o.sort, "sort", false, "sort the jobs by submission time")
	c.Flags().BoolVar(&o.rezero, "rezero", false, "set the time of the first submission to 0")
	c.Flags().BoolVar(&o.renumber, "renumber", false, "number the jobs from 1")
}
