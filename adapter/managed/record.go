package managed

import (
	"accordion/adapter"
	"accordion/core"
)

// A Phase is the state of a managed job.
type Phase string

// The phases of a job.
const (
	Waiting  Phase = "waiting"
	Starting Phase = "starting" // its start was decided; it may run at any second
	Running  Phase = "running"
	Ending   Phase = "ending" // the sidecar is ending it
)

// StepCalls is what is known about whether a job calls `accordion step`.
type StepCalls string

// The values of StepCalls. StepCallsUnknown means that the answer is not known yet.
const (
	StepCallsUnknown StepCalls = ""
	StepCallsMade    StepCalls = "step"
	StepCallsNever   StepCalls = "silent"
)

// A Record is what the journal keeps of one managed job. A change is written before it is carried
// out. The journals of running clusters have such records, so the JSON keys must not change.
type Record struct {
	adapter.Key
	User    string
	UID     uint32
	Account string `json:",omitempty"` // the account that is charged for the job; "" if there is none
	Name    string
	Request string // the request as accepted: "ep=2x20s,5x20s", "mold=4x2h|8x70m"

	Phase          Phase
	Adopted        bool        `json:",omitempty"`       // a reading showed the job in the state in which Adopt leaves it, so that any other hold is from the owner or an operator
	HolderTold     string      `json:"HeldBy,omitempty"` // who else holds the job, according to the last message to the user; "" if no one else does
	Decided        bool        // a start of the job was decided at least once
	Choice         int         // index of the chosen configuration; set when the start is decided
	Promise        []core.Time // promised end of each step, Unix seconds; set when the start is decided
	Planned        core.Time   // second for which the start was decided; 0 if none was decided
	Began          core.Time   // second in which the job began to run; 0 if it has not begun
	Limit          core.Time   // the job's time limit, in seconds, when it began to run; 0 if it has not begun
	Clock          core.Time   `json:",omitempty"`      // seconds by which the clock was set since the job began
	LimitAsked     core.Time   `json:"Asked,omitempty"` // the longer limit, in seconds, that the sidecar requested; seconds granted for this request do not add to the overrun allowance
	ShortLimit     core.Time   `json:"Short,omitempty"` // the time limit, in seconds, after it was shortened; 0 if it was not shortened
	CutProfile     core.EP     `json:"Cut,omitempty"`   // what ShortLimit leaves of the chosen profile; nil if nothing was cut
	WholePromise   []core.Time `json:"Whole,omitempty"` // the promise for the whole profile when the profile was cut
	Message        string      `json:"Word,omitempty"`  // a message that is still to be written to the job's output
	Step           int         // index of the present step
	Target         int         // index of the step to which a resize is under way; equal to Step if no resize is under way
	PlannedEnd     core.Time   `json:"Meant"`              // planned end of the present step when that step began, from which lateness counts
	OverrunUsed    core.Time   `json:"Overran"`            // seconds of the job's overrun allowance that past steps have used
	SidecarDelay   core.Time   `json:"Owed,omitempty"`     // seconds for which the job does not count as late, because the sidecar saw or announced the present step late
	OutageCost     core.Time   `json:"Stalled,omitempty"`  // seconds that outages of the batch system cost the job in its present step, which do not count as late either
	PastOutageCost core.Time   `json:"Delayed,omitempty"`  // seconds by which past steps ended later because of outages
	LimitExtended  core.Time   `json:"Extended,omitempty"` // seconds by which the job's time limit was raised because of outages
	SuspensionTold bool        `json:"Halts,omitempty"`    // the user was informed that an operator suspended the job
	SuspendedFor   core.Time   `json:"Halted,omitempty"`   // seconds of the present step for which the job was suspended
	OutageTold     bool        `json:"Excused,omitempty"`  // the user was informed of the outage in the present step
	WarnedAt       core.Time   `json:"Warned"`             // second of the warning that the present step should have ended; 0 if the job was not warned
	StepCalls      StepCalls   `json:"Voice"`              // whether the job calls `accordion step`
	ShrinkTold     bool        `json:"Noticed"`            // the next shrink was announced to a silent job
	NoShrinkBefore core.Time   `json:"Heeds,omitempty"`    // second before which the job does not shrink, because the shrink was announced late; 0 if it was announced in time
	HostsWritten   int         `json:"Told"`               // the generation in the job's hosts file plus one; 0 if there is no hosts file yet
	UntoldLosses   []string    `json:"Untold,omitempty"`   // lost nodes of which the job was not informed yet
	Nodes          []string    // the nodes that the job holds; those that it will release last come first
	Generation     int         `json:"Resizes"`        // the generation of Nodes: how many resizes and losses of nodes there were
	NodesBefore    []string    `json:"Before"`         // the nodes before the last resize
	ResizedAt      core.Time   `json:"Resized"`        // second of the last resize
	NodesForgotten []string    `json:"Again"`          // the nodes that the job held before the batch system forgot the last resize; nil if it forgot none
	ForgottenAt    core.Time   `json:"Since"`          // second in which the sidecar noticed that the batch system forgot a resize
	EndReason      string      `json:"Why"`            // why the sidecar ends the job
	EndDecidedAt   core.Time   `json:"Ends,omitempty"` // second in which the sidecar decided to end the job
	Rejected       Rejection   `json:",omitzero"`      // how the batch system last rejected the job's start
	CouldRun       core.Time   `json:",omitempty"`     // for a waiting job, the second since which it could have run (adapter.Job.CouldRun)
	// Unreserved means that no nodes are reserved ahead for later steps, because the job started
	// while its user exceeded [limits] unused.
	Unreserved        bool      `json:",omitempty"`
	UncountedUnused   core.Time `json:"Unpaid,omitempty"` // unused node-seconds of the last run that are not counted yet, because the job was requeued
	AdmittedAt        core.Time `json:"Let,omitempty"`    // second in which a rigid job was admitted; 0 if the job was not admitted
	Attached          bool      // the job may still be attached to the reservation for its start
	StartTold         core.Time `json:"Expected"`         // planned start that was last announced to the user, Unix seconds; 0 if none was
	BestEnd           core.Time `json:"Vowed"`            // the earliest end that the job was promised, Unix seconds; 0 if there is none
	SlipLogged        core.Time `json:"Slipped"`          // by how many seconds the promised end was later than BestEnd when that was last logged
	SlipCause         string    `json:"Broke"`            // the cause that was logged with SlipLogged
	StepLengthChecked bool      `json:"Judged,omitempty"` // the job was accepted under [limits] shortest_step, and has to respect that limit
	PacedUntil        core.Time `json:"Paced,omitempty"`  // second until which the job's resizes so far would last if they were evenly spaced; 0 if there was no resize
}
