package managed

import (
	"accordion/adapter"
	"accordion/core"
)

// Phase is where a managed job stands with the sidecar.
type Phase string

// The phases of a job.
const (
	Waiting  Phase = "waiting"
	Starting Phase = "starting" // its start was decided; it may run at any second
	Running  Phase = "running"
	Ending   Phase = "ending" // we are ending it
)

// Voice is whether a job asks for its next step itself.
type Voice string

// The voices of a job. UnheardVoice: it is not known yet.
const (
	UnheardVoice  Voice = ""
	SpeakingVoice Voice = "step"
	SilentVoice   Voice = "silent"
)

// Record is the durable memory of one managed job, written to the journal before what it says is true outside. Journals of
// running clusters are read with it: its fields keep their names.
type Record struct {
	adapter.Key
	User    string
	UID     uint32
	Account string `json:",omitempty"` // that its use is charged to; "": none
	Name    string
	Request string // as accepted: "ep=2x20s,5x20s", "mold=4x2h|8x70m"

	Phase    Phase
	Adopted  bool        `json:",omitempty"` // it was seen to wait as Adopt leaves it: who holds it from then on is not us
	HeldBy   string      `json:",omitempty"` // who held it, as last told; "": none but us
	Decided  bool        // its start was decided, once at least
	Choice   int         // of the request's configurations, once started
	Promise  []core.Time // planned end of each step, Unix seconds; set when the start is decided
	Planned  core.Time   // second for which its start was decided; 0 before
	Began    core.Time   // second it began to run; 0 before
	Limit    core.Time   // seconds, as it began; 0 before
	Clock    core.Time   `json:",omitempty"` // seconds, by which the clock was set since it began
	Asked    core.Time   `json:",omitempty"` // seconds, the longer limit that we asked for: what is granted of it is no allowance
	Short    core.Time   `json:",omitempty"` // seconds, the limit to which that was shortened; 0: it was not
	Cut      core.EP     `json:",omitempty"` // as much of the chosen profile as that leaves; nil: all of it
	Whole    []core.Time `json:",omitempty"` // the promise of all steps as it was then
	Word     string      `json:",omitempty"` // what its user is still to be told in its output
	Step     int         // index of the step it is in
	Target   int         // index of the step a resize is under way to; equal to Step when there is none
	Meant    core.Time   // planned end of the present step when it began: lateness counts from it
	Overran  core.Time   // seconds of its overrun allowance used at past boundaries
	Owed     core.Time   `json:",omitempty"` // seconds for which its application is not late: its present step's begin was seen so late, or nobody heard it
	Stalled  core.Time   `json:",omitempty"` // seconds that outages of the batch system cost it in its present step: it is not late for them either
	Delayed  core.Time   `json:",omitempty"` // seconds by which its past steps ended later for that
	Extended core.Time   `json:",omitempty"` // seconds by which its limit was raised for that
	Halts    bool        `json:",omitempty"` // an operator has suspended it, as last told
	Halted   core.Time   `json:",omitempty"` // seconds of its present step for which it was suspended
	Excused  bool        `json:",omitempty"` // its user was told, of the present step
	Warned   core.Time   // second of the warning that its present step should be over; 0 without one
	Voice    Voice       // whether it asks for its steps itself
	Noticed  bool        // a silent one was told of the shrink to come
	Heeds    core.Time   `json:",omitempty"` // second before which it does not shrink, since it was told late; 0: it was told in time
	Told     int         // the generation in its hosts file, plus one; 0: it has none yet
	Untold   []string    `json:",omitempty"` // nodes that it has lost without having been told
	Nodes    []string    // what it holds: the ones that leave last come first
	Resizes  int         // how many there were, and losses: the generation of what it holds
	Before   []string    // what it held before the last of them
	Resized  core.Time   // second of the last of them
	Again    []string    // what it held until the batch system forgot the last of them; nil: it has not
	Since    core.Time   // second at which that was seen
	Why      string      // why we end it
	Ends     core.Time   `json:",omitempty"` // second in which that was decided
	Rejected Rejection   `json:",omitzero"`  // by the batch system, when it was to start
	CouldRun core.Time   `json:",omitempty"` // second since which it could have run, while it waits (adapter.Job.CouldRun)
	// Unreserved: it began while its user was over [limits] unused, and no nodes are reserved ahead for its later steps.
	Unreserved bool      `json:",omitempty"`
	Unpaid     core.Time `json:",omitempty"` // node-seconds that its last run left unused, not counted yet: it was requeued
	Let        core.Time `json:",omitempty"` // second in which a rigid job was let in; 0: it waits before the gate
	Attached   bool      // it may still be tied to its start reservation
	Expected   core.Time // planned start that its user was told of last, Unix seconds; 0: none
	Vowed      core.Time // the best end that it was promised, Unix seconds; 0: none
	Slipped    core.Time // seconds by which the promised end is later than that, as last said
	Broke      string    // the cause said then
	Judged     bool      `json:",omitempty"` // it was taken up while there was a shortest step, which it has to keep
	Paced      core.Time `json:",omitempty"` // second until which its resizes would last at even distances; 0: it made none
}
