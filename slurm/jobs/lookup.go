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

	partsLock sync.Mutex
	parts     map[core.JobID]map[int]bool // tasks of waiting arrays that were made jobs
}

// New is a reader that runs Slurm's programs by run.
func New(run *client.Runner) *Reader { return &Reader{run: run} }

// Long says whether the last list was a long one.
func (s *Reader) Long() bool { return s.known.isLong() }

// Squeue lists jobs; more are arguments that choose them.
func (s *Reader) Squeue(ctx context.Context, more ...string) ([]output.Record, error) {
	word := "x" + rand.Text() // a letter first: a digit would be the width of the column
	out, err := s.run.Run(ctx, client.Call{
		Program: "squeue",
		Args:    append([]string{"--all", "--local", "--noheader", "--noconvert"}, more...),
		Env:     []string{"SQUEUE_FORMAT2=" + output.SqueueFormat(word), "SQUEUE_ARRAY_UNIQUE=1"}, // without it 20.11 hides single tasks in what is left of their array
	})
	if err != nil {
		return nil, err
	}
	return output.ParseSqueue(out.Stdout, word)
}

// Find reads one job, in whatever state. ErrGone when Slurm does not know it, or knows another by its id.
func (s *Reader) Find(ctx context.Context, job adapter.Key) (*output.Record, error) {
	return s.byNumber(ctx, job, false)
}

// FindVerified finds a job as Find does, with nothing left to doubt.
func (s *Reader) FindVerified(ctx context.Context, job adapter.Key) (*output.Record, error) {
	return s.byNumber(ctx, job, true)
}

// byNumber reads the job of a key by its number.
func (s *Reader) byNumber(ctx context.Context, job adapter.Key, certain bool) (*output.Record, error) {
	if job.ID <= 0 || job.ID >= 1<<32 {
		return nil, fmt.Errorf("job %d: no job of Slurm's has such an id: %w", job.ID, adapter.ErrGone)
	}
	r, err := s.read(ctx, job.ID, certain)
	if err != nil {
		return nil, err
	}
	if r.Submitted != job.Submitted {
		return nil, fmt.Errorf("job %d: submitted at %d, not at %d: another job has its number now: %w",
			job.ID, r.Submitted, job.Submitted, adapter.ErrGone)
	}
	return r, nil
}

// Pending reads a job that must be waiting.
func (s *Reader) Pending(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.Find(ctx, job)
	return r, waits(r, err)
}

// Candidate is pending with the mark as it is at this instant.
func (s *Reader) Candidate(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.FindVerified(ctx, job)
	return r, waits(r, err)
}

// waits is ErrGone for a job that was read and does not wait.
func waits(r *output.Record, err error) error {
	if err == nil && r.State != adapter.Pending {
		return fmt.Errorf("job %d is %s, not pending any more: %w", r.ID, r.State, adapter.ErrGone)
	}
	return err
}

// Running reads a job that must be running.
func (s *Reader) Running(ctx context.Context, job adapter.Key) (*output.Record, error) {
	r, err := s.Find(ctx, job)
	if err == nil && r.State != adapter.Running {
		return r, fmt.Errorf("job %d is %s, not running: %w", job.ID, r.State, adapter.ErrGone)
	}
	return r, err
}

// Name returns what scancel and scontrol's changes call the job: an array's task is A_T, because
// its number may be the array's, which is all tasks to them, and scancel ignores other tasks'
// numbers. A task that was requeued has another second of submission and the same name.
func (s *Reader) Name(job adapter.Key) string {
	if r := s.known.job(job.ID); r != nil && r.Task() != "" {
		return fmt.Sprintf("%d_%s", r.Array, r.Task())
	}
	return fmt.Sprint(job.ID)
}
