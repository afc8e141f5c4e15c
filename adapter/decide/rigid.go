package decide

import (
	"accordion/adapter/actions"
	"accordion/adapter/managed"
)

// rigid admits a rigid job to the batch system's queue when the plan starts the job, and keeps it
// out of that queue until then.
func (s Situation) rigid(r *managed.Job) Decision {
	lets := s.World.Admits(r)
	switch {
	case !r.Seen.Held && (lets || r.AdmittedAt > 0 || r.Seen.Blocked):
		return Decision{Waits: withReason("the batch system starts it", r.Seen.Why)}
	case !r.Seen.Held:
		return Decision{Do: call("keep out", actions.KeepOut{Job: r.Key})}
	case r.HeldByOther():
		return Decision{Waits: r.HeldText()}
	}
	if why, is := s.unplaced(r); is {
		return Decision{Waits: why}
	}
	if !lets {
		return Decision{Waits: "nodes"}
	}
	return s.letIn(r)
}

// withReason returns what a job waits for, followed by the batch system's own reason.
func withReason(what, why string) string {
	if why == "" || why == "None" {
		return what
	}
	return what + ": " + why
}

func (s Situation) letIn(r *managed.Job) Decision {
	op := call("let in", actions.LetIn{Job: r.Key, Ahead: max(r.Course.Start-s.World.Now-s.World.Settings.StartLead, 0)})
	op.Then.Changes = []managed.Change{managed.Admitted{At: s.World.Now}}
	return Decision{Do: op}
}
