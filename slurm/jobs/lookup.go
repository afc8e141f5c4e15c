package jobs

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// A Reader reads jobs. Its methods may be called from several goroutines.
type Reader struct {
	run   *client.Runner
	known verifiedCache

	splitLock  sync.Mutex
	splitTasks map[core.JobID]map[int]bool // tasks of pending arrays that became jobs of their own
}

// New returns a Reader that runs client programs with `run`.
func New(run *client.Runner) *Reader { return &Reader{run: run} }

// Long reports whether the last list had many jobs (manyJobs).
func (s *Reader) Long() bool { return s.known.isLong() }

// Squeue lists jobs with squeue. `more` holds further arguments for squeue.
func (s *Reader) Squeue(ctx context.Context, more ...string) ([]output.Record, error) {
	word := "x" + rand.Text() // the word starts with a letter, because squeue would read a digit as the width of the column
	out, err := s.run.Run(ctx, client.Call{
		Program: "squeue",
		Args:    append([]string{"--all", "--local", "--noheader", "--noconvert"}, more...),
		Env:     []string{"SQUEUE_FORMAT2=" + output.SqueueFormat(word), "SQUEUE_ARRAY_UNIQUE=1"}, // without --array 20.11 shows single tasks only within the record of their array
	})
	if err != nil {
		return nil, err
	}
	return output.ParseSqueue(out.Stdout, word)
}

// Find reads one job in any state. It returns ErrGone if Slurm does not know the job, or if the number belongs to
// another job.
func (s *Reader) Find(ctx context.Context, job adapter.Key) (*output.Record, error) {
	return s.byNumber(ctx, job, false)
}

// FindVerified does what Find does, and verifies all fields.
func (s *Reader) FindVerified(ctx context.Context, job adapter.Key) (*output.Record, error) {
	return s.byNumber(ctx, job, true)
}

// byNumber reads a job by the number of its key.
func (s *Reader) byNumber(ctx context.Context, job adapter.Key, certain bool) (*output.Record, error) {
	if job.ID <= 0 || job.ID >= 1<<32 {
		return nil, fmt.Errorf("job %d: no job of Slurm has such an id: %w", job.ID, adapter.ErrGone)
	}
	r, err := s.read(ctx, job.ID, certain)
	if err != nil {
		return nil, err
	}
	if r.Submitted != job.Submitted {
		return nil, fmt.Errorf("job %d: submitted at %d, not at %d: another job has its id now: %w",
			job.ID, r.Submitted, job.Submitted, adapter.ErrGone)
	}
	return r, nil
}

// Pending reads a job that must be pending. It returns ErrGone for another state.
func (s *Reader) Pending(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.Find(ctx, job)
	return r, waits(r, err)
}

// Candidate does what Pending does, and verifies the job's mark.
func (s *Reader) Candidate(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.FindVerified(ctx, job)
	return r, waits(r, err)
}

// waits returns ErrGone for a job that is not pending.
func waits(r *output.Record, err error) error {
	if err == nil && r.State != adapter.Pending {
		return fmt.Errorf("job %d is %s, no longer pending: %w", r.ID, r.State, adapter.ErrGone)
	}
	return err
}

// Running reads a job that must be running. It returns ErrGone for another state.
func (s *Reader) Running(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.Find(ctx, job)
	if err == nil && r.State != adapter.Running {
		return r, fmt.Errorf("job %d is %s, not running: %w", job.ID, r.State, adapter.ErrGone)
	}
	return r, err
}

// Name returns the name of the job for scancel and for changes by scontrol. The name of an array's task is A_T.
// These commands cannot take the task's job id. If that is the array's id, it means all tasks, and scancel ignores
// the ids of other tasks. A requeued task has a new time of submission but the same name.
func (s *Reader) Name(job adapter.Key) string {
	if r := s.known.job(job.ID); r != nil && r.Task() != "" {
		return fmt.Sprintf("%d_%s", r.Array, r.Task())
	}
	return fmt.Sprint(job.ID)
}
