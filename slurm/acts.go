package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
	"accordion/slurm/resize"
)

// The functions of this file change pending jobs, and end jobs. Each of them first reads the job by its number and
// time of submission, because after a crash of slurmctld the number may belong to another job.

// Adopt parks a pending job (see Park), held or not, and marks it with the request in its comment. It refuses
// heterogeneous jobs, because Slurm cannot resize them safely.
func (s *System) Adopt(ctx context.Context, job adapter.Key) error {
	r, err := s.Jobs.Candidate(ctx, job)
	if err != nil {
		return fmt.Errorf("adopting: %w", err)
	}
	if r.Unfit != "" {
		return fmt.Errorf("adopting job %d: %s", job.ID, r.Unfit)
	}
	if r.Array != 0 && adapter.Delegated(&r.Job) {
		return fmt.Errorf("adopting job %d: an array cannot be a part of an application; submit one job", job.ID)
	}
	mark := r.Mark
	if !strings.HasPrefix(mark, adapter.MarkPrefix) {
		if mark, err = markFor(r.Comment); err != nil {
			return fmt.Errorf("adopting job %d: %w", job.ID, err)
		}
	}
	if r.Mark != mark {
		if err := s.Update(ctx, job, "AdminComment="+mark); err != nil {
			return fmt.Errorf("adopting: %w", err)
		}
	}
	if err := s.Park(ctx, r); err != nil {
		return fmt.Errorf("adopting: %w", err)
	}
	switch r, err = s.Jobs.Candidate(ctx, job); {
	case err != nil:
		return fmt.Errorf("adopting: %w", err)
	case !r.Parked() || r.Stopped() || r.Mark != mark:
		return fmt.Errorf("adopting job %d: Slurm reported success, but it is not parked or has the mark %q (%s); "+
			"does a job_submit plug-in change it?", job.ID, r.Mark, r.Why)
	}
	return nil
}

// markFor returns the mark of a job with this comment. The job's request is the first word of the comment.
func markFor(comment string) (string, error) {
	words := strings.Fields(comment)
	if len(words) == 0 || !adapter.IsRequest(words[0]) {
		return "", fmt.Errorf("its comment does not begin with ep=, mold= or launch=")
	}
	for _, c := range words[0] {
		if c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' {
			return "", fmt.Errorf("its request contains %q; write it as in ep=5x500s,10x1h", c)
		}
	}
	if strings.HasPrefix(words[0], "launch=") {
		if _, err := adapter.ParseLaunch(words[0]); err != nil {
			return "", err
		}
		if i := slices.IndexFunc(words[1:], adapter.IsRequest); i >= 0 {
			return "", fmt.Errorf("its comment has %.40s together with %.40s: a part of an application has no request of its own", words[0], words[1+i])
		}
	}
	return adapter.MarkPrefix + words[0], nil
}

// Refuse cancels a pending job. If the job can no longer meet its deadline, Refuse lets Slurm end it. Refuse writes
// the reason into AdminComment, because a job that never ran has no output. `scontrol show job` and `sacct -o
// AdminComment` print it. Refuse returns nil if the job has already ended.
func (s *System) Refuse(ctx context.Context, job adapter.Key, why string) error {
	r, err := s.Jobs.Find(ctx, job)
	switch {
	case errors.Is(err, adapter.ErrGone):
		return nil
	case err != nil:
		return fmt.Errorf("refusing: %w", err)
	case r.State == adapter.Done || r.State == adapter.Ending:
		return nil
	case r.State != adapter.Pending:
		return fmt.Errorf("refusing job %d: it is %s: %w", job.ID, r.State, adapter.ErrGone)
	}
	// Slurm may refuse the comment. If the job's counts exceed its partition (PartitionConfig), Slurm writes the
	// comment and still reports an error. The job is canceled in any case, because the journal has the reason, too.
	told := s.Update(ctx, job, "AdminComment=accordion refused this job: "+oneLine(why))
	if expired := r.Latest > 0 && time.Now().Unix() > r.Latest; expired && r.Parked() {
		// Slurm checks the deadlines only of jobs that may start. After this update it ends the job (DEADLINE)
		// within seconds. If it does not, the next call of Refuse cancels the job, which is then no longer parked.
		if err := s.Update(ctx, job, "ReservationName="); err == nil {
			return nil
		}
	}
	if err := s.Cancel(ctx, job); err != nil {
		return fmt.Errorf("refusing: %w", errors.Join(err, told))
	}
	return nil
}

// End cancels a job. Before that, Slurm itself writes the reason to the standard error of a running batch job
// (`scontrol notify`). This works on any file system, and no process of Accordion opens a user's file.
func (s *System) End(ctx context.Context, job adapter.Key, why string) error {
	r, err := s.Jobs.Find(ctx, job)
	switch {
	case errors.Is(err, adapter.ErrGone):
		return nil
	case err != nil:
		return fmt.Errorf("ending: %w", err)
	case r.State == adapter.Done || r.State == adapter.Ending:
		return nil
	case r.Role() == output.Companion:
		return s.CancelCompanion(ctx, job)
	case r.Role() == output.Expander:
		if err := s.undoExpander(ctx, r); err != nil {
			return fmt.Errorf("ending: %w", err)
		}
	}
	if why != "" && r.State == adapter.Running && r.Expands == 0 {
		// Interactive jobs, and jobs between two states, may have no output that Slurm writes to. They must end
		// anyway. If slurmctld did not answer, the caller tries again, because otherwise the job would end without
		// an explanation.
		switch err := s.notify(ctx, job, "accordion ends this job: "+why); {
		case err == nil:
			_ = resize.Pause(ctx, notifyDelay) // if ctx has expired, the cancel below fails too
		case client.Unanswered(err):
			return fmt.Errorf("ending job %d: its output does not have the reason yet: %w", job.ID, err)
		}
	}
	return s.Cancel(ctx, job)
}

// notifyDelay is how long Slurm needs to deliver a message to a job. slurmctld sends the message and the order to
// end the job to the node at the same time. On a busy machine the order may arrive first, and then the user never
// sees the reason. Slurm does not confirm delivery.
const notifyDelay = 300 * time.Millisecond

// undoExpander removes an expander's nodes from its parent if the growth takes two merges and only the first one
// was made.
func (s *System) undoExpander(ctx context.Context, e *output.Record) error {
	parent, err := s.Jobs.Job(ctx, e.Parent())
	if err != nil || parent.State != adapter.Running || strings.HasPrefix(e.Name, output.OverPrefix) {
		if errors.Is(err, adapter.ErrGone) {
			err = nil
		}
		return err
	}
	return s.Undo(ctx, parent.Key, e.Nodes)
}

// oneLine returns the text as one printable line of at most 400 characters, for a comment.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '"' || c == '\'' {
			return ' '
		}
		return c
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 400 {
		s = string(runes[:400]) + "…"
	}
	return s
}

// Shape sets the size of a pending job to the shape's number of nodes, and its time limit to the shape's limit,
// rounded up to a minute. The job keeps its tasks per node and CPUs per task. The three counts must be in one
// update, because NumNodes= alone sets only the minimum.
func (s *System) Shape(ctx context.Context, job adapter.Key, shape adapter.Shape) error {
	if shape.Nodes < 1 || shape.Limit < 1 {
		return fmt.Errorf("shaping job %d: %d nodes for %d seconds: both must be positive", job.ID, shape.Nodes, shape.Limit)
	}
	r, err := s.Jobs.Pending(ctx, job)
	if err != nil {
		return fmt.Errorf("shaping: %w", err)
	}
	on := shape.On
	if len(on) == 0 {
		in, err := s.Ground(ctx)
		if err != nil {
			return fmt.Errorf("shaping job %d: %w", job.ID, err)
		}
		on = in.CandidateNodes(r, s.Pool)
	}
	t, err := s.Terms(ctx, r, on)
	if err != nil {
		return fmt.Errorf("shaping job %d: %w", job.ID, err)
	}
	if all := t.SharingSettings(r); len(all) > 0 {
		if err := s.Update(ctx, job, all...); err != nil {
			return fmt.Errorf("shaping: %w", err)
		}
	}
	counts, err := t.Counts(r, shape.Nodes)
	if err != nil {
		return fmt.Errorf("shaping job %d: %w", job.ID, err)
	}
	if len(counts) > 0 {
		if err := s.Update(ctx, job, counts...); err != nil {
			return fmt.Errorf("shaping: %w", err)
		}
	}
	limit := limitBy(r, shape, time.Now().Unix())
	settings := []string{"TimeLimit=" + output.Minutes(limit)}
	if !t.Site.Guarded { // the plug-in, if there is one, knows whether the user asked for --requeue, and sets this itself
		settings = append(settings, "Requeue=0")
	}
	if err := s.Update(ctx, job, settings...); err != nil {
		return fmt.Errorf("shaping: %w", err)
	}
	r, err = s.Jobs.Pending(ctx, job)
	if err != nil {
		return fmt.Errorf("shaping: %w", err)
	}
	want := core.Forever
	if limit < core.Forever/2 {
		want = max(60, (limit+59)/60*60)
	}
	if r.Want != shape.Nodes || r.MaxNodes != shape.Nodes || r.Limit != want || r.Why == "BadConstraints" {
		return fmt.Errorf("shaping job %d: asked for %d nodes and %d s, Slurm made it %d-%d nodes and %d s (%s)",
			job.ID, shape.Nodes, want, r.Want, r.MaxNodes, r.Limit, r.Why)
	}
	return nil
}

// scheduledWithin is how many seconds Slurm may take to consider a job that is to start.
const scheduledWithin core.Time = 10

// limitBy returns the time limit with which a job starts now. Slurm does not start a job whose limit ends after its
// deadline. Therefore limitBy shortens the limit, in whole minutes, so that it ends before the deadline, but not
// below `shape.Least`.
func limitBy(r *output.Record, shape adapter.Shape, now core.Time) core.Time {
	if r.Deadline == 0 || shape.Least == 0 {
		return shape.Limit
	}
	left := (r.Deadline - now - scheduledWithin) / 60 * 60
	return min(shape.Limit, max(left, shape.Least))
}

// Attach ties a pending job to the reservation in which it starts. It parks a held job first. Slurm cannot delete a
// reservation to which a held job is tied, and the sidecar may die before it releases the job.
func (s *System) Attach(ctx context.Context, job adapter.Key, reservation string) error {
	r, err := s.Jobs.Pending(ctx, job)
	if err != nil {
		return fmt.Errorf("attaching: %w", err)
	}
	if r.HeldBy != "" {
		return fmt.Errorf("attaching job %d: %s holds it: %w", job.ID, r.HeldBy, adapter.ErrGone)
	}
	if r.Stopped() {
		if err := s.Park(ctx, r); err != nil {
			return fmt.Errorf("attaching: %w", err)
		}
	}
	if r.Reservation == reservation {
		return nil
	}
	if err := s.Update(ctx, job, "ReservationName="+reservation); err != nil {
		return fmt.Errorf("attaching: %w", err)
	}
	return nil
}

// Release lets a held job start. It does nothing if the job runs or is not held, because Attach already let such a
// job start.
func (s *System) Release(ctx context.Context, job adapter.Key) error {
	r, err := s.Jobs.Find(ctx, job)
	switch {
	case err != nil:
		return fmt.Errorf("releasing: %w", err)
	case r.State == adapter.Running, r.State == adapter.Pending && !r.Held:
		return nil
	case r.State != adapter.Pending:
		return fmt.Errorf("releasing job %d: it is %s: %w", job.ID, r.State, adapter.ErrGone)
	case r.HeldBy != "":
		return fmt.Errorf("releasing job %d: %s holds it: %w", job.ID, r.HeldBy, adapter.ErrGone)
	case r.Parked():
		return fmt.Errorf("releasing job %d: it is in no reservation but %s: %w", job.ID, output.Park, adapter.ErrGone)
	}
	return s.Command(ctx, job, "release")
}

// Hold parks a released job again if it has not started. A hold by the job's owner or an operator stays in place.
func (s *System) Hold(ctx context.Context, job adapter.Key) error {
	r, err := s.Jobs.Pending(ctx, job)
	switch {
	case err != nil:
	case r.HeldBy != "":
		err = s.ParkHeld(ctx, r)
	default:
		err = s.Park(ctx, r)
	}
	if err == nil {
		_, err = s.Jobs.Pending(ctx, job) // the job may have started meanwhile
	}
	if err != nil {
		return fmt.Errorf("holding: %w", err)
	}
	return nil
}

// Detach removes a running job from its reservation, because Slurm would end the job with the reservation. It checks
// the result.
func (s *System) Detach(ctx context.Context, job adapter.Key) error {
	r, err := s.Jobs.Running(ctx, job)
	if err == nil && r.Reservation != "" {
		if err = s.Update(ctx, job, "ReservationName="); err == nil {
			r, err = s.Jobs.Running(ctx, job)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("detaching: %w", err)
	case r.Reservation != "":
		return fmt.Errorf("detaching job %d: it is still in %s", job.ID, r.Reservation)
	}
	return nil
}
