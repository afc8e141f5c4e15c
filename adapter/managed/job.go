package managed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/sizing"
)

// A Job is what the sidecar knows of one managed job.
type Job struct {
	Record              // what the journal keeps
	Unsaved   bool      // the record changed since it was last saved
	Part      *Part     // set if the job is a part of an application; nil otherwise
	Choices   []core.EP // the profiles or configurations that the job requested
	Reading             // what was last read of the job
	Operation           // what the sidecar does to the job
	Plan                // the job's place in the plan
	Wait                // what the job waits for
	Dialog              // questions of the application, and messages to it
}

// A Reading is what was last read of a job.
type Reading struct {
	Seen           *adapter.Job      // the job in the last reading that contained it; nil if no reading did
	Parts          []adapter.Part    // the allocations that hold the job's nodes, if there are several
	FrozenSince    core.Time         // second since which the batch system has refused to change the job; 0 if it does not refuse
	SuspendedAt    core.Time         // second of the last reading, if the job was suspended in it; 0 if it was not
	Programs       *adapter.Programs // the job's programs when they were last read; nil if not known
	ProgramsReadAt core.Time         // second in which Programs was read; 0 if it never was
}

// An Operation describes the operation under way for a job, the last operation, and when the next
// one may begin.
type Operation struct {
	LastEpoch     Epoch         // epoch of the last call for the job: readings up to this epoch may not show that call
	Underway      string        // the verb of the operation under way; "" if none is
	BeingResized  bool          // the operation under way is a resize
	NextNodes     []string      // the nodes that the job will hold after the resize under way; nil if no resize is under way
	ReleasedLast  ReleasedNodes // the nodes that the job released last
	RetryAt       time.Time     // no operation begins before this instant
	Failures      int           // number of operations in a row that failed for reasons without a pause of their own
	LateCallUntil time.Time     // until this instant the batch system may still carry out a release that timed out; zero if there is no such release
	RefusedNodes  []string      // the nodes of a growth that the batch system refused
	ReleasedAt    time.Time     // when the job was released to start; zero after a restart of the sidecar
	NodesReadyAt  time.Time     // when all nodes of a due growth were first seen free
	HostsFailures int           // how many times in a row the hosts file could not be written
	WantedLimit   core.Time     // the time limit to request, in seconds; 0 if the limit stays
}

// A Plan has the decisions of the present plan about a job. plan.World.Apply writes all fields but
// LimitRegained.
type Plan struct {
	Course        *Course   // the job's place in the present plan; nil if the job has none
	NamedBefore   *Course   // the job's place in an earlier plan, whose nodes the next plan keeps if possible
	TriedEarly    core.Time // second in which the planner last tried to let the job continue early
	LimitRegained bool      // the time limit was raised again in the present step, so that promises to other jobs come first
}

// A Wait is what a job waits for, and what delayed it.
type Wait struct {
	WaitReason        string    // what the next operation waits for, as shown by `accordion status`
	LimitMet          string    // the [limits] key because of which the next operation waits; "" if there is none
	Obstacle          Obstacle  // what a due growth waits for
	ObstacleSince     core.Time // second since which the growth waits for the obstacle
	StandstillSeconds core.Time // seconds, after the next step was due, in which the sidecar's loop did not run
	PromiseMovedBy    Obstacle  // what moved the job's promise last
}

// A Dialog has the open question of a job's application, and the messages that are still to be sent
// to the user.
type Dialog struct {
	Question  *Question // the application is at the end of its step, and waits for the answer
	Late      bool      // the job's step should have ended
	StepTold  bool      // this sidecar informed the application that its present step began
	StartMove StartMove // why the planned start moved, which is still to be sent to the user
}

// New returns a waiting job that was just accepted.
func New(seen *adapter.Job, request string, choices []core.EP) *Job {
	return &Job{
		Record:  Record{Key: seen.Key, User: seen.User, UID: seen.UID, Account: seen.Account, Name: seen.Name, Request: request, Phase: Waiting},
		Choices: choices, Reading: Reading{Seen: seen},
	}
}

// Restore returns a job whose record was read from the journal.
func Restore(data []byte) (*Job, error) {
	r := &Job{}
	if err := json.Unmarshal(data, &r.Record); err != nil {
		return nil, fmt.Errorf("read journal record of a job: %w", err)
	}
	var err error
	if r.Choices, err = adapter.ParseRequest(r.Request); err != nil {
		return nil, fmt.Errorf("read journal record of job %d: %w", r.ID, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read journal record of job %d: %w", r.ID, err)
	}
	return r, nil
}

// Encode returns the record as the journal keeps it.
func (r *Job) Encode() ([]byte, error) {
	data, err := json.Marshal(&r.Record)
	if err != nil {
		return nil, fmt.Errorf("encode journal record of job %d: %w", r.ID, err)
	}
	return data, nil
}

// WaitFor records what a due growth waits for.
func (r *Job) WaitFor(o Obstacle, now core.Time) {
	if r.Obstacle != o {
		r.ObstacleSince = now
	}
	r.Obstacle = o
}

// BackToQueue undoes a decided start: the job waits again, with its whole profile.
func (r *Job) BackToQueue() {
	r.Phase, r.Promise, r.Planned, r.Began, r.Step, r.Target, r.Nodes, r.Attached, r.UntoldLosses, r.SidecarDelay = Waiting, nil, 0, 0, 0, 0, nil, false, nil, 0
	r.ShortLimit, r.CutProfile, r.WholePromise, r.Message = 0, nil, nil, ""
	r.PastOutageCost, r.LimitExtended = 0, 0
	r.ResetStepCosts()
	r.LateCallUntil = time.Time{}
}

// EP returns the chosen profile, or what the time limit leaves of it.
func (r *Job) EP() core.EP {
	if r.CutProfile != nil {
		return r.CutProfile
	}
	return r.Choices[r.Choice]
}

// IsEvolving reports whether the job asked for an evolution profile.
func (r *Job) IsEvolving() bool { return strings.HasPrefix(r.Request, "ep=") }

// Rigid reports whether the job made no request, and is managed only until it is admitted
// (adapter.Gatekeeper).
func (r *Job) Rigid() bool { return adapter.IsRigidRequest(r.Request) }

// HeldByOther reports whether the owner or an operator holds a waiting rigid job.
func (r *Job) HeldByOther() bool {
	return r.Seen.HeldByUser || r.Seen.Held && r.Seen.Priority == 0
}

// OtherHolder returns who, other than the sidecar, holds a waiting job, and "" if no one does.
func (r *Job) OtherHolder() string {
	switch {
	case r.Seen == nil || r.Seen.State != adapter.Pending:
		return ""
	case r.Rigid():
		if r.Seen.HeldBy == "" && r.HeldByOther() {
			return "its owner or an operator"
		}
		return r.Seen.HeldBy
	case r.Seen.Adopted && !r.Adopted: // the sidecar may have died while it adopted the job
		return ""
	}
	return r.Seen.HeldBy
}

// HeldText returns why a job held by others waits, and which command releases it.
func (r *Job) HeldText() string {
	return fmt.Sprintf("held by %s; it goes on after scontrol release %d", r.OtherHolder(), r.ID)
}

// UpdateRequest updates the request of a waiting rigid job, whose size and limit the owner may
// change.
func (r *Job) UpdateRequest(seen *adapter.Job) {
	request := adapter.RequestOfRigid(seen)
	if request == r.Request {
		return
	}
	if choices, err := adapter.ParseRequest(request); err == nil {
		r.Request, r.Choices, r.Unsaved = request, choices, true
	}
}

// End returns the promised end of the job, in Unix seconds.
func (r *Job) End() core.Time { return r.Promise[len(r.Promise)-1] }

// Resizing reports whether a resize is under way.
func (r *Job) Resizing() bool { return r.Target != r.Step }

// Due returns the promised end of the present step, in Unix seconds.
func (r *Job) Due() core.Time { return r.Promise[r.Step] }

// Final reports whether the job is in its last step.
func (r *Job) Final() bool { return r.Step == len(r.EP())-1 }

func (r *Job) total() core.Time { return r.EP().Total() }

// Kind returns the kind of the job as `accordion status` shows it: evolving, moldable, rigid or
// delegated.
func (r *Job) Kind() string {
	if r.Part != nil {
		return view.Delegated
	}
	switch {
	case r.IsEvolving():
		return "evolving"
	case r.Rigid():
		return "rigid"
	}
	return "moldable"
}

// Reservation returns the name of the reservation for a step. Steps count from 0, and the
// reservation of step 0 is for the start.
func (r *Job) Reservation(step int) string {
	if r.Part != nil {
		return PartReservation(r.Part.Application)
	}
	return fmt.Sprintf("%s%d-%d", adapter.Prefix, r.ID, step)
}

// PlanStep returns the index of the step with which a plan for the job begins. It assumes that a
// resize under way succeeds.
func (r *Job) PlanStep() int {
	if r.NextNodes != nil {
		return r.Target
	}
	return r.Step
}

// NodesForPlan returns the nodes that a plan assumes the job holds at its start.
func (r *Job) NodesForPlan() []string {
	switch {
	case r.NextNodes != nil:
		return r.NextNodes
	case r.NodesForgotten != nil:
		return r.NodesForgotten
	}
	return r.Nodes
}

// Escaped reports whether a running job's start was never decided. The owner of such a job released
// it, which only the batch system's plug-in can prevent. A job whose start was decided and then
// undone or forgotten has not escaped. It stays managed if it runs anyway, for example after the
// batch system lost the changes of its last seconds.
func (r *Job) Escaped() bool { return r.Phase == Waiting && !r.Decided }

// PhaseText returns the job's phase as `accordion status` shows it.
func (r *Job) PhaseText() string {
	switch {
	case r.Phase == Running && r.Resizing() && r.EP()[r.Target].Nodes > len(r.Nodes):
		return "growing"
	case r.Phase == Running && r.Resizing():
		return "shrinking"
	case r.Phase == Running && r.Late:
		return "late"
	default:
		return string(r.Phase)
	}
}

// Scheduled returns the whole scheduled profile of a job with a promise.
func (r *Job) Scheduled() core.EP {
	from := r.Planned
	if r.Began > 0 {
		from = r.Began
	}
	ep := make(core.EP, len(r.Promise))
	for i, end := range r.Promise {
		ep[i] = core.Step{Duration: max(end-from, 0), Nodes: r.EP()[i].Nodes}
		from = end
	}
	return ep
}

// Limited returns the limit of the site that a later step of the job exceeds now, and nil if no
// step exceeds a limit.
func (r *Job) Limited() *view.Limit {
	for _, step := range r.EP()[r.Step:] {
		if !r.Seen.MostNow.Allows(step.Nodes) {
			return &view.Limit{Nodes: r.Seen.MostNow.Nodes, Why: r.Seen.MostNow.Why}
		}
	}
	return nil
}

// Allowed returns the choices that the site's limits allow, and their indices. If the limits allow
// none, it returns all choices and nil. plan.World.Impossible refuses such a job.
func (r *Job) Allowed() (choices []core.EP, named []int) {
	for i, ep := range r.Choices {
		if r.Seen.Most.Allows(ep.Peak()) {
			choices, named = append(choices, ep), append(named, i)
		}
	}
	if len(choices) == 0 {
		return r.Choices, nil
	}
	return choices, named
}

// Slower returns the sizes in a moldable job's list that a sizing rule never chooses, because a
// smaller size is faster. It returns "" if there are none.
func (r *Job) Slower() string {
	s := sizing.New(core.Job{Choices: r.Choices}, sizing.HalfReference)
	if s == nil || s.Several {
		return ""
	}
	var all []core.EP
	for _, ep := range r.Choices {
		if !slices.Contains(s.Steps, ep[0]) {
			all = append(all, ep)
		}
	}
	return moldable.Format(all)
}

// Kinds returns the kinds of nodes on which the job may run; nil means all.
func (r *Job) Kinds() []string {
	if r.Seen == nil {
		return nil
	}
	return r.Seen.Kinds
}

// If the batch system refuses to change a job (adapter.ErrFrozen), the sidecar tries again every
// RetryFrozen. After freezePatience seconds the job is set aside. It then has no place in the plan,
// so that no nodes are kept free for it, and the sidecar tries again every RetryLongFrozen.
const (
	freezePatience  core.Time = 30 // seconds
	RetryFrozen               = 5 * time.Second
	RetryLongFrozen           = time.Minute
)

// LongFrozen reports whether the batch system has refused to change the job for a long time.
func (r *Job) LongFrozen(now time.Time) bool { return LongFrozen(r.FrozenSince, now) }

// LongFrozen reports whether the batch system has refused for more than freezePatience seconds to
// change a job. `frozen` is the second since which it has refused, and 0 if it does not refuse.
func LongFrozen(frozen core.Time, now time.Time) bool {
	return frozen > 0 && now.Unix() >= frozen+freezePatience
}

// SetAside reports whether the job has no place in the plan now.
func (r *Job) SetAside(now time.Time) bool {
	return r.LongFrozen(now) && now.Before(r.RetryAt) || r.Rejected.InForce(now)
}
