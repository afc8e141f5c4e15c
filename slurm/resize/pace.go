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

// slurmdbd has one row for each job and second. A second change of size within one second is written into the row
// that the first change began and that has ended by then. Until the job ends, sacct then shows RESIZING with no
// elapsed time. What the job holds over a full hour is missing in sreport forever. Therefore all changes of size go
// through Resizer.resize.

// A pacer records in which second each job's size last changed, as far as Slurm's records do not say.
type pacer struct {
	mu   sync.Mutex
	last map[adapter.Key]core.Time // Unix seconds; past ones are removed
}

// await waits until the second has ended in which the job's size last changed, or in which the job was submitted: its
// first row has that second.
func (p *pacer) await(ctx context.Context, r *output.Record) error {
	p.mu.Lock()
	last := max(p.last[r.Key], r.Resized, r.Submitted)
	p.mu.Unlock()
	wait := time.Until(time.Unix(last+1, 0).Add(clockLag))
	if wait <= 0 {
		return nil
	}
	// A clock that is far behind Slurm's must not keep a job from growing.
	if err := Pause(ctx, min(wait, time.Second+clockLag)); err != nil {
		return fmt.Errorf("waiting for the second after job %d's last change of size: %w", r.ID, err)
	}
	return nil
}

// clockLag is how far slurmctld's clock may be behind ours: slurmctld reads one that advances at each kernel tick.
const clockLag = 20 * time.Millisecond

// record records that the job's size may have changed in the second.
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

// resize changes the size of a job by one update, of the job or of the expander that is merged into it, in a second
// without another change. If unless returns true for the error, nothing was changed.
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

// changedAt returns the second of a change that was requested and answered in the given seconds. A merge takes
// slurmctld 0.3 s on 22.05, most of it after the time that it records. Where the two seconds differ, Slurm's own
// record counts, if there is one.
func (s *Resizer) changedAt(ctx context.Context, job adapter.Key, asked, answered core.Time) core.Time {
	if asked == answered {
		return answered
	}
	if r, err := s.Jobs.Find(ctx, job); err == nil && asked <= r.Resized && r.Resized < answered {
		return r.Resized
	}
	return answered
}

// keep shrinks a job to the nodes.
//
// slurmdbd must not count the new size from the start of the job: see output.Configuration.Recounts.
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
