package resize

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	osuser "os/user"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// A companion is a separate job that extends another job and is never merged into it. The sidecar treats a
// companion as part of that job. The companion's mark is in its AdminComment, which only root can write.

// pendingCompanions returns the allocations that were made for one growth of a job but are not its companions yet.
func (s *Resizer) pendingCompanions(ctx context.Context, parent core.JobID, reservation string) ([]*output.Record, error) {
	jobs, err := s.Jobs.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []*output.Record
	for i := range jobs {
		if r := &jobs[i]; r.Role() == output.Companion && r.Parent() == parent && r.Reservation == reservation && reservation != "" && r.State == adapter.Running {
			all = append(all, r)
		}
	}
	return all, nil
}

// cancelPending ends the allocations of a growth that could not be completed.
func (s *Resizer) cancelPending(ctx context.Context, parent *output.Record, reservation string) error {
	all, err := s.pendingCompanions(ctx, parent.ID, reservation)
	for _, r := range all {
		err = errors.Join(err, s.Cancel(ctx, r.Key))
	}
	return err
}

// joinAll makes an allocation a companion of the job, together with the other allocations of the same growth. It
// may be repeated.
func (s *Resizer) joinAll(ctx context.Context, job adapter.Key, e *output.Record) error {
	with, err := s.pendingCompanions(ctx, job.ID, e.Reservation)
	if err != nil {
		return err
	}
	for _, r := range with {
		if r.Key != e.Key {
			if err := s.join(ctx, job, r); err != nil {
				return err
			}
		}
	}
	return s.join(ctx, job, e)
}

// join makes an allocation a companion of the job, in three actions. It sets a trigger by which Slurm ends the
// companion with the job, even if the sidecar is dead. It writes the mark. It removes the companion from its
// reservation, because Slurm would end the companion with the reservation. join may be repeated. TendCompanions
// completes a join that was interrupted.
func (s *Resizer) join(ctx context.Context, job adapter.Key, e *output.Record) error {
	if _, err := s.Jobs.Running(ctx, job); err != nil {
		return err
	}
	if e.State != adapter.Running {
		return fmt.Errorf("the companion is %s: %w", e.Why, adapter.ErrGone)
	}
	if e.Mark != output.MarkCompanion(job) {
		if err := s.endCompanionWith(ctx, job, e.Key); err != nil {
			return err
		}
		if err := s.Update(ctx, e.Key, "AdminComment="+output.MarkCompanion(job)); err != nil {
			return err
		}
	}
	if e.Reservation != "" {
		if err := s.Update(ctx, e.Key, "ReservationName="); err != nil {
			return err
		}
	}
	// A list that was read after the allocation shows the allocation without the mark, and the next list would not
	// run squeue soon. So squeue runs here, and from now on every list shows the mark.
	marked, err := s.Jobs.FindVerified(ctx, e.Key)
	if err == nil && !marked.Joins(job) {
		err = fmt.Errorf("job %d: Slurm reported success, but it does not have the mark %q: %w", e.ID, output.MarkCompanion(job), adapter.ErrGone)
	}
	return err
}

// triggersFrom is the first release on which triggers are safe. On 20.11, slurmctld does not start again after the
// job of a trigger has ended ("Incomplete trigger data checkpoint file"). So if the sidecar is dead on 20.11, only
// the companion's own time limit ends the companion.
const triggersFrom = 2205

// endCompanionWith makes slurmctld end the companion when the job ends (strigger). slurmctld checks every 15 seconds.
// Only SlurmUser may set triggers.
func (s *Resizer) endCompanionWith(ctx context.Context, job, companion adapter.Key) error {
	c, err := s.Recent(ctx)
	if err != nil {
		return err
	}
	if release, _ := c.Release(); release < triggersFrom {
		return nil
	}
	as, err := slurmUser(c)
	if err != nil {
		return err
	}
	scancel, err := exec.LookPath(s.Run.Path("scancel"))
	if err != nil {
		return fmt.Errorf("looking for scancel: %w", err)
	}
	_, err = s.Run.Run(ctx, client.Call{Program: "strigger", As: as, Args: []string{
		"--set", fmt.Sprintf("--jobid=%d", job.ID), "--fini", fmt.Sprintf("--program=%s %d", scancel, companion.ID)}})
	if cluster.Over(err) {
		return fmt.Errorf("%w (%w)", adapter.ErrGone, err)
	}
	if err != nil {
		return fmt.Errorf("having slurmctld end companion %d with job %d: %w", companion.ID, job.ID, err)
	}
	return nil
}

// slurmUser returns the account under which slurmctld runs. The configuration has it in the form slurm(64030).
func slurmUser(c output.Configuration) (*client.User, error) {
	_, number, _ := strings.Cut(strings.TrimSuffix(c["SlurmUser"], ")"), "(")
	uid, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("SlurmUser is %q: it has no user id", c["SlurmUser"])
	}
	as := &client.User{Uid: uint32(uid), Gid: uint32(uid)}
	if known, err := osuser.LookupId(number); err == nil {
		if gid, err := strconv.ParseUint(known.Gid, 10, 32); err == nil {
			as.Gid = uint32(gid)
		}
	}
	return as, nil
}

// Together reads a running job and its companions.
func (s *Resizer) Together(ctx context.Context, job adapter.Key) (*output.Record, []*output.Record, error) {
	r, err := s.Jobs.Running(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.Terms(ctx, r, r.Nodes)
	if err != nil || t.Way.Growth != growth.Companions {
		return r, nil, err
	}
	jobs, err := s.Jobs.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	var joined []*output.Record
	for i := range jobs {
		if jobs[i].Joins(job) {
			joined = append(joined, &jobs[i])
		}
	}
	return r, joined, nil
}

// CancelCompanion ends a companion and all its steps immediately. If only the companion were cancelled, its steps
// would run for another KillWait.
func (s *Resizer) CancelCompanion(ctx context.Context, job adapter.Key) error {
	out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "step", fmt.Sprint(job.ID)}})
	if err != nil && !cluster.Over(err) && !cluster.Stepless(err) {
		return fmt.Errorf("the steps of companion %d: %w", job.ID, err)
	}
	var steps []string
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		id, number, _ := strings.Cut(output.Field(line, "StepId"), ".")
		if _, err := strconv.Atoi(number); err == nil && id == fmt.Sprint(job.ID) {
			steps = append(steps, id+"."+number)
		}
	}
	if len(steps) > 0 {
		// This call fails if steps end meanwhile. Then Cancel ends the remaining steps.
		_, _ = s.Run.Run(ctx, client.Call{Program: "scancel", Args: append([]string{"--signal=KILL"}, steps...)})
	}
	return s.Cancel(ctx, job)
}

// TendCompanions completes companions that a dead sidecar left unfinished. It extends their time limits to that of
// their job, which an operator may have raised. It suspends and resumes companions together with their job.
//
// After a failure the next reading tries again, because a problem with one companion must not stop the whole
// reading.
func (s *Resizer) TendCompanions(ctx context.Context, jobs []output.Record) {
	parents := map[adapter.Key]*output.Record{}
	for i := range jobs {
		if jobs[i].State == adapter.Running {
			parents[jobs[i].Key] = &jobs[i]
		}
	}
	for i := range jobs {
		r := &jobs[i]
		parent := parents[output.CompanionOf(r.Mark)]
		if r.Role() != output.Companion || r.State != adapter.Running || parent == nil {
			continue
		}
		if parent.Suspended != r.Suspended { // the companion's programs are suspended and resumed with the job's own
			_ = s.Command(ctx, r.Key, map[bool]string{true: "suspend", false: "resume"}[parent.Suspended])
			continue
		}
		var change string
		switch end := parent.Ends(); {
		case r.Reservation != "":
			change = "ReservationName="
		case r.Ends() < end:
			change = "TimeLimit=" + output.Minutes(end-r.Started)
		default:
			continue
		}
		_ = s.Update(ctx, r.Key, change)
	}
}
