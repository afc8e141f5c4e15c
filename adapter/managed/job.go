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

// Job is what the sidecar knows of one managed job.
type Job struct {
	Record

	Part         *Part // of an application; nil: it is none
	Choices      []core.EP
	Seen         *adapter.Job      // as last read
	Touched      Epoch             // when we last did something to it: readings up to it are stale
	Busy         string            // the operation under way
	BeingResized bool              // that is one
	Parts        []adapter.Part    // the allocations that hold its nodes, where they are several
	Returned     Returned          // what left it last, and when
	NextNodes    []string          // what it will hold when the resize under way is done; nil without one
	TriedEarly   core.Time         // second at which going on early was last looked at
	Retry        time.Time         // no new operation before
	Straggles    time.Time         // until then a release that was given up may still be carried out; zero: none may
	Failures     int               // of operations in a row, for reasons that have no name
	Mover        Mover             // why its planned start moved, while that is still to be told
	Frozen       core.Time         // second since when the batch system does not change it; 0: it does
	Asks         *Question         // the application is at the end of its step, and asks
	Course       *Course           // its place in the present plan; nil without one
	NamedBefore  *Course           // its last place: nodes named there stay where they can
	Dirty        bool              // it changed since it was saved
	Refused      []string          // what a growth would have held that the batch system refused
	Late         bool              // its step should be over
	Heard        bool              // the application was told by this sidecar that its present step begins
	Ready        time.Time         // when all nodes of a due growth were seen free
	Released     time.Time         // when we had released it to start; zero after a restart
	Blocked      string            // what the next operation waits for, for status
	Unwritten    int               // times in a row that its hosts file could not be written
	MetLimit     string            // the limit of Accordion's own that its next operation waits for; "": none
	WaitsFor     Obstacle          // what a due growth waited for
	WaitsSince   core.Time         // second since which it waits for that
	Missed       core.Time         // seconds after its next step was due in which the sidecar stood still
	MovedBy      Obstacle          // what moved the promise last
	Longer       core.Time         // seconds, the limit that the batch system is to be asked for; 0: none
	HaltedAt     core.Time         // second at which it was last seen suspended; 0: it is not
	Programs     *adapter.Programs // what it ran when that was last looked at; nil: not known
	Looked       core.Time         // second of that; 0: never
	Regained     bool              // its limit was lengthened again in its present step: promises to others come first
}

// New is a job that was just taken up.
func New(seen *adapter.Job, request string, choices []core.EP) *Job {
	return &Job{
		Record:  Record{Key: seen.Key, User: seen.User, UID: seen.UID, Account: seen.Account, Name: seen.Name, Request: request, Phase: Waiting},
		Choices: choices, Seen: seen,
	}
}

// Restore makes a record whole again after it was read from the journal.
func Restore(data []byte) (*Job, error) {
	r := &Job{}
	if err := json.Unmarshal(data, &r.Record); err != nil {
		return nil, fmt.Errorf("journal: a job's record: %w", err)
	}
	var err error
	if r.Choices, err = adapter.ParseRequest(r.Request); err != nil {
		return nil, fmt.Errorf("journal: record of job %d: %w", r.ID, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("journal: record of job %d: %w", r.ID, err)
	}
	return r, nil
}

// Encode is the record as the journal keeps it.
func (r *Job) Encode() ([]byte, error) {
	data, err := json.Marshal(&r.Record)
	if err != nil {
		return nil, fmt.Errorf("journal: job %d: %w", r.ID, err)
	}
	return data, nil
}

// WaitFor notes what a due growth waits for.
func (r *Job) WaitFor(o Obstacle, now core.Time) {
	if r.WaitsFor != o {
		r.WaitsSince = now
	}
	r.WaitsFor = o
}

// BackToQueue takes a decided start back: the job waits again, from its beginning.
func (r *Job) BackToQueue() {
	r.Phase, r.Promise, r.Planned, r.Began, r.Step, r.Target, r.Nodes, r.Attached, r.Untold, r.Owed = Waiting, nil, 0, 0, 0, 0, nil, false, nil, 0
	r.Short, r.Cut, r.Whole, r.Word = 0, nil, nil, ""
	r.Delayed, r.Extended = 0, 0
	r.ForgetStall()
	r.Straggles = time.Time{}
}

// EP is the profile that was chosen, as far as its limit lets it run.
func (r *Job) EP() core.EP {
	if r.Cut != nil {
		return r.Cut
	}
	return r.Choices[r.Choice]
}

// IsEvolving says whether it asked for a profile, and not for a size.
func (r *Job) IsEvolving() bool { return strings.HasPrefix(r.Request, "ep=") }

// Rigid says whether it asked for nothing, and is ours to let in (adapter.Gatekeeper). Once it runs it is no managed job any more.
func (r *Job) Rigid() bool { return adapter.IsRigidRequest(r.Request) }

// Stopped says whether somebody but us keeps a rigid job that waits from being started: its owner, or an operator.
func (r *Job) Stopped() bool {
	return r.Seen.HeldByUser || r.Seen.Held && r.Seen.Priority == 0
}

// StoppedBy returns who keeps a waiting job from being started, and is not us; "" where there is none.
func (r *Job) StoppedBy() string {
	switch {
	case r.Seen == nil || r.Seen.State != adapter.Pending:
		return ""
	case r.Rigid():
		if r.Seen.HeldBy == "" && r.Stopped() {
			return "its owner or an operator"
		}
		return r.Seen.HeldBy
	case r.Seen.Adopted && !r.Adopted: // the sidecar may have died in the middle of adopting it
		return ""
	}
	return r.Seen.HeldBy
}

// StoppedText returns why such a job waits, and which command ends that.
func (r *Job) StoppedText() string {
	return fmt.Sprintf("held by %s; it goes on after scontrol release %d", r.StoppedBy(), r.ID)
}

// AskFor takes in what a waiting rigid job asks for now.
func (r *Job) AskFor(seen *adapter.Job) {
	request := adapter.RequestOfRigid(seen)
	if request == r.Request {
		return
	}
	if choices, err := adapter.ParseRequest(request); err == nil {
		r.Request, r.Choices, r.Dirty = request, choices, true
	}
}

// End is the Unix second at which it is promised to be over.
func (r *Job) End() core.Time { return r.Promise[len(r.Promise)-1] }

// Resizing says whether a resize is under way.
func (r *Job) Resizing() bool { return r.Target != r.Step }

// Due is the Unix second at which its present step is promised to end.
func (r *Job) Due() core.Time { return r.Promise[r.Step] }

// Final says whether it is in its last step.
func (r *Job) Final() bool { return r.Step == len(r.EP())-1 }

func (r *Job) total() core.Time { return r.EP().Total() }

// Kind is the word of DESIGN.md for what the job is.
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

// Reservation names the reservation for the job's step (0: its start).
func (r *Job) Reservation(step int) string {
	if r.Part != nil {
		return PartReservation(r.Part.Application)
	}
	return fmt.Sprintf("%s%d-%d", adapter.Prefix, r.ID, step)
}

// Current is the index of the step that a plan begins with: a resize under way is taken to succeed.
func (r *Job) Current() int {
	if r.NextNodes != nil {
		return r.Target
	}
	return r.Step
}

// Holds is the nodes that a plan begins with.
func (r *Job) Holds() []string {
	switch {
	case r.NextNodes != nil:
		return r.NextNodes
	case r.Again != nil:
		return r.Again
	}
	return r.Nodes
}

// Escaped says whether a job runs whose start was never decided: its owner got it out of its hold, which only the batch
// system's plug-in can prevent. Where a decided start was taken back or forgotten (by a batch system that lost its last
// seconds, say), and the job runs all the same, it is as managed as before.
func (r *Job) Escaped() bool { return r.Phase == Waiting && !r.Decided }

// Shown is the job's phase as people read it.
func (r *Job) Shown() string {
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

// Scheduled is the whole scheduled profile of a job that has a promise, from its beginning.
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

// Limited is what the site allows the job now, where one of its steps to come needs more.
func (r *Job) Limited() *view.Limit {
	for _, step := range r.EP()[r.Step:] {
		if !r.Seen.MostNow.Allows(step.Nodes) {
			return &view.Limit{Nodes: r.Seen.MostNow.Nodes, Why: r.Seen.MostNow.Why}
		}
	}
	return nil
}

// Allowed is the choices of a job that the site's limits allow, and which of all they are. Where they allow none it is refused
// elsewhere.
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

// Slower is the sizes of a moldable job's list that are never chosen where sizes are chosen by a rule (package sizing): they last
// longer than one with fewer nodes. "": there are none.
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

// Kinds is those on which a running job may go on; nil: all.
func (r *Job) Kinds() []string {
	if r.Seen == nil {
		return nil
	}
	return r.Seen.Kinds
}

// A job that the batch system does not change (ErrFrozen) is tried again for a while; then it is set aside: it has no
// place in the plan, so that nothing is kept free for it, and is tried again now and then.
const (
	thawing   core.Time = 30 // seconds until a job is set aside
	TryFrozen           = 5 * time.Second
	TryStiff            = time.Minute
)

// Stiff says whether the job could not be changed for long.
func (r *Job) Stiff(now time.Time) bool { return Stiff(r.Frozen, now) }

// Stiff says whether a job that could not be changed since a second could not be for long. 0: it could.
func Stiff(frozen core.Time, now time.Time) bool {
	return frozen > 0 && now.Unix() >= frozen+thawing
}

// SetAside says whether the job is to have no place in the plan now.
func (r *Job) SetAside(now time.Time) bool {
	return r.Stiff(now) && now.Before(r.Retry) || r.Rejected.Lasts(now)
}
