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

// This file asks for jobs: a console, which needs no program of its own and prints what users wrote between the fields, or
// squeue, whose answer no user can forge. Of what a console shows this is believed:
//
//   - that there is such a job, submitted then: who forges that can only blur where his own record ends (cuts.go);
//   - what Slurm writes next to the stamped time of submission: state, reason, dependency, limit, times;
//   - every other field of Slurm's whose key stands at one place only, as in the records of all who do not forge (layout.go);
//   - where it may stand at several: what squeue said of this job while the same text stood around it;
//   - the mark: what squeue said while the same text stood behind it.
//
// So squeue is run when such a text is new, once for all of them (oaths.go). When it may not be run, for a user who changes
// his texts all the time shall not use up the programs of a minute, a job in doubt is as it was last known, and all others
// are as they are shown. A job that was never certain is left out meanwhile; its nodes are in use all the same, by what Slurm
// says of them.
//
// scontrol --json escapes what users wrote. 22.05 has none. In 24.11 and 26.05 a list takes 13 times as long as text
// (docs/performance.md).

// manyJobs is from how many on squeue is quicker, for slurmctld's machine and for us.
const manyJobs = 3000

// List reads all jobs that are not over.
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
	s.parted(certain) // forgets arrays that do not wait any more
	s.known.keep(certain, len(jobs) > manyJobs)
	return certain, nil
}

// console asks a console to show all jobs, or those that the call's argument names.
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

// noConsole reports whether an error means that squeue must be asked: there is no console, or it writes records as no known release does.
func noConsole(err error) bool {
	return errors.Is(err, client.ErrSilent) || errors.Is(err, output.ErrForm)
}

// listBySqueue is list by a program of its own.
func (s *Reader) listBySqueue(ctx context.Context) ([]output.Record, error) {
	jobs, err := s.Squeue(ctx)
	if err != nil {
		return nil, err
	}
	if folded := s.parted(jobs); len(folded) > 0 {
		tasks, err := s.squeueTasks(ctx, folded)
		if err != nil && !client.Says(err, "invalid job id") {
			return nil, err
		}
		jobs = output.Unfold(jobs, tasks)
	}
	s.known.keep(jobs, len(jobs) > manyJobs*2/3)
	return jobs, nil
}

// parted returns the names of tasks that were made jobs and that a list of squeue's leaves out, where it
// may count them in another record (foldedTasks).
func (s *Reader) parted(listed []output.Record) []string {
	s.partsLock.Lock()
	defer s.partsLock.Unlock()
	there, waits := map[string]bool{}, map[core.JobID]bool{}
	for i := range listed {
		r := &listed[i]
		there[r.TaskName] = true
		if r.ID == r.Array {
			waits[r.Array] = r.State == adapter.Pending
		}
	}
	var names []string
	for array, tasks := range s.parts {
		if !waits[array] { // nothing is folded into what runs, or is not there
			delete(s.parts, array)
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

// Parted notes that a task of an array was made a job.
func (s *Reader) Parted(array core.JobID, task int) {
	s.partsLock.Lock()
	defer s.partsLock.Unlock()
	if s.parts == nil {
		s.parts = map[core.JobID]map[int]bool{}
	}
	if s.parts[array] == nil {
		s.parts[array] = map[int]bool{}
	}
	s.parts[array][task] = true
}

// A readerVerifier is what testimony asks while a list is read.
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
		return nil, nil // one job's text shall fail no reading
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

// squeueTasks asks squeue for tasks of arrays, each of which it lists for itself.
func (s *Reader) squeueTasks(ctx context.Context, names []string) ([]output.Record, error) {
	return s.Squeue(ctx, "--array", "--jobs="+strings.Join(names, ","))
}

// show asks a console for one job, in whatever state. nil without an error: it cannot be told from others, or there is no
// console. ErrGone when Slurm does not know the job.
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
	for i := range jobs { // an array's other tasks answer to its id too
		if jobs[i].ID == id {
			return &jobs[i], nil
		}
	}
	return nil, nil
}

// TaskWaits reports whether an array's task waits, also where a list leaves it out because something
// that its user wrote is in doubt. Without a console, lists leave nothing out.
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

// Job reads one job, in whatever state. What its owner has made doubtful since may be as it was last known: an act on his job
// shall cost no more programs than on any. ErrGone when Slurm does not know it.
func (s *Reader) Job(ctx context.Context, id core.JobID) (*output.Record, error) {
	return s.read(ctx, id, false)
}

// read reads one job as Job does. A certain one has nothing left to doubt.
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

// ask has squeue tell of one job; a console has shown it as j, or could not.
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
	return fmt.Errorf("job %d: Slurm does not know it any more: %w", id, adapter.ErrGone)
}
