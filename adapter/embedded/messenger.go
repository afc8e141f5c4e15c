package embedded

import (
	"context"
	"fmt"
	"strings"

	"accordion/adapter"
)

// Speaks implements adapter.BatchSystem.
func (s *System) Speaks(ctx context.Context, key adapter.Key) (bool, error) {
	speaks := false
	err := s.runs(ctx, "Speaks", key, func(j *job) { speaks = !j.spec.Silent })
	return speaks, err
}

// Signal implements adapter.BatchSystem.
func (s *System) Signal(ctx context.Context, key adapter.Key, signal string) error {
	return s.runs(ctx, "Signal", key, func(j *job) {
		select {
		case j.signals <- signal:
		default: // the job's script does not read its signals
		}
	})
}

// Tell implements adapter.BatchSystem.
func (s *System) Tell(ctx context.Context, key adapter.Key, text string) error {
	return s.runs(ctx, "Tell", key, func(j *job) { j.output = append(j.output, "accordion: "+text) })
}

// Publish implements adapter.BatchSystem. It returns an error unless the text lists exactly the nodes
// in of.Nodes. The implementation for OAR needs that, because it writes OAR's node file from of.Nodes.
func (s *System) Publish(ctx context.Context, of *adapter.Job, text string) (elsewhere string, err error) {
	if !strings.Contains(text, fmt.Sprintf(" nodes=%d ", len(of.Nodes))) || !strings.HasSuffix(text, "\n"+strings.Join(of.Nodes, "\n")+"\n") {
		return "", fmt.Errorf("publish hosts file of job %d: the job has %s, but the text has %q", of.ID, strings.Join(of.Nodes, ","), text)
	}
	err = s.runs(ctx, "Publish", of.Key, func(j *job) { j.hosts, elsewhere = text, j.spec.Elsewhere })
	return elsewhere, err
}

// runs calls act with the job if it runs, and otherwise returns adapter.ErrGone.
func (s *System) runs(ctx context.Context, verb string, key adapter.Key, act func(*job)) error {
	return s.do(ctx, Call{Verb: verb, Job: key.ID}, func() error {
		for _, j := range s.jobs {
			if j.key == key && j.state == adapter.Running {
				act(j)
				return nil
			}
		}
		return fmt.Errorf("job %d: %w", key.ID, adapter.ErrGone)
	})
}
