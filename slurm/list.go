package slurm

import (
	"context"
	"errors"
	"fmt"

	"accordion/adapter"
	"accordion/core"
)

// This file asks for jobs: squeue, whose answer no user can forge, or a console, which needs no program of its own and
// prints what users wrote between the fields. What a console shows is believed of
//
//   - the fields that Slurm writes: when the record has each of its keys once (parseShown);
//   - that there is such a job: when `show job` of its number alone, or squeue, says so;
//   - the mark: when squeue said that this job, with this very text in its comments and paths, bears it.
//
// Where that is not enough squeue is run. So a user who plays with it makes a reading cost one program, and no more.

const (
	manyJobs = 3000 // squeue is quicker with more of them, for slurmctld's machine and for us
	manyNew  = 16   // new jobs are looked up one by one up to so many
)

// testimony is what is known to be true of jobs, whoever forges what.
type testimony struct {
	jobs  map[core.JobID]core.Time // when each was submitted
	marks map[adapter.Key]sworn
	many  bool // the last list was a long one
	asked bool // the last list needed squeue
}

// sworn is the mark that squeue showed for a job, and the text that a console showed for it then.
type sworn struct{ free, mark string }

// list reads all jobs that are not over.
func (s *System) list(ctx context.Context) ([]record, error) {
	s.mu.Lock()
	many := s.known.many
	s.mu.Unlock()
	if many || !s.run.talk.speaks() {
		jobs, err := s.squeue(ctx)
		if err == nil {
			s.mu.Lock()
			s.known.many, s.known.asked = len(jobs) > manyJobs*2/3, true
			s.mu.Unlock()
		}
		return jobs, err
	}
	out, err := s.run.run(ctx, call{program: "scontrol", args: []string{"--oneliner", "--all", "show", "job"}, kind: listing, console: true})
	if errors.Is(err, errSilent) {
		return s.squeue(ctx)
	}
	if err != nil {
		return nil, err
	}
	jobs, err := parseShown(out.stdout)
	if err == nil && s.vouched(ctx, jobs) {
		s.mu.Lock()
		s.known.many, s.known.asked = len(jobs) > manyJobs, false
		s.mu.Unlock()
		return waitingOrRunning(jobs), nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := s.squeue(ctx, "--states=all")
	if err != nil {
		return nil, err
	}
	return s.testify(all, jobs), nil
}

// vouched says whether each of the jobs is known to exist and to bear its mark, and fills in the marks. It looks up the
// ones that are new.
func (s *System) vouched(ctx context.Context, jobs []shown) bool {
	s.mu.Lock()
	var fresh []*shown
	for i := range jobs {
		if at, ok := s.known.jobs[jobs[i].ID]; !ok || at != jobs[i].Submitted {
			fresh = append(fresh, &jobs[i])
		}
	}
	s.mu.Unlock()
	if len(fresh) > manyNew {
		return false
	}
	for _, j := range fresh {
		if one, err := s.show(ctx, j.ID); err != nil || one == nil || one.Submitted != j.Submitted {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := make(map[core.JobID]core.Time, len(jobs))
	marks := map[adapter.Key]sworn{}
	sure := true
	for i := range jobs {
		j := &jobs[i]
		there[j.ID] = j.Submitted
		if j.marked() && j.State != adapter.Done {
			m, ok := s.known.marks[j.Key]
			if ok = ok && m.free == j.free; ok {
				j.Mark, marks[j.Key] = m.mark, m
			}
			sure = sure && ok
		}
	}
	if sure { // else the marks that are known are needed again
		s.known.marks = marks
	}
	s.known.jobs = there
	return sure
}

// testify notes what squeue says of jobs, beside what a console said of them just before, and returns those that are not over.
func (s *System) testify(all []record, jobs []shown) []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.asked = true
	s.known.jobs = make(map[core.JobID]core.Time, len(all))
	marks := map[adapter.Key]sworn{}
	free := make(map[adapter.Key]string, len(jobs))
	for i := range jobs {
		if jobs[i].marked() {
			free[jobs[i].Key] = jobs[i].free
		}
	}
	kept := all[:0]
	for _, r := range all {
		s.known.jobs[r.ID] = r.Submitted
		if text, ok := free[r.Key]; ok {
			marks[r.Key] = sworn{text, r.Mark}
		}
		if r.State != adapter.Done {
			kept = append(kept, r)
		}
	}
	s.known.marks = marks
	s.known.many = len(kept) > manyJobs
	return kept
}

// show asks a console for one job. nil without an error: what it shows is not certain, or there is no console. ErrGone
// when Slurm does not know the job.
func (s *System) show(ctx context.Context, id core.JobID) (*shown, error) {
	out, err := s.run.run(ctx, call{program: "scontrol", args: []string{"--oneliner", "--all", "show", "job", fmt.Sprint(id)}, console: true})
	if errors.Is(err, errSilent) {
		return nil, nil
	}
	if says(err, "invalid job id") {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, err
	}
	jobs, err := parseShown(out.stdout)
	if err != nil {
		return nil, nil // forged, or of another release: squeue tells
	}
	return find(jobs, id), nil // an array's other tasks answer to its id too
}

// job reads one job, in whatever state. ErrGone when Slurm does not know it.
func (s *System) job(ctx context.Context, id core.JobID) (*record, error) {
	j, err := s.show(ctx, id)
	if err != nil {
		return nil, err
	}
	if j != nil && s.bears(j) {
		return &j.record, nil
	}
	list, err := s.squeue(ctx, "--states=all", fmt.Sprintf("--jobs=%d", id))
	if says(err, "invalid job id") {
		return nil, unknown(id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading job %d: %w", id, err)
	}
	for i := range list {
		r := &list[i]
		if r.ID != id {
			continue
		}
		if j != nil && j.Key == r.Key {
			s.mu.Lock()
			if s.known.marks == nil {
				s.known.marks = map[adapter.Key]sworn{}
			}
			s.known.marks[r.Key] = sworn{j.free, r.Mark}
			s.mu.Unlock()
		}
		return r, nil
	}
	return nil, unknown(id)
}

// bears fills in the job's mark and says whether it is certain.
func (s *System) bears(j *shown) bool {
	if !j.marked() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.known.marks[j.Key]
	j.Mark = m.mark
	return ok && m.free == j.free
}

func unknown(id core.JobID) error {
	return fmt.Errorf("job %d: Slurm does not know it any more: %w", id, adapter.ErrGone)
}
