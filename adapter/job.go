package adapter

import (
	"strconv"

	"accordion/core"
)

// Key identifies a job permanently. A job ID alone does not: the batch system may use it again after a crash of its controller
// (facts/slurm.md, 6).
type Key struct {
	ID        core.JobID
	Submitted core.Time // Unix seconds
}

// State is the state of a job in the batch system.
type State string

// The states of a job.
const (
	Pending State = "pending" // waiting, held or not
	Running State = "running"
	Ending  State = "ending" // it has ended, but not all of its nodes are released
	Done    State = "done"
)

// Job is one job as read from the batch system.
type Job struct {
	Key
	Array      core.JobID // the array of which it is a task; 0: none
	TaskName   string     // how users name a task of an array, such as 46_2; "" for other jobs
	Name       string
	User       string
	UID, GID   uint32
	Account    string // the account that is charged: Slurm's account, OAR's project
	Partition  string
	QOS        string
	State      State
	Held       bool   // pending, and does not start until it is released
	HeldByUser bool   // held by its owner, who can release it
	HeldBy     string // pending, and held by someone other than the sidecar: by whom, in words; "": not held
	Adopted    bool   // pending, and in the state in which Adopt leaves it, even if HeldBy also holds it
	Suspended  bool   // running, because it keeps its nodes, but an operator stopped its processes
	Blocked    bool   // pending, and would not start even on an empty machine (dependency, begin time, limits of an association)
	Why        string // the batch system's own reason why it is pending or has ended
	Rigid      bool   // pending, without a request, but the sidecar decides when it is let in (Gatekeeper)
	Unfit      string // why the batch system cannot resize it correctly, for its user (an array, a heterogeneous job); "": it can

	Nodes       []string   // the nodes it holds, in natural order after those of its base allocation; the batch host is the first. nil while it waits
	Base        int        // how many of them, from the first, it can never give back; 0: the batch host alone
	Want        int        // number of nodes it asked for (the minimum, if it gave a range)
	Choices     []core.EP  // configurations from which the batch system itself chooses, each including OwnSizing.Pause; nil: there is only Want
	Tasks, CPUs int        // totals that it asked for
	Kinds       []string   // kinds of nodes that it can run on; nil: all
	Needs       string     // what it asks for on each node, as an opaque text to compare; "": not known
	Limit       core.Time  // seconds; core.Forever if unlimited
	Started     core.Time  // Unix seconds; 0 while it waits
	Begin       core.Time  // Unix second before which it must not start; 0: none
	Deadline    core.Time  // Unix second by which it must have ended, as its user wishes; 0: none
	Latest      core.Time  // pending: Unix second after which the batch system no longer starts it but ends it because of its deadline; 0: none
	Priority    int64      // the batch system's own priority, higher first
	Rank        []RankPart // the parts of the priority, if the batch system gives them
	CouldRun    core.Time  // pending, in an Ager: Unix second since which it could have run, or NotYet; 0: other jobs
	Most        NodeLimit  // nodes that the site's limits allow it
	MostNow     NodeLimit  // the same, minus what other jobs under these limits use now

	Reservation string     // the reservation it is attached to
	Comment     string     // its user's comment: ep=…, mold=…, launch=…
	Mark        string     // a text that only root can write; the job is managed if it begins with MarkPrefix
	Expands     core.JobID // the job that this expander expands; 0: it is no expander
	Parts       []Part     // its own allocation and the companions that hold the rest of Nodes; nil: its own allocation holds all
	Grows       string     // how it grows and why so, in words; "": the batch system has only one way
}

// nobodys is the user ID of the user "nobody".
const nobodys = 65534

// Nameless reports whether the batch system could not find the name of the job's user because the user directory did not answer. Slurm then
// shows "nobody", and newer releases of it show the user ID.
func (j *Job) Nameless() bool {
	return j.User == "nobody" && j.UID != nobodys || j.User == strconv.FormatUint(uint64(j.UID), 10)
}

// NotYet is the value of Job.CouldRun while a job cannot run: it is held, depends on another job, or has a begin time in the future.
const NotYet core.Time = -1

// RankPart is one part of a job's priority.
type RankPart struct {
	Name   string `json:"name"` // age, fair share, QOS…
	Points int64  `json:"points"`
}

// NodeLimit is the number of nodes that a limit allows a job, and which limit that is. The zero value means that there is no limit.
type NodeLimit struct {
	Nodes int
	Why   string // names the limit; "": there is none
}

// Allows reports whether a job may have that number of nodes.
func (m NodeLimit) Allows(nodes int) bool { return m.Why == "" || nodes <= m.Nodes }

// Part is an allocation that holds some of a job's nodes.
type Part struct {
	Job   core.JobID // number of the batch job with this allocation; the job's own number for its base allocation
	Nodes []string
}

// MarkPrefix begins the mark of a managed job. The accepted request follows: "ep=…", "mold=…" or "launch=…".
const MarkPrefix = "accordion:"

// Prefix begins the name of everything that the sidecar creates in a batch system.
const Prefix = "accordion-"
