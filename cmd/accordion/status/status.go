// Package status has the commands that show what the sidecar does: status, queue, explain, journal and watch. It also
// has limits, which resets what queue --usage shows. Users who may open the sidecar's journal can read it even while
// the sidecar is down. Other users get the same data from the running sidecar.
package status

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/readers"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// Status returns the command "accordion status".
func Status() *cobra.Command {
	return shows(&cobra.Command{
		Use:   "status",
		Short: "Show the managed jobs: state, step, nodes, start and end, and why they wait",
		Long: `Show each managed job as the sidecar last saw it: its state, step, nodes and start, its promised end, and why it waits. ~ marks
planned times of waiting jobs. While the sidecar is down, the command prints since when, and only root sees the jobs.

If the sidecar serves launchers (see accordion launch --help), the applications of all clusters follow. Each is shown with its parts
(cluster:job, requested hosts, state of the job), its start (~ marks an estimate), the state of its launcher, and why it waits. With
--json the applications are one more object, with the key "applications".`,
		Args: command.NoArguments,
	}, func(j journal.Reader, c command.Cluster, _ []string) (any, text, error) {
		report, err := status.Read(j)
		if away := (*readers.AwayError)(nil); errors.As(err, &away) && !away.State.Running {
			report.Sidecar = status.Sidecar{Since: away.State.Since, Away: readers.Meanwhile}
			report.Cluster, err = away.State.Cluster, nil
		}
		report.Cluster = cmp.Or(c.Name, report.Cluster)
		return report, report.Table, err
	}, beside{after: showApplications}, offered{})
}

// Queue returns the command "accordion queue".
func Queue() *cobra.Command {
	c := &cobra.Command{
		Use:   "queue",
		Short: "Show every job of the partition, ordinary jobs included, with planned starts and sizes",
		Long: `Show every job of the partition as the sidecar plans it: first running jobs, then waiting jobs in the order of the queue, then
held jobs.

  ~            the time is planned
  5 (2,5,3)    an evolving job that holds 5 nodes; its three steps need 2, 5 and 3
  8 (4-12)     a moldable job that is planned on 8 nodes and may get 4 to 12 now

The start of an ordinary job is an estimate, because the batch system starts it. The plan of a managed job becomes a promise when
the job starts. "accordion explain JOB" shows more about one job. While the sidecar is down, only root gets an answer.`,
		Args: command.NoArguments,
	}
	user := c.Flags().StringP("user", "u", "", "only this user's jobs")
	used := c.Flags().Bool("usage", false, "instead of the jobs, show per user how much of the reserved node-time was used and unused")
	return shows(c, func(j journal.Reader, c command.Cluster, _ []string) (any, text, error) {
		report, err := status.ReadQueue(j)
		report.Cluster = cmp.Or(c.Name, report.Cluster)
		if *user != "" {
			report = report.Of(*user)
		}
		if *used {
			usage := report.OfUsage()
			return usage, usage.Table, err
		}
		return report, report.Table, err
	}, beside{}, offered{flags: map[string]offer{"user": offerUsers}})
}

// Explain returns the command "accordion explain".
func Explain() *cobra.Command {
	var application int64
	c := &cobra.Command{
		Use:   "explain JOB",
		Short: "Show why a job waits, its plan, the jobs before it, and what changed",
		Long: `Describe a job in plain sentences: why it waits, its planned start and sizes, the jobs that have the nodes, the jobs before it in the
queue, and its history. For an ordinary job the start is an estimate, and there is no history. While the sidecar is down, only root gets an answer.

If the job is part of an application ("accordion launch"), the state of the application follows. It shows what the launcher requested
and was shown last, why the application waits, what moved its estimated start, and which attempts to start it failed. With
--application 7 you get the same for an application, even after it has ended.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("application") {
				if application < 1 {
					return command.Usage(errors.New("explain: --application takes an application's number, such as 7"))
				}
				return command.NoArguments(cmd, args)
			}
			if len(args) != 1 {
				return command.Usage(fmt.Errorf("%s takes one job's number, such as: accordion explain 4711", cmd.CommandPath()))
			}
			if id, err := strconv.ParseInt(args[0], 10, 64); err != nil || id < 1 {
				return command.Usage(fmt.Errorf("explain: %.40q is not a job's number, such as 4711", args[0]))
			}
			return nil
		},
	}
	c.Flags().Int64Var(&application, "application", 0, "explain the application with this number instead of a job")
	return shows(c, explainJob, beside{instead: func(s *showing, all []command.Cluster) (bool, error) {
		if application == 0 {
			return false, nil
		}
		return true, explainApplication(s, all, application)
	}}, offered{arguments: offerJobs})
}

// explainJob returns why a job waits and what is planned for it. It explains a part of an application even before the
// cluster's sidecar has seen the job.
func explainJob(j journal.Reader, c command.Cluster, args []string) (any, text, error) {
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return nil, nil, err
	}
	x, err := status.Explain(j, id)
	x.Cluster = cmp.Or(c.Name, x.Cluster)
	unknown := (*status.UnknownJob)(nil)
	if errors.As(err, &unknown) {
		unknown.Pool = poolOf(c)
	}
	if errors.As(err, &unknown) || err == nil && (x.Job == nil || x.Job.Kind == view.Delegated) {
		request := ""
		if x.Job != nil {
			request = x.Job.Request
		}
		owner, failed := ApplicationOf(c.Delegate, c.Session.Socket, c.Name, core.JobID(id), request)
		if failed != nil {
			return nil, nil, failed
		}
		if x.Application = owner; owner != nil {
			err = nil
		}
	}
	return x, x.Write, err
}

// poolOf returns the partition or queue of a cluster's managed jobs, for a message, or "".
func poolOf(c command.Cluster) string {
	switch c.System {
	case config.SystemSlurm:
		return "partition " + c.Slurm.Partition
	case config.SystemOAR:
		return "queue " + c.OAR.Queue
	}
	return ""
}
