package output

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/number"
)

// A Record is a job as squeue or a console shows it: what the sidecar sees of it, and what only this package needs to know.
// Both show the same (a test compares them), unless it says otherwise.
type Record struct {
	adapter.Job
	Account   string
	Nice      int64
	MaxNodes  int    // the most it asked for; Want is the least. Of a job that has nodes a console tells Want
	BatchHost string // the node that runs the script and can never be given back; "": no script, or no node yet
	tier      int    // of its partitions, the highest; filled in by Observe
	TaskIDs   string // the number of an array's task; of a pending rest the numbers, "7-40%2"
	Elements  string // the same of a pending job
	AtOnce    int    // how many of the array's tasks may run at a time; 0: any number. Consoles tell of each task, squeue of a rest only
	DependsOn string
	Joined    []adapter.Part // its companions, of a running job
	MinTime   core.Time      // the shortest limit with which it may start (--time-min), in seconds; 0: its limit

	// What it asked for beyond nodes, tasks and CPUs.
	MinCPUs       int    // at least so many on each node (--mincpus; 1 when it does not say)
	MinMemory     int64  // MB, on each node or for each CPU; 0 when it does not say
	MemoryPer     string // what minMemory is for: "Node", "CPU", or from 24.11 on "TRES". Consoles only: squeue does not tell
	MinDisk       int64  // MB of temporary disk on each node (--tmp). Consoles only: squeue is not asked
	OverSubscribe string // OK, NO, YES, USER, MCS: how it shares nodes, as Slurm writes it
	Features      string // -C, as it was given: fat, thin|fat, [thin*1&fat*2]; "" for none
	TRES          string // cpu=8,mem=2000M,node=2,billing=8,gres/gpu=4: what it has, or where it has none what it asked for
	// TRES that it asked for by node, job and task: gres:gpu:2 (22.05), gres/gpu:2. Only of a job that bears a mark: a user
	// can make others look so.
	TRESPerNode, TRESPerJob, TRESPerTask string

	Configuring bool // its nodes boot

	Resized core.Time // second of its last change of size; 0: none is known. Consoles only: squeue is not asked

	Upfront    bool   // of the keys in a console's record, the first from the partition to the features are Slurm's (see layout)
	Unverified     bool   // waits, and what users write of it was never certain yet: its mark and comment are left out
	Unreadable string // why something in it could not be read and is missing here; "": all was
}

// Why Slurm cannot resize some kinds of jobs soundly.
const (
	UnfitHet = "a heterogeneous job cannot grow and shrink; submit it as one component"
)

// SetState fills in, and clears, what goes with the job's state, which is Slurm's word; tasks are the task ids of an array.
func (r *Record) SetState(word, tasks string, start, eligible core.Time) {
	r.State, r.Held = StateOf(word)
	r.renumber(tasks)
	r.Suspended, r.Configuring = word == "SUSPENDED", word == "CONFIGURING"
	r.Expands, r.Latest = expands(r), 0
	switch r.State {
	case adapter.Pending:
		setPending(r, eligible)
	case adapter.Done:
		r.Why, r.Nodes = word, nil
	default:
		r.Started = start
	}
}

// renumber fills in what follows from the ids of the array's tasks that the record stands for.
func (r *Record) renumber(tasks string) {
	r.TaskIDs, r.TaskName, r.Elements = tasks, "", ""
	if task := r.Task(); task != "" {
		r.TaskName = fmt.Sprintf("%d_%s", r.Array, task)
	}
	if r.Array != 0 && r.State == adapter.Pending {
		r.Elements = tasks
	}
}

// HostFirst is the nodes with the batch host before the others. The given list may be another job's too.
func HostFirst(nodes []string, host string) []string {
	i := slices.Index(nodes, host)
	if i <= 0 {
		return nodes
	}
	return slices.Insert(slices.Delete(slices.Clone(nodes), i, i+1), 0, host)
}

// setPending fills in what only a pending job has.
func setPending(r *Record, eligible core.Time) {
	r.Nodes = nil
	r.HeldByUser = r.Why == "JobHeldUser"
	r.Held = r.Held || r.Parked() || r.HeldByUser || r.Why == "JobHeldAdmin" || r.Priority == 0
	r.HeldBy, r.Adopted = r.heldBy(), r.Parked() && r.Mark != ""
	switch {
	case r.Parked() && (r.Why == "Reservation" || r.Why == "BeginTime"): // when it may begin, the plan knows
	case !r.Held || r.Parked() && !r.Stopped():
		r.Blocked = blocked(r.Why)
	}
	// Until it runs again, what was requeued is shown with as many nodes as it had; among its resources is what it asks for.
	if n := nodesAmong(r.TRES); n > 0 && r.Parked() && n != r.Want {
		if r.MaxNodes == r.Want {
			r.MaxNodes = n
		}
		r.Want = n
	}
	if r.Held && r.DependsOn != "" { // Slurm tells of the hold only
		r.Blocked, r.Why = true, "Dependency"
	}
	if eligible > r.Submitted {
		r.Begin = eligible
	}
	r.Latest = latest(r)
}

// latest returns the last second at which Slurm starts the job, by its deadline; 0: it has none. After
// that Slurm ends the job as soon as it looks at it (DEADLINE). A job without a limit may start at any
// time before its deadline.
func latest(r *Record) core.Time {
	least := r.Limit
	if r.MinTime > 0 {
		least = r.MinTime
	}
	if r.Deadline == 0 || least >= core.Forever/2 {
		return 0
	}
	return r.Deadline - least
}

// nodesAmong is the nodes in a list of resources such as cpu=4,node=2; 0: it names none.
func nodesAmong(tres string) int {
	for r := range number.Resources(tres) {
		if r.Kind == "node" {
			return int(max(r.Count, 0))
		}
	}
	return 0
}

// StateOf maps Slurm's word to ours, and says whether the word alone means a hold. A job in a state of a later release
// counts as running: whatever nodes it shows are not free.
func StateOf(word string) (s adapter.State, held bool) {
	switch word {
	case "PENDING", "REQUEUED", "REQUEUE_FED":
		return adapter.Pending, false
	case "SPECIAL_EXIT", "REQUEUE_HOLD", "RESV_DEL_HOLD":
		return adapter.Pending, true
	case "COMPLETING", "STAGE_OUT":
		return adapter.Ending, false
	case "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
		"REVOKED", "LAUNCH_FAILED":
		return adapter.Done, false
	}
	return adapter.Running, false // RUNNING, CONFIGURING, SUSPENDED, STOPPED, SIGNALING, RESIZING…
}

// blocked says whether a job waits for something else than nodes. The list is of the reasons that mean nodes: all of
// Slurm's hundred others are limits, dates, dependencies and mistakes.
func blocked(reason string) bool {
	switch {
	case reason == "", reason == "None", reason == "Priority", reason == "Resources", reason == "Cleaning", reason == "Prolog":
		return false
	case strings.HasPrefix(reason, "ReqNodeNotAvail"):
		// "UnavailableNodes:n3": it asked for a node that is down, so more idle nodes do not help it. Without that,
		// the node is reserved, perhaps by us, and it waits as others do.
		return strings.Contains(reason, "UnavailableNodes:") && !strings.HasSuffix(reason, "UnavailableNodes:")
	case strings.HasPrefix(reason, "Nodes required for job are DOWN"), strings.HasPrefix(reason, "Nodes_required_for_job_are_DOWN"):
		return false // or reserved, or wanted by a higher partition: it may be any of them
	}
	return true
}

// Comment is what a user wrote about his job. Blanks at its end are lost on the way.
func Comment(s string) string { return Text(strings.TrimRight(s, " ")) }

// Ends is the second of a running job's limit; core.Forever without one.
func (r *Record) Ends() core.Time {
	if r.Limit >= core.Forever/2 {
		return core.Forever
	}
	return r.Started + r.Limit
}

// PerNodeRequest returns what the job asks for on each of its nodes, as a text that changes with it.
// Consoles and squeue return the same text.
func (r *Record) PerNodeRequest() string {
	return fmt.Sprintf("%d CPUs, %d MB, %q, %q, %q", r.MinCPUs, r.MinMemory, r.Features, r.TRESPerNode, r.TRESPerTask)
}

// WantsGRES reports whether the job asks for generic resources. Since 23.11 the CPUs of each task (-c) are in TRESPerTask, too: they
// are none.
func (r *Record) WantsGRES() bool {
	for _, list := range []string{r.TRESPerNode, r.TRESPerTask, r.TRESPerJob, r.TRES} {
		for wanted := range number.Resources(list) {
			if wanted.Kind == number.Device && wanted.Count > 0 {
				return true
			}
		}
	}
	return false
}

// TasksPerNode is how many tasks the job has on each node, rounded up.
func (r *Record) TasksPerNode() int { return ceil(r.Tasks, r.Want) }

// CPUsPerTask is how many CPUs each task has.
func (r *Record) CPUsPerTask() int { return ceil(r.CPUs, r.Tasks) }

func ceil(a, b int) int { return max(1, (a+max(b, 1)-1)/max(b, 1)) }
