package decide

import (
	"context"
	"errors"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
)

// rigid lets a job in that asks nothing of us, when its turn has come, and takes one out of the batch system's queue whose turn has not.
func (s Situation) rigid(r *managed.Job) Decision {
	lets := s.World.Lets(r)
	switch {
	case !r.Seen.Held && (lets || r.Let > 0 || r.Seen.Blocked):
		return Decision{Waits: word("the batch system starts it", r.Seen.Why)}
	case !r.Seen.Held:
		return s.keepOut(r)
	case r.Stopped():
		return Decision{Waits: r.StoppedText()}
	}
	if why, is := s.unplaced(r); is {
		return Decision{Waits: why}
	}
	if !lets {
		return Decision{Waits: "nodes"}
	}
	return s.letIn(r)
}

// word is what is waited for, with the batch system's own word for it.
func word(what, why string) string {
	if why == "" || why == "None" {
		return what
	}
	return what + ": " + why
}

func (s Situation) letIn(r *managed.Job) Decision {
	key, now, ahead := r.Key, s.World.Now, max(r.Course.Start-s.World.Now-s.World.Settings.StartLead, 0)
	return Decision{Do: &Operation{
		Verb: "let in",
		Acts: func(ctx context.Context, a *actions.Acts) error {
			gate, err := gateOf(a)
			if err != nil {
				return err
			}
			return a.LetIn(ctx, gate, key, ahead)
		},
		Done: func(time.Time) Outcome { r.Let = now; return Outcome{Save: true} },
	}}
}

func (s Situation) keepOut(r *managed.Job) Decision {
	key := r.Key
	return Decision{Do: &Operation{
		Verb: "keep out",
		Acts: func(ctx context.Context, a *actions.Acts) error {
			gate, err := gateOf(a)
			if err != nil {
				return err
			}
			return a.KeepOut(ctx, gate, key)
		},
	}}
}

func gateOf(a *actions.Acts) (adapter.Gatekeeper, error) {
	if gate, ok := a.System.(adapter.Gatekeeper); ok {
		return gate, nil
	}
	return nil, errors.New("this batch system keeps no job before a gate")
}
