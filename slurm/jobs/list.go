package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/client"
	"accordion/slurm/output"
)

// This file reads jobs from a console, which needs no program of its own and prints users' texts between the fields,
// or from squeue, whose output no user can forge. It trusts these parts of a console's output:
//
//   - that there is a job, submitted at the stamped time. A forgery only makes the end of the forger's own record uncertain (cuts.go).
//   - what Slurm writes directly before and after the stamped time of submission: state, reason, dependency, limit, times.
//   - every other field of Slurm's whose key has only one possible position, as in the records of users who do not forge (layout.go).
//   - a field whose key has several possible positions, if squeue verified the field while the text around it was the same.
//   - the mark, if squeue verified it while the text after it was the same.
//
// So squeue runs only when a text in doubt has changed, once for all such jobs (cache.go). squeue may not always run,
// because a user who keeps changing texts must not use up the client programs of a minute. If squeue may not run, the
// list has the last verified record of a job in doubt, and the console's record of all other jobs. It leaves out a
// job that was never verified. Slurm's node states still show that job's nodes as in use.
//
// scontrol --json escapes users' texts. 22.05 does not have this option. In 24.11 and 26.05 a JSON list takes 13
// times as long as a text list (docs/performance.md).

// manyJobs is a number of jobs. For more jobs, a list by squeue costs slurmctld and the sidecar less than a list by
// a console.
const manyJobs = 3000

// List reads all jobs that have not ended.
func (s *Reader) List(ctx context.Context) ([]output.Record, error) {
	if s.known.isLong() {
		return s.listBySqueue(ctx)
	}
	jobs, undecided, err := s.console(ctx, client.Call{Kind: client.Listing})
	if noConsole(err) {
		return s.listBySqueue(ctx)
	}
	if err != nil {
		return nil, err
	}
	certain, err := s.known.verify(jobs, undecided, readerVerifier{s, ctx})
	if err != nil {
		return nil, err
	}
	s.omittedTasks(certain) // it forgets arrays that are no longer pending; its result is not needed
	s.known.keep(certain, len(jobs) > manyJobs)
	return certain, nil
}

// console makes a console show all jobs, or those that the call's argument names.
func (s *Reader) console(ctx context.Context, c client.Call) (jobs []shown, undecided [][]core.JobID, err error) {
	c.Program, c.Stamped, c.Args = "scontrol", true, append([]string{"--oneliner", "--all", "show", "job"}, c.Args...)
	out, err := s.run.Run(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return parseShown(out.Stdout, out.Stamp, s.known.job)
}

// ofJob returns a call that names one job.
func ofJob(job any) client.Call { return client.Call{Args: []string{fmt.Sprint(job)}} }

// noConsole reports whether an error means that squeue must run, because there is no console or it prints records
// in an unknown form.
func noConsole(err error) bool {
	return errors.Is(err, client.ErrSilent) || errors.Is(err, output.ErrForm)
}

// listBySqueue lists the jobs with squeue.
func (s *Reader) listBySqueue(ctx context.Context) ([]output.Record, error) {
	jobs, err := s.Squeue(ctx)
	if err != nil {
		return nil, err
	}
	if folded := s.omittedTasks(jobs); len(folded) > 0 {
		tasks, err := s.squeueTasks(ctx, folded)
		if err != nil && !client.Says(err, "invalid job id") {
			return nil, err
		}
		jobs = output.AddTasks(jobs, tasks)
	}
	s.known.keep(jobs, len(jobs) > manyJobs*2/3)
	return jobs, nil
}

// omittedTasks returns the names of tasks that are jobs of their own but that a list of squeue omits. squeue may
// have folded them into another record (foldedTasks).
func (s *Reader) omittedTasks(listed []output.Record) []string {
	s.splitLock.Lock()
	defer s.splitLock.Unlock()
	there, waits := map[string]bool{}, map[core.JobID]bool{}
	for i := range listed {
		r := &listed[i]
		there[r.TaskName] = true
		if r.ID == r.Array {
			waits[r.Array] = r.State == adapter.Pending
		}
	}
	var names []string
	for array, tasks := range s.splitTasks {
		if !waits[array] { // tasks are folded only into a pending job
			delete(s.splitTasks, array)
			continue
		}
		for _, task := range slices.Sorted(maps.Keys(tasks)) {
			if name := fmt.Sprintf("%d_%d", array, task); !there[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

// NoteSplit records that a task of an array became a job of its own. This way a list without the task is noticed.
func (s *Reader) NoteSplit(array core.JobID, task int) {
	s.splitLock.Lock()
	defer s.splitLock.Unlock()
	if s.splitTasks == nil {
		s.splitTasks = map[core.JobID]map[int]bool{}
	}
	if s.splitTasks[array] == nil {
		s.splitTasks[array] = map[int]bool{}
	}
	s.splitTasks[array][task] = true
}

// A readerVerifier verifies records with a Reader's consoles and squeue.
type readerVerifier struct {
	*Reader
	ctx context.Context
}

func (h readerVerifier) alone(id core.JobID) (*shown, error) {
	j, err := h.show(h.ctx, id)
	if errors.Is(err, adapter.ErrGone) {
		return nil, nil
	}
	return j, err
}

func (h readerVerifier) all(strange bool) ([]output.Record, error) {
	ctx, done, may := h.mayAsk(h.ctx, strange)
	if !may {
		return nil, nil
	}
	defer done()
	all, err := h.Squeue(ctx, "--states=all")
	if err != nil && !h.known.empty() && h.ctx.Err() == nil {
		return nil, nil // an unreadable record of one job must not fail the whole reading
	}
	return all, err
}

func (h readerVerifier) tasks(ids []core.JobID) ([]output.Record, error) {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = fmt.Sprint(id)
	}
	return h.squeueTasks(h.ctx, names)
}

// squeueTasks lists tasks of arrays with squeue, with a record for each task.
func (s *Reader) squeueTasks(ctx context.Context, names []string) ([]output.Record, error) {
	return s.Squeue(ctx, "--array", "--jobs="+strings.Join(names, ","))
}

// show reads one job from a console, in any state. It returns nil without an error if the record cannot be
// distinguished from others, or if there is no console. It returns ErrGone if Slurm does not know the job.
func (s *Reader) show(ctx context.Context, id core.JobID) (*shown, error) {
	jobs, _, err := s.console(ctx, ofJob(id))
	switch {
	case noConsole(err):
		return nil, nil
	case client.Refused(err, client.InvalidJob):
		return nil, unknown(id)
	case err != nil:
		return nil, err
	}
	for i := range jobs { // other tasks of the array match its id, too
		if jobs[i].ID == id {
			return &jobs[i], nil
		}
	}
	return nil, nil
}

// TaskWaits reports whether a task of an array is pending although a console's list omits it because its user's
// texts are in doubt. It returns false after a list by squeue, which omits no job for that reason.
func (s *Reader) TaskWaits(ctx context.Context, array core.JobID, task int) bool {
	if s.known.isLong() {
		return false
	}
	jobs, undecided, err := s.console(ctx, ofJob(fmt.Sprintf("%d_%d", array, task)))
	return err == nil && (len(undecided) > 0 || slices.ContainsFunc(jobs, func(j shown) bool {
		state, _ := output.StateOf(j.word)
		return j.Array == array && state == adapter.Pending
	}))
}

// Job reads one job in any state. If the owner's texts make fields doubtful, these fields may have the last
// verified values. So an action on such a job needs no more client programs than an action on another job. Job
// returns ErrGone if Slurm does not know the job.
func (s *Reader) Job(ctx context.Context, id core.JobID) (*output.Record, error) {
	return s.read(ctx, id, false)
}

// read does what Job does. If `certain` is true, no field of the record is in doubt.
func (s *Reader) read(ctx context.Context, id core.JobID, certain bool) (*output.Record, error) {
	j, err := s.show(ctx, id)
	if err != nil {
		return nil, err
	}
	if j != nil && s.known.trust(j) {
		return &j.Record, nil
	}
	if j != nil && j.known && !certain {
		asking, done, may := s.mayAsk(ctx, false)
		if !may {
			return &j.Record, nil
		}
		defer done()
		ctx = asking
	}
	return s.ask(ctx, id, j)
}

// ask reads one job with squeue. `j` is the record that a console showed, or nil.
func (s *Reader) ask(ctx context.Context, id core.JobID, j *shown) (*output.Record, error) {
	asked := time.Now()
	all, err := s.Squeue(ctx, "--states=all", fmt.Sprintf("--jobs=%d", id))
	if client.Refused(err, client.InvalidJob) {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading job %d: %w", id, err)
	}
	i := slices.IndexFunc(all, func(r output.Record) bool { return r.ID == id })
	if i < 0 {
		return nil, unknown(id)
	}
	if j != nil {
		s.known.store([]*shown{j}, nil, all, asked)
	}
	return &all[i], nil
}

func unknown(id core.JobID) error {
	return fmt.Errorf("job %d: Slurm no longer knows it: %w", id, adapter.ErrGone)
}
