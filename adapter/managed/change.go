package managed

import (
	"slices"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// A Change is one change to a job, as plain data that can be compared. This file has all types of
// changes.
type Change interface{ apply(r *Job) }

// Apply makes the changes in their order, and reports whether the job's record then has to be
// saved.
func (r *Job) Apply(changes []Change) (save bool) {
	for _, c := range changes {
		c.apply(r)
		switch c.(type) {
		case Released, ProgramsSeen, HostsUnwritten, CallFailed: // these changes do not concern the record
		default:
			save = true
		}
	}
	return save
}

// Changes to a job that waits or starts.
type (
	// Adopted records that the job now waits as adapter.Starter.Adopt leaves a job.
	Adopted struct{}

	// StartDecided records that the job will start at the second At on these nodes. EP is the
	// chosen profile.
	StartDecided struct {
		At         core.Time
		Choice     int
		EP         core.EP
		Nodes      []string
		Unreserved bool
	}

	// Released records that the batch system was asked to start the job at this instant.
	Released struct{ At time.Time }

	// StartUnsure records that the call that starts the job failed, although the batch system may
	// still carry it out until this instant.
	StartUnsure struct{ Until time.Time }

	// BackToQueue records that the start was taken back. The job waits again, from its first step.
	BackToQueue struct{}

	// SentBack records that the batch system did not start the job. The job is set aside.
	SentBack struct {
		Why   string
		At    core.Time
		Kinds string // the result of KindsOf for the pool
	}

	// Admitted records that a rigid job was admitted to the batch system's queue in this second.
	Admitted struct{ At core.Time }
)

// Changes to a running job because of a resize.
type (
	// ResizeBegun records that a resize to these nodes, and to the next step, begins.
	ResizeBegun struct {
		Nodes []string
		Ready time.Time // when all of these nodes were first seen free; zero if that is not measured
	}

	// ResizeFailed records that the resize under way failed. The job stays in its step.
	ResizeFailed struct{}

	// NodesHeld records the nodes that the job has held since the second At, and its allocations.
	NodesHeld struct {
		Nodes []string
		Parts []adapter.Part
		At    core.Time
	}

	// StepBegun records that the next step begins at the second At. The other fields replace fields
	// of the job.
	StepBegun struct {
		At               core.Time
		Overran, Delayed core.Time
		Paced            core.Time
		MovedBy          Obstacle
	}

	// ResizeRepeated records that a resize that the batch system had forgotten was repeated in this
	// second.
	ResizeRepeated struct{ At core.Time }

	// ForgottenNodesLost records that the job will not regain these nodes, whose allocation the
	// batch system forgot. The job continues without these nodes.
	ForgottenNodesLost struct{ Nodes []string }
)

// Changes to a running job after calls that asked the job something or informed it.
type (
	// Detached records that the job is no longer attached to the reservation of its start.
	Detached struct{}

	// LimitAsked records that the sidecar is requesting the longer limit.
	LimitAsked struct{}

	// StepCallsKnown records whether the job calls `accordion step`.
	StepCallsKnown struct{ StepCalls StepCalls }

	// Warned records that the job was warned, at the second At, that its step should have ended.
	Warned struct{ At core.Time }

	// OutageExcused records that the job's step may end later because of an outage. Message is
	// still to be sent to the user.
	OutageExcused struct{ Message string }

	// ProgramsSeen records the job's programs at the second At. Programs is nil if they could not
	// be read.
	ProgramsSeen struct {
		Programs *adapter.Programs
		At       core.Time
	}

	// HostsUnwritten records that the job's hosts file could not be written.
	HostsUnwritten struct{}

	// HostsWritten records that the job's hosts file was written.
	HostsWritten struct{}

	// NodesTold records that the job was informed of its nodes of this generation, or continues
	// without that information.
	NodesTold struct{ Generation int }

	// LossTold records that the job was informed that it has lost these nodes.
	LossTold struct{ Nodes []string }

	// ShrinkTold records that the job was informed which nodes it releases next.
	ShrinkTold struct{}

	// ShrinkNotBefore records that a shrink was announced late to the job, so that the job does not
	// shrink before this second.
	ShrinkNotBefore struct{ At core.Time }

	// MessageTold records that this message is in the job's output.
	MessageTold struct{ Message string }

	// EndDecided records that the sidecar decided, at the second At, to end the job for a reason.
	EndDecided struct {
		Why string
		At  core.Time
	}

	// CallFailed records that an operation failed. The fields replace fields of the job.
	CallFailed struct {
		Blocked  string
		Failures int
		Frozen   core.Time
		Refused  []string
		SetAside bool // the job loses its place in the plan
	}
)

func (Adopted) apply(r *Job) { r.Adopted = true }

func (c StartDecided) apply(r *Job) {
	r.Phase, r.Decided, r.Choice, r.Planned, r.Began, r.Step, r.Target = Starting, true, c.Choice, c.At, 0, 0, 0
	r.Nodes, r.Attached, r.ReleasedAt, r.Unreserved = c.Nodes, true, time.Time{}, c.Unreserved
	r.Promise = make([]core.Time, len(c.EP))
	r.SetPromise(c.At, c.EP)
}

func (c Released) apply(r *Job)    { r.ReleasedAt = c.At }
func (c StartUnsure) apply(r *Job) { r.LateCallUntil = c.Until }
func (BackToQueue) apply(r *Job)   { r.BackToQueue() }
func (c SentBack) apply(r *Job)    { r.Reject(c.Why, c.At, c.Kinds) }
func (c Admitted) apply(r *Job)    { r.AdmittedAt = c.At }

func (c ResizeBegun) apply(r *Job) {
	r.Target, r.NextNodes = r.Step+1, c.Nodes
	r.NodesBefore, r.NodesForgotten = slices.Clone(r.Nodes), nil
	if r.NodesReadyAt.IsZero() {
		r.NodesReadyAt = c.Ready
	}
}

func (ResizeFailed) apply(r *Job) { r.Target, r.NextNodes = r.Step, nil }

func (c NodesHeld) apply(r *Job) {
	r.SetNodes(c.Nodes, c.At)
	r.Parts = c.Parts
}

func (c StepBegun) apply(r *Job) {
	r.OverrunUsed, r.PastOutageCost, r.PacedUntil, r.PromiseMovedBy = c.Overran, c.Delayed, c.Paced, c.MovedBy
	r.Target = r.Step + 1
	r.BeginTargetStep(c.At)
	r.NextNodes, r.NodesForgotten = nil, nil // missing nodes of the previous step do not concern this step
	r.ResetStepCosts()
	r.PlannedEnd, r.WarnedAt, r.ShrinkTold, r.NoShrinkBefore, r.UntoldLosses, r.SidecarDelay, r.LimitRegained = r.Due(), 0, false, 0, nil, 0, false
	r.Generation++
	r.ResizedAt = c.At
	r.Obstacle, r.StandstillSeconds, r.NodesReadyAt = Nobody, 0, time.Time{}
}

func (c ResizeRepeated) apply(r *Job) { r.NodesForgotten, r.ResizedAt = nil, c.At }

func (c ForgottenNodesLost) apply(r *Job) {
	r.NodesForgotten = nil
	r.LoseNodes(c.Nodes)
}

func (Detached) apply(r *Job)          { r.Attached = false }
func (LimitAsked) apply(r *Job)        { r.WantedLimit = 0 }
func (c StepCallsKnown) apply(r *Job)  { r.StepCalls = c.StepCalls }
func (c Warned) apply(r *Job)          { r.WarnedAt = c.At }
func (c OutageExcused) apply(r *Job)   { r.OutageTold, r.Message = true, c.Message }
func (c ProgramsSeen) apply(r *Job)    { r.Programs, r.ProgramsReadAt = c.Programs, c.At }
func (HostsUnwritten) apply(r *Job)    { r.HostsFailures++ }
func (HostsWritten) apply(r *Job)      { r.HostsFailures = 0 }
func (c NodesTold) apply(r *Job)       { r.HostsWritten = c.Generation + 1 }
func (ShrinkTold) apply(r *Job)        { r.ShrinkTold = true }
func (c ShrinkNotBefore) apply(r *Job) { r.NoShrinkBefore = c.At }
func (c EndDecided) apply(r *Job)      { r.Phase, r.EndReason, r.EndDecidedAt = Ending, c.Why, c.At }

func (c LossTold) apply(r *Job) {
	r.UntoldLosses = slices.DeleteFunc(r.UntoldLosses, func(n string) bool { return slices.Contains(c.Nodes, n) })
	if len(r.UntoldLosses) == 0 {
		r.UntoldLosses = nil
	}
}

func (c MessageTold) apply(r *Job) {
	if r.Message == c.Message { // otherwise there is a newer message
		r.Message = ""
	}
}

func (c CallFailed) apply(r *Job) {
	r.WaitReason, r.Failures, r.FrozenSince, r.RefusedNodes = c.Blocked, c.Failures, c.Frozen, c.Refused
	if c.SetAside {
		r.Course = nil
	}
}
