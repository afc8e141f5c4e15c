package adapter

import (
	"strconv"

	"accordion/core"
)

// Key identifies a job permanently. A job ID alone does not identify a job permanently, because the
// batch system may use the ID again after a crash of its controller (facts/slurm.md, 6).
type Key struct {
	ID        core.JobID
	Submitted core.Time // Unix seconds
}

// State is the state of a job in the batch system.
type State string

// The states of a job.
const (
	Pending State = "pending" // the job waits, and may be held
	Running State = "running"
	Ending  State = "ending" // the job has ended, but not all of its nodes are released
	Done    State = "done"
)

// Job is one job as read from the batch system.
type Job struct {
	Key
	Array      core.JobID // the array of which the job is a task; 0 if there is none
	TaskName   string     // how users name a task of an array, such as 46_2; "" for other jobs
	Name       string
	User       string
	UID, GID   uint32
	Account    string // the account that is charged: Slurm's account, OAR's project
	Partition  string
	QOS        string
	State      State
	Held       bool   // the job is pending, and does not start until it is released
	HeldByUser bool   // the job's owner holds it, and can release it
	HeldBy     string // in words, who other than the sidecar holds the pending job; "" if only the sidecar holds it, or no one does
	Adopted    bool   // the pending job is in the state in which Adopt leaves a job; an operator may hold it in addition (HeldBy)
	Suspended  bool   // the job is running and holds its nodes, but an operator stopped its processes
	Blocked    bool   // the pending job would not start even on an empty machine (dependency, begin time, limits of an association)
	Why        string // the batch system's own reason why the job is pending or has ended
	Rigid      bool   // the pending job has no request, but the sidecar decides when it is let in (Gatekeeper)
	Unfit      string // why the batch system cannot resize the job correctly, as a text for its user (an array, a heterogeneous job); "" if it can

	Nodes       []string   // the nodes that the job holds: the batch host, the rest of its base allocation, and then the others in natural order; nil while it waits
	Base        int        // the job can never release the first `Base` nodes of Nodes; 0 means the batch host alone
	Want        int        // number of nodes requested; the minimum if the job requested a range
	Choices     []core.EP  // sizes from which the batch system itself chooses, each with a duration that includes OwnSizing.Pause; nil if the only size is Want
	Tasks, CPUs int        // totals that the job requested
	Kinds       []string   // kinds of nodes on which the job can run; nil means all
	Needs       string     // what the job requests on each node, as a text that can only be compared with that of other jobs; "" if not known
	Limit       core.Time  // time limit in seconds; core.Forever if there is none
	Started     core.Time  // Unix seconds; 0 while it waits
	Begin       core.Time  // Unix second before which the job must not start; 0 if there is none
	Deadline    core.Time  // Unix second by which the job must have ended, as its user requested; 0 if there is none
	Latest      core.Time  // Unix second after which the batch system no longer starts the pending job, but ends it because of its deadline; 0 if there is none
	Priority    int64      // the batch system's own priority, higher first
	Rank        []RankPart // the parts of the priority, if the batch system gives them
	CouldRun    core.Time  // if the batch system is an Ager, the first Unix second at which the pending job could have run, or NotYet; otherwise 0
	Most        NodeLimit  // the site's limit on the number of the job's nodes
	MostNow     NodeLimit  // Most, reduced by the number of nodes that other jobs under the same limit use now

	Reservation string     // the reservation to which the job is attached
	Comment     string     // the user's comment, which may begin with a request: ep=…, mold=…, launch=…
	Mark        string     // a text that only root can write; the job is managed if it begins with MarkPrefix
	Expands     core.JobID // the job for which this expander was made; 0 if the job is no expander
	Parts       []Part     // the job's own allocation, and the companions that hold the rest of Nodes; nil if the job's own allocation holds all nodes
	Grows       string     // in words, the way in which the job grows, and why that way was chosen; "" if the batch system has only one way
}

// nobodys is the user ID of the user "nobody".
const nobodys = 65534

// Nameless reports whether the batch system could not find the name of the job's user because the
// user directory did not answer. Slurm then shows "nobody", and newer releases of Slurm show the
// user ID.
func (j *Job) Nameless() bool {
	return j.User == "nobody" && j.UID != nobodys || j.User == strconv.FormatUint(uint64(j.UID), 10)
}

// NotYet is the value of Job.CouldRun while a job cannot run because it is held, depends on another job, or has a begin time in the future.
const NotYet core.Time = -1

// RankPart is one part of a job's priority.
type RankPart struct {
	Name   string `json:"name"` // age, fair share, QOS…
	Points int64  `json:"points"`
}

// NodeLimit is the largest number of nodes that a limit allows a job, with the name of the limit. The zero value means that there is no
// limit.
type NodeLimit struct {
	Nodes int
	Why   string // names the limit; "" if there is none
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
