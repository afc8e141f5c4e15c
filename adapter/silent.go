package adapter

import (
	"context"
	"fmt"
	"strings"
)

// Applications that never call `accordion step` are resized at their planned seconds and told: the job's hosts file is
// rewritten, then its batch script gets a signal. After a growth it may use the new nodes; a shrink is announced some
// seconds before, because it kills what runs on the leaving nodes at once.

// speak does what a silent job has to be told now. It says whether an operation was begun.
func (s *Sidecar) speak(ctx context.Context, v *sight, r *record) (bool, error) {
	if len(r.ep()) < 2 {
		return false, nil
	}
	switch {
	case r.Voice == unheard:
		s.listen(ctx, r)
		return true, nil
	case r.Voice != silent:
		return false, nil
	case r.Told <= r.Resizes: // what it holds changed since it was told
		first, grew := r.Told == 0, r.Step > 0 && len(r.Nodes) > r.ep()[r.Step-1].Nodes
		generation := r.Resizes
		s.publish(ctx, r, r.Nodes, r.Step, r.Resizes, !first && grew, func() { r.Told = generation + 1 })
		return true, nil
	case !r.final() && !r.Noticed && r.ep()[r.Step+1].Nodes < len(r.Nodes) && v.now >= r.due()-s.settings.Silent.Notice:
		keep := r.kept(r.ep()[r.Step+1].Nodes)
		r.Noticed = true
		if err := s.save(r); err != nil {
			return false, err
		}
		s.publish(ctx, r, keep, r.Step+1, r.Resizes+1, true, func() {})
		return true, s.event(r, "noticed", fmt.Sprintf("told that it shrinks to %d nodes", len(keep)), map[string]any{"keep": names(keep), "planned": r.due()})
	}
	return false, nil
}

// listen finds out whether the job asks for its steps itself. One whose script cannot be read is taken to.
func (s *Sidecar) listen(ctx context.Context, r *record) {
	speaks := true
	s.begin(ctx, r, "listen", func(ctx context.Context, _ *acting) error {
		ctx, cancel := context.WithTimeout(ctx, s.settings.Deadline)
		defer cancel()
		if heard, err := s.system.Speaks(ctx, r.Key); err == nil {
			speaks = heard
		}
		return nil
	}, func() error {
		if r.Voice = speaking; !speaks && r.ask == nil {
			r.Voice = silent
		}
		return s.save(r)
	})
}

// publish rewrites the job's hosts file and tells its batch script.
func (s *Sidecar) publish(ctx context.Context, r *record, nodes []string, step, generation int, tell bool, done func()) {
	text := r.hosts(nodes, step, generation)
	job := *r.seen
	job.Nodes = r.Nodes
	s.begin(ctx, r, "publish", func(ctx context.Context, a *acting) error {
		args := map[string]any{"generation": generation, "nodes": names(nodes)}
		err := a.do(ctx, "publish", args, func(ctx context.Context) error { return s.system.Publish(ctx, &job, text) })
		if err != nil || !tell {
			return err
		}
		signal := s.settings.Silent.Signal
		return a.do(ctx, "signal", map[string]any{"signal": signal}, func(ctx context.Context) error { return s.system.Signal(ctx, job.Key, signal) })
	}, func() error { done(); return s.save(r) })
}

// hosts is the text of the job's hosts file: a line of what it is, then a node a line, the batch host first.
func (r *record) hosts(nodes []string, step, generation int) string {
	from := r.Began
	if step > 0 {
		from = r.Promise[step-1]
	}
	return fmt.Sprintf("# generation=%d step=%d steps=%d nodes=%d from=%d until=%d\n%s\n",
		generation, step+1, len(r.ep()), len(nodes), from, r.Promise[step], strings.Join(nodes, "\n"))
}
