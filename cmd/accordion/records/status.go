// Package records holds the subcommands that read the sidecar's journal: status, queue and explain,
// and journal itself. Users who may open it read it while the sidecar is down, too. Other users ask
// the sidecar.
package records

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

// Status is "accordion status".
func Status() *cobra.Command {
	return shows(&cobra.Command{
		Use:   "status",
		Short: "Show each managed job: state, step, nodes, plan, promise, why it waits",
		Long: `Show each managed job as the sidecar last saw it: its state, its step, the nodes it holds, its start, its promised
end (with ~ while it waits: the planned one), and why it waits. While the sidecar is down it says since when, and shows the jobs to
root alone.

Where launchers are served, the applications of all clusters follow: their parts (cluster:job, hosts that are asked for, how far the job
has come), their start (with ~ the estimate), whether the launcher is there and owes an answer, and why they wait. With --json they are one
more object, which has the key "applications".`,
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

// Queue is "accordion queue".
func Queue() *cobra.Command {
	c := &cobra.Command{
		Use:   "queue",
		Short: "Show every job of the pool, ordinary ones too, with planned starts and sizes",
		Long: `Show every job of the pool as the sidecar plans it: those that hold nodes, then those that wait, in the order of the
queue, then those that are held back. Times with ~ are planned; the sizes of an evolving job are those of its steps: 5
(2,5,3) holds 5 nodes and has three steps. 8 (4-12) is a moldable job that is planned on 8, and may have 4 to 12 now.

The start of an ordinary job is an estimate: the batch system starts it itself. A managed job's plan becomes a promise when
it starts. "accordion explain JOB" says more on one job. While the sidecar is down only root is answered.`,
		Args: command.NoArguments,
	}
	user := c.Flags().StringP("user", "u", "", "only this user's jobs")
	used := c.Flags().Bool("usage", false, "what users' jobs used, and left unused of what was reserved ahead for them, in place of the jobs")
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

// Explain is "accordion explain".
func Explain() *cobra.Command {
	var application int64
	c := &cobra.Command{
		Use:   "explain JOB",
		Short: "Say why a job waits, what is planned for it, who is before it, and what changed",
		Long: `Say in sentences where a job stands: why it waits, when it is planned to start and at which sizes, who has the nodes and
until when, who is before it in the queue, and what happened to it since it was submitted. It knows every job of the pool;
of ordinary ones it gives an estimate and no history. While the sidecar is down only root is answered.

Of a batch job that is a part of an application ("accordion launch") it says where the application stands: what its launcher asked for and was
shown last, why it waits and on which cluster, what moved its estimate, and which tries to start it failed. "accordion explain --application
7" says that of an application itself, also when it is over.`,
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
	c.Flags().Int64Var(&application, "application", 0, "explain the application of this number, in the place of a job")
	return shows(c, explainJob, beside{instead: func(s *showing, all []command.Cluster) (bool, error) {
		if application == 0 {
			return false, nil
		}
		return true, explainApplication(s, all, application)
	}}, offered{arguments: offerJobs})
}

// explainJob is why a job is where it is. A part of an application is known by that, too, before its cluster's sidecar has seen it.
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

// poolOf returns where a cluster's managed jobs are, for a message; "" where that has no name.
func poolOf(c command.Cluster) string {
	switch c.System {
	case config.SystemSlurm:
		return "partition " + c.Slurm.Partition
	case config.SystemOAR:
		return "queue " + c.OAR.Queue
	}
	return ""
}
