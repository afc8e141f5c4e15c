package slurm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"accordion/adapter"
	"accordion/adapter/hostfile"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/output"
)

// steps matches a script's call of `accordion step`, or a comment that another file calls it.
var steps = regexp.MustCompile(`accordion\s+step`)

// Speaks reports whether the job's batch script mentions `accordion step`.
func (s *System) Speaks(ctx context.Context, job adapter.Key) (bool, error) {
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"write", "batch_script", fmt.Sprint(job.ID), "-"}})
	if err != nil {
		return false, fmt.Errorf("reading the script of job %d: %w", job.ID, err)
	}
	return steps.MatchString(out.Stdout), nil
}

// Signal sends a signal with scancel. "B:URG" goes to the batch script only. Without the prefix B: the signal goes
// to all steps.
func (s *System) Signal(ctx context.Context, job adapter.Key, signal string) error {
	r, err := s.Jobs.Find(ctx, job)
	if err != nil {
		return fmt.Errorf("signalling: %w", err)
	}
	if r.State != adapter.Running {
		return fmt.Errorf("signalling job %d: it is %s: %w", job.ID, r.State, adapter.ErrGone)
	}
	args := []string{"--signal=" + signal, s.Jobs.Name(job)}
	if name, batch := strings.CutPrefix(signal, "B:"); batch {
		args = []string{"--batch", "--signal=" + name, s.Jobs.Name(job)}
	}
	if _, err := s.Run.Run(ctx, client.Call{Program: "scancel", Args: args}); err != nil {
		return fmt.Errorf("signalling job %d: %w", job.ID, err)
	}
	return nil
}

// Tell makes Slurm write a line to a running job's standard error (`scontrol notify`). This works on any file
// system, and no process of Accordion opens a user's file. An interactive job shows the line on its terminal.
//
// Slurm sends the line to the job's lowest-numbered node. If the job has grown by a node with a lower number than
// the script's node, the line is lost. A line is also lost if the script does not run yet: during the prolog, or in
// the first second on a busy machine. Slurm reports success in all of these cases.
func (s *System) Tell(ctx context.Context, job adapter.Key, text string) error {
	r, err := s.Jobs.Find(ctx, job)
	if err != nil {
		return fmt.Errorf("telling: %w", err)
	}
	if r.State != adapter.Running {
		return fmt.Errorf("telling job %d: it is %s: %w", job.ID, r.State, adapter.ErrGone)
	}
	if err := s.notify(ctx, job, "accordion: "+text); err != nil {
		return fmt.Errorf("telling job %d: %w", job.ID, err)
	}
	return nil
}

// Programs reads the job's steps. Each srun is a step. If slurmctld has refused a step for a moment, the step is
// shown as pending and its srun tries again.
func (s *System) Programs(ctx context.Context, job adapter.Key) (adapter.Programs, error) {
	if _, err := s.Jobs.Running(ctx, job); err != nil {
		return adapter.Programs{}, fmt.Errorf("reading the steps of job %d: %w", job.ID, err)
	}
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "step", fmt.Sprint(job.ID)}})
	if err != nil && !cluster.Stepless(err) {
		return adapter.Programs{}, fmt.Errorf("reading the steps of job %d: %w", job.ID, err)
	}
	return output.Programs(out.Stdout, job.ID), nil
}

// Lengthen raises the time limit of a running job. TendCompanions raises the limits of its companions.
func (s *System) Lengthen(ctx context.Context, job adapter.Key, limit core.Time) error {
	r, err := s.Jobs.Running(ctx, job)
	if err != nil {
		return fmt.Errorf("lengthening: %w", err)
	}
	if r.Limit >= limit {
		return nil
	}
	if err := s.Update(ctx, job, "TimeLimit="+output.Minutes(limit)); err != nil {
		return fmt.Errorf("lengthening: %w", err)
	}
	return nil
}

// notify runs scontrol notify with one argument for each word, because a console cannot pass a quoted text.
// scontrol joins the words. notify names an array's task by its job id, because scontrol notify takes A_T as A,
// which is another task.
func (s *System) notify(ctx context.Context, job adapter.Key, text string) error {
	return s.Run.Scontrol(ctx, append([]string{"notify", fmt.Sprint(job.ID)}, strings.Fields(oneLine(text))...)...)
}

// Publish writes the job's hosts file on its batch host (hostfile.Script), in a step of the job. Therefore the
// job's user writes the file, with the file systems that are mounted on that host. The file's name begins with the
// value of SLURM_CLUSTER_NAME in the job, because jobs of two clusters that share a machine may have the same
// number.
func (s *System) Publish(ctx context.Context, job *adapter.Job, text string) (elsewhere string, err error) {
	if len(job.Nodes) == 0 {
		return "", fmt.Errorf("publishing the hosts of job %d: it has none: %w", job.ID, adapter.ErrGone)
	}
	c, err := s.Recent(ctx)
	if err != nil {
		return "", fmt.Errorf("publishing the hosts of job %d: %w", job.ID, err)
	}
	out, err := s.Run.Run(ctx, client.Call{
		Program: "srun",
		As:      &client.User{Uid: job.UID, Gid: job.GID},
		Args: []string{
			"--quiet", fmt.Sprintf("--jobid=%d", job.ID), "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + job.Nodes[0], "--mem=0", "--mpi=none", "--chdir=/",
			"sh", "-c", hostfile.Script, "sh", fmt.Sprintf("%s-%d", c["ClusterName"], job.ID),
		},
		Input: text,
	})
	// The standard error of a step that ends immediately may be lost, so the result is read from standard output.
	if f := (*client.Failure)(nil); errors.As(err, &f) && f.Code == hostfile.NoFolder {
		return "", fmt.Errorf("publishing the hosts of job %d on %s: /tmp/accordion-%d belongs to another user or is a link, and no other folder can be made in /tmp",
			job.ID, job.Nodes[0], job.UID)
	}
	if err != nil {
		return "", fmt.Errorf("publishing the hosts of job %d on %s: %w", job.ID, job.Nodes[0], err)
	}
	return hostfile.Elsewhere(out.Stdout), nil
}
