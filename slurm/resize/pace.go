package resize

import (
	"context"
	"fmt"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
)

// slurmdbd has one row for each job and second. After two changes of size within one second, slurmdbd writes the
// second change into the row of the first, and treats that row as ended. Until the job ends, sacct then shows
// RESIZING with no elapsed time. If the job meanwhile holds nodes when a full hour passes, sreport never counts
// that time. Therefore all changes of size go through Resizer.resize.

// A pacer records the second in which each job's size last changed, because Slurm's own records may lack it.
type pacer struct {
	mu   sync.Mutex
	last map[adapter.Key]core.Time // Unix seconds; entries of past seconds are removed
}

// await waits until the second in which the job's size last changed has ended. It also waits for the end of the
// second in which the job was submitted, because the job's first accounting row has that second.
func (p *pacer) await(ctx context.Context, r *output.Record) error {
	p.mu.Lock()
	last := max(p.last[r.Key], r.Resized, r.Submitted)
	p.mu.Unlock()
	wait := time.Until(time.Unix(last+1, 0).Add(clockLag))
	if wait <= 0 {
		return nil
	}
	// This host's clock may be far behind Slurm's. The wait is limited, so that the job can still grow.
	if err := Pause(ctx, min(wait, time.Second+clockLag)); err != nil {
		return fmt.Errorf("waiting for the second after job %d's last change of size: %w", r.ID, err)
	}
	return nil
}

// clockLag is how far slurmctld's clock may be behind ours, because slurmctld reads a coarse clock that advances only
// at each kernel tick.
const clockLag = 20 * time.Millisecond

// record records that the job's size may have changed in the second `at`.
func (p *pacer) record(job adapter.Key, at core.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[adapter.Key]core.Time{}
	}
	for key, second := range p.last {
		if second < at-1 {
			delete(p.last, key)
		}
	}
	p.last[job] = at
}

// resize changes the size of a job in a second in which its size does not change otherwise. It makes one update, of
// the job or of the expander that is merged into the job. If `unless` returns true for the error, nothing was
// changed.
func (s *Resizer) resize(ctx context.Context, job *output.Record, update adapter.Key, unless func(error) bool, settings ...string) error {
	if err := s.pace.await(ctx, job); err != nil {
		return err
	}
	before := time.Now().Unix()
	err := s.Update(ctx, update, settings...)
	if err != nil && unless != nil && unless(err) {
		return err
	}
	s.pace.record(job.Key, s.changedAt(ctx, job.Key, before, time.Now().Unix()))
	return err
}

// changedAt returns the second of a change that was requested in the second `asked` and answered in the second
// `answered`. If these differ, the second in Slurm's own record of the job counts, if the record has one. On 22.05
// a merge takes slurmctld 0.3 s, most of it after the second that slurmctld records.
func (s *Resizer) changedAt(ctx context.Context, job adapter.Key, asked, answered core.Time) core.Time {
	if asked == answered {
		return answered
	}
	if r, err := s.Jobs.Find(ctx, job); err == nil && asked <= r.Resized && r.Resized < answered {
		return r.Resized
	}
	return answered
}

// keep shrinks a job to the given nodes.
//
// Some releases need NumNodes= so that slurmdbd does not count the new size from the start of the job (see
// output.Configuration.Recounts).
func (s *Resizer) keep(ctx context.Context, r *output.Record, nodes []string) error {
	c, err := s.Recent(ctx)
	if err != nil {
		return err
	}
	settings := []string{"NodeList=" + hostlist.Compact(nodes)}
	if c.Recounts() {
		settings = append(settings, fmt.Sprintf("NumNodes=%d", len(nodes)))
	}
	return s.resize(ctx, r, r.Key, nil, settings...)
}
