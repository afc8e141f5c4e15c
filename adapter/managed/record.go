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

// A StepCalls says whether a job calls `accordion step`.
type StepCalls string

// The values of StepCalls. StepCallsUnknown means that it is not known yet.
const (
	StepCallsUnknown StepCalls = ""
	StepCallsMade    StepCalls = "step"
	StepCallsNever   StepCalls = "silent"
)

// A Record is what the journal keeps of one managed job. A change is written before it is carried out. The journals of running clusters have
// such records, so the JSON keys must not change.
type Record struct {
	adapter.Key
	User    string
	UID     uint32
	Account string `json:",omitempty"` // the account that its use is charged to; "": none
	Name    string
	Request string // as accepted: "ep=2x20s,5x20s", "mold=4x2h|8x70m"

	Phase          Phase
	Adopted        bool        `json:",omitempty"`       // it was read while it was held as Adopt leaves it: another hold is from its owner or an operator
	HolderTold     string      `json:"HeldBy,omitempty"` // who else held it, as its user was last told; "": no one
	Decided        bool        // its start was decided at least once
	Choice         int         // index of the chosen configuration; set when the start is decided
	Promise        []core.Time // promised end of each step, Unix seconds; set when the start is decided
	Planned        core.Time   // second for which its start was decided; 0: it was not
	Began          core.Time   // second in which it began to run; 0: it has not
	Limit          core.Time   // its time limit when it began to run, in seconds; 0: it has not
	Clock          core.Time   `json:",omitempty"`      // seconds by which the clock was set since it began
	LimitAsked     core.Time   `json:"Asked,omitempty"` // the longer limit, in seconds, that the sidecar asked for: seconds granted for that are no allowance
	ShortLimit     core.Time   `json:"Short,omitempty"` // the limit, in seconds, to which its limit was shortened; 0: it was not
	CutProfile     core.EP     `json:"Cut,omitempty"`   // what that limit leaves of the chosen profile; nil: all of it
	WholePromise   []core.Time `json:"Whole,omitempty"` // the promise for the whole profile when it was cut
	Message        string      `json:"Word,omitempty"`  // a message that is still to be written to its output
	Step           int         // index of its present step
	Target         int         // index of the step to which a resize is under way; equal to Step if none is
	PlannedEnd     core.Time   `json:"Meant"`              // planned end of the present step when that began: lateness counts from it
	OverrunUsed    core.Time   `json:"Overran"`            // seconds of its overrun allowance that past steps used
	SidecarDelay   core.Time   `json:"Owed,omitempty"`     // seconds for which it does not count as late, because the sidecar saw or announced its present step late
	OutageCost     core.Time   `json:"Stalled,omitempty"`  // seconds that outages of the batch system cost it in its present step; they do not count as late either
	PastOutageCost core.Time   `json:"Delayed,omitempty"`  // seconds by which its past steps ended later because of outages
	LimitExtended  core.Time   `json:"Extended,omitempty"` // seconds by which its limit was raised because of outages
	SuspensionTold bool        `json:"Halts,omitempty"`    // its user was told that an operator suspended it
	SuspendedFor   core.Time   `json:"Halted,omitempty"`   // seconds of its present step for which it was suspended
	OutageTold     bool        `json:"Excused,omitempty"`  // its user was told of the outage in its present step
	WarnedAt       core.Time   `json:"Warned"`             // second in which it was warned that its present step should have ended; 0: it was not
	StepCalls      StepCalls   `json:"Voice"`              // whether it calls `accordion step`
	ShrinkTold     bool        `json:"Noticed"`            // a silent job was told of its next shrink
	NoShrinkBefore core.Time   `json:"Heeds,omitempty"`    // second before which it does not shrink, because it was told late; 0: it was told in time
	HostsWritten   int         `json:"Told"`               // the generation in its hosts file plus one; 0: it has no hosts file yet
	UntoldLosses   []string    `json:"Untold,omitempty"`   // nodes that it lost and was not told about yet
	Nodes          []string    // the nodes that it holds; those released last come first
	Generation     int         `json:"Resizes"`        // how many resizes and losses of nodes there were: the generation of Nodes
	NodesBefore    []string    `json:"Before"`         // the nodes before the last resize
	ResizedAt      core.Time   `json:"Resized"`        // second of the last resize
	NodesForgotten []string    `json:"Again"`          // the nodes before the batch system forgot the last resize; nil: it did not
	ForgottenAt    core.Time   `json:"Since"`          // second in which that was noticed
	EndReason      string      `json:"Why"`            // why the sidecar ends it
	EndDecidedAt   core.Time   `json:"Ends,omitempty"` // second in which that was decided
	Rejected       Rejection   `json:",omitzero"`      // how the batch system last rejected its start
	CouldRun       core.Time   `json:",omitempty"`     // second since which it could have run, while it waits (adapter.Job.CouldRun)
	// Unreserved: it started while its user was over [limits] unused, and no nodes are reserved ahead for its later steps.
	Unreserved        bool      `json:",omitempty"`
	UncountedUnused   core.Time `json:"Unpaid,omitempty"` // unused node-seconds of its last run that are not counted yet, because it was requeued
	AdmittedAt        core.Time `json:"Let,omitempty"`    // second in which a rigid job was admitted; 0: it was not
	Attached          bool      // it may still be tied to the reservation for its start
	StartTold         core.Time `json:"Expected"`         // planned start that its user was told last, Unix seconds; 0: none
	BestEnd           core.Time `json:"Vowed"`            // the best end that it was promised, Unix seconds; 0: none
	SlipLogged        core.Time `json:"Slipped"`          // seconds by which the promised end is later than BestEnd, as last logged
	SlipCause         string    `json:"Broke"`            // the cause that was logged for that
	StepLengthChecked bool      `json:"Judged,omitempty"` // it was accepted under [limits] shortest_step, and has to respect it
	PacedUntil        core.Time `json:"Paced,omitempty"`  // second until which its resizes would last if evenly spaced; 0: it made none
}
