package adapter

import (
	"strconv"

	"accordion/core"
)

// Key names a job for good: job ids may be used again after a controller lost its last seconds (facts/slurm.md, 6).
type Key struct {
	ID        core.JobID
	Submitted core.Time // Unix seconds
}

// State is where a job stands in the batch system.
type State string

// The states of a job.
const (
	Pending State = "pending" // waiting, held or not
	Running State = "running"
	Ending  State = "ending" // over, its nodes not yet all released
	Done    State = "done"
)

// Job is one job as the batch system shows it.
type Job struct {
	Key
	Array      core.JobID // the array of which it is a task; 0: it is in none
	TaskName   string     // what users call one task of an array: 46_2; "" for every other job
	Name       string
	User       string
	UID, GID   uint32
	Account    string // that its use is charged to: Slurm's account, OAR's project
	Partition  string
	QOS        string
	State      State
	Held       bool   // pending, and will not start until it is released
	HeldByUser bool   // held by its owner, who can release it
	HeldBy     string // pending, and held by others than the sidecar: who that is, in words; "": by none
	Adopted    bool   // pending, and waits as Adopt leaves it, also where HeldBy holds it
	Suspended  bool   // running, as far as its nodes go: an operator stopped all that runs in it
	Blocked    bool   // pending, and would not start on an empty machine (dependency, begin time, limits of an association)
	Why        string // the batch system's own word for why it is pending or ended
	Rigid      bool   // pending, asks nothing of us, and is the sidecar's to let in all the same (Gatekeeper)
	Unfit      string // why the batch system cannot resize it soundly, for its user (an array, a heterogeneous job); "": it can

	Nodes       []string   // what it holds, in natural order, the batch host and the rest of its base first; nil while it waits
	Base        int        // so many of them, from the first, it can never give back; 0: the batch host alone
	Want        int        // nodes it asked for (the minimum, where it gave a range)
	Choices     []core.EP  // sizes among which the batch system itself chooses, or chose, Molds.Pause among each; nil: Want is all that is known
	Tasks, CPUs int        // what it asked for in all
	Kinds       []string   // of nodes that it can run on; nil: all
	Needs       string     // what it asks for on each node, as a text that changes with it; "": not told
	Limit       core.Time  // seconds; core.Forever when unlimited
	Started     core.Time  // Unix seconds; 0 while it waits
	Begin       core.Time  // not before; 0: no such wish
	Deadline    core.Time  // it is to have ended by then, as its user wishes; 0: no such wish
	Latest      core.Time  // pending: after that second the batch system ends it for its deadline and does not start it; 0: it has none
	Priority    int64      // the batch system's own rank, higher first
	Rank        []RankPart // what that is made of, where it says so
	CouldRun    core.Time  // second since which it could have run, of a pending job whose age the sidecar has to remember (Ager); NotYet; 0: nothing is to be remembered
	Most        Most       // nodes that the site's limits allow it ever
	MostNow     Most       // the same, as others of the same limits use them now

	Reservation string     // the one it is tied to
	Comment     string     // what its user wrote: ep=…, mold=…, launch=…
	Mark        string     // what only root can write: ours when it begins with MarkPrefix
	Expands     core.JobID // an expander's parent; 0 for every other job
	Parts       []Part     // its own allocation and those beside it that hold the rest of Nodes; nil: all is its own
	Grows       string     // the way in which it grows and why so, in words; "": the batch system has one way only
}

// nobodys is the number of the user nobody.
const nobodys = 65534

// Nameless reports whether the batch system did not find the name of the job's user, because the
// directory of users did not answer. Slurm then shows "nobody", and newer releases of it the user's
// number.
func (j *Job) Nameless() bool {
	return j.User == "nobody" && j.UID != nobodys || j.User == strconv.FormatUint(uint64(j.UID), 10)
}

// NotYet takes the place of the second since which a job could have run. The job cannot run yet: it
// is held, depends on another, or has a begin time in the future.
const NotYet core.Time = -1

// RankPart is one reason of a job's rank.
type RankPart struct {
	Name   string `json:"name"` // age, fair share, QOS…
	Points int64  `json:"points"`
}

// Most is how many nodes a limit allows a job, and which limit that is. The zero one is no limit.
type Most struct {
	Nodes int
	Why   string // "": there is none
}

// Allows says whether a job may have so many nodes.
func (m Most) Allows(nodes int) bool { return m.Why == "" || nodes <= m.Nodes }

// Part is an allocation that holds some of a job's nodes.
type Part struct {
	Job   core.JobID // the batch system's number of it; the job's own for its own
	Nodes []string
}

// MarkPrefix begins the mark of a job that is ours; what follows is the request, "ep=…", "mold=…" or
// "launch=…", as accepted.
const MarkPrefix = "accordion:"

// Prefix begins the name of everything the sidecar makes in a batch system.
const Prefix = "accordion-"
