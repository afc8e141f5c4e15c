package traces

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/slurm/sacct"
	"accordion/traces/swf"
)

func fromSacctCommand() *cobra.Command {
	var out logOutput
	c := &cobra.Command{
		Use:   "from-sacct FILE|-",
		Short: "Convert Slurm's accounting to a workload log; resized jobs become evolving jobs",
		Long: `Convert Slurm's accounting to a workload log. The input is the output of this command (other columns, and another order, are allowed):

  SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 \
    --starttime=2026-01-01 --endtime=2026-02-01 \
    --format=` + sacct.Columns + `

Unreadable lines are skipped, and counted on standard error. The file may be compressed by gzip, bzip2 or zstd. With a column Cluster,
the same job number in two clusters means two jobs.

Unfinished jobs are left out. Users, accounts and job names become numbers, so that the log contains no names. Sizes are the
processors that a job got. A resized job (rows RESIZING) becomes an evolving job; its profile is what it held.

The accounting does not contain the size of the machine. Use --machine.`,
		Args: command.OneFile,
	}
	out.flags(c)
	machine := c.Flags().Int("machine", 0, "processors of the machine, for the log's header")
	zone := c.Flags().String("zone", "", "time zone of the times in the file, such as Europe/Paris (default: this machine's)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *machine < 0 {
			return command.Usage(fmt.Errorf("from-sacct: --machine %d is not above 0", *machine))
		}
		where := time.Local
		if *zone != "" {
			var err error
			if where, err = time.LoadLocation(*zone); err != nil {
				return command.Usage(fmt.Errorf("from-sacct: --zone: %w; write it as in Europe/Paris", err))
			}
		}
		log, left, err := readSacct(cmd, args[0], where)
		if err != nil {
			return command.Usage(err)
		}
		command.Warn(cmd, left.Warnings())
		if text := left.String(); text != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "accordion: left out:", text)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: %d jobs, %d of them evolving\n", len(log.Records), len(log.EPs))
		if *machine > 0 {
			log.Header.Set("MaxProcs", fmt.Sprint(*machine))
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), "accordion: warning: the log does not say how large the machine is; give --machine PROCESSORS here or when it is replayed")
		}
		return out.write(cmd, log)
	}
	return c
}

func readSacct(cmd *cobra.Command, path string, zone *time.Location) (*swf.Log, sacct.LeftOut, error) {
	if path == "-" {
		return sacct.Workload(cmd.InOrStdin(), "standard input", zone)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, sacct.LeftOut{}, fmt.Errorf("read Slurm's accounting: %w", err)
	}
	defer file.Close()
	return sacct.Workload(file, path, zone)
}
