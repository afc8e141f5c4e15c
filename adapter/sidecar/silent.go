package sidecar

import (
	"context"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/act"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
)

// Applications that never call `accordion step` are resized at their planned seconds and told: the job's hosts file is
// rewritten, then its batch script gets a signal. After a growth it may use the new nodes; a shrink is announced some
// seconds before, because it kills what runs on the leaving nodes at once.

// speak does what a silent job has to be told now. It says whether an operation was begun.
func (s *Sidecar) speak(ctx context.Context, v *plan.World, r *managed.Job) (bool, error) {
	if len(r.EP()) < 2 {
		return false, nil
	}
	switch {
	case r.Voice == managed.UnheardVoice && r.Asks != nil:
		r.Voice, r.Dirty = managed.SpeakingVoice, true
		return false, nil
	case r.Voice == managed.UnheardVoice:
		s.listen(ctx, r)
		return true, nil
	case r.Voice != managed.SilentVoice:
		return false, nil
	case r.Told <= r.Resizes: // what it holds changed since it was told
		m := message{nodes: r.Nodes, step: r.Step, generation: r.Resizes}
		if r.Told > 0 {
			m.says = fmt.Sprintf("step %d of %d: %d nodes, %s", r.Step+1, len(r.EP()), len(r.Nodes), names(r.Nodes))
			m.signal = r.Step > 0 && len(r.Nodes) > r.EP()[r.Step-1].Nodes // of a shrink it was told before
		}
		s.publish(ctx, r, m, func() error { r.Told = m.generation + 1; return s.save(r) })
		return true, nil
	case !r.Final() && !r.Noticed && r.EP()[r.Step+1].Nodes < len(r.Nodes) && v.Now >= r.Due()-s.settings.Silent.Notice:
		keep, due := r.Kept(r.EP()[r.Step+1].Nodes), r.Due()
		gone := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return slices.Contains(keep, n) })
		says := fmt.Sprintf("at %s this job gives back %s, and what runs there is killed; %s stays", adapter.Instant(due).Format(time.TimeOnly), names(gone), names(keep))
		s.publish(ctx, r, message{nodes: keep, step: r.Step + 1, generation: r.Resizes + 1, says: says, signal: true}, func() error {
			r.Noticed = true
			if err := s.save(r); err != nil {
				return err
			}
			return s.event(r, "noticed", fmt.Sprintf("told that it shrinks to %d nodes", len(keep)), map[string]any{"keep": names(keep), "planned": due})
		})
		return true, nil
	}
	return false, nil
}

// listen finds out whether the job asks for its steps itself. One whose script cannot be read is taken to.
func (s *Sidecar) listen(ctx context.Context, r *managed.Job) {
	speaks := true
	s.begin(ctx, r, "listen", func(ctx context.Context) error {
		if heard, err := s.acts.Speaks(ctx, r.Key); err == nil {
			speaks = heard
		}
		return nil
	}, func() error {
		if r.Voice = managed.SpeakingVoice; !speaks && r.Asks == nil {
			r.Voice = managed.SilentVoice
		}
		return s.save(r)
	})
}

// message is what a silent job is told.
type message struct {
	nodes            []string // for its hosts file
	step, generation int
	says             string // for its output; "": nothing
	signal           bool
}

// tries is how often a hosts file that cannot be written is tried, and once at each change from then on. After that the job
// goes on without: its nodes are promised to others.
const tries = 3

// publish rewrites the job's hosts file, then tells its user and its batch script. done is called when that is over, whether
// the file could be written or not.
func (s *Sidecar) publish(ctx context.Context, r *managed.Job, m message, done func() error) {
	text := r.Hosts(m.nodes, m.step, m.generation)
	job := *r.Seen
	job.Nodes = r.Nodes
	first, last := r.Unwritten+1 == tries, r.Unwritten+1 >= tries
	var unwritten error
	s.begin(ctx, r, "publish", func(ctx context.Context) error {
		unwritten = s.acts.Publish(ctx, &job, text, m.generation, m.nodes)
		switch {
		case act.Broken(unwritten) != nil:
			return unwritten
		case unwritten != nil && !last:
			return nil
		case unwritten != nil && first:
			if err := s.acts.Tell(ctx, job.Key, fmt.Sprintf("the hosts file of this job cannot be written: %v", unwritten)); err != nil {
				return err
			}
		}
		if m.says != "" {
			if err := s.acts.Tell(ctx, job.Key, m.says); err != nil {
				return err
			}
		}
		if !m.signal {
			return nil
		}
		return s.acts.Signal(ctx, job.Key, s.settings.Silent.Signal)
	}, func() error {
		if unwritten == nil {
			r.Unwritten = 0
		} else {
			s.notice(r.Key, fmt.Sprintf("the job's hosts file cannot be written: %v", unwritten))
			if r.Unwritten++; !last {
				r.Retry = s.later(3 * time.Second)
				return nil
			}
			if err := s.event(r, "untold", fmt.Sprintf("its hosts file cannot be written: %v", unwritten), nil); err != nil {
				return err
			}
		}
		return done()
	})
}
