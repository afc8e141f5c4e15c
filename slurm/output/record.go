package output

import (
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/slurm/number"
)

// A Record is a job as squeue or a console prints it. It adds to the job of the snapshot the fields that only the
// Slurm packages need. Both programs give the same record unless a field's comment says otherwise. A test compares
// them.
type Record struct {
	adapter.Job
	Account   string
	Nice      int64
	MaxNodes  int    // the maximum number of nodes in the job's request; Want is the minimum. For a job with nodes a console prints the same number as Want
	BatchHost string // the node of the batch script, which the job cannot release; "" if the job has no script or no node yet
	tier      int    // the highest PriorityTier of the job's partitions; ofPool sets it
	TaskIDs   string // the number of the array's task; for the pending rest of an array all its numbers, such as "7-40%2"
	Elements  string // TaskIDs of a pending job
	AtOnce    int    // how many of the array's tasks may run at the same time; 0 means any number. A console prints this for each task, squeue only for the record of the rest of an array
	DependsOn string
	Joined    []adapter.Part // companions of a running job
	MinTime   core.Time      // the shortest limit with which the job may start (--time-min), in seconds; 0 means Limit

	// What the job requested in addition to nodes, tasks and CPUs.
	MinCPUs       int    // the minimum number of CPUs of each node (--mincpus); 1 by default
	MinMemory     int64  // MB, of each node or each CPU (see MemoryPer); 0 if not set
	MemoryPer     string // the unit of MinMemory: "Node", "CPU", or from 24.11 on "TRES". Only consoles print it
	MinDisk       int64  // MB of temporary disk on each node (--tmp). Read from consoles only
	OverSubscribe string // how the job shares nodes, in Slurm's words: OK, NO, YES, USER, MCS
	Features      string // the argument of -C: fat, thin|fat, [thin*1&fat*2]; "" if there is none
	TRES          string // the resources that the job has, or requested if it has no nodes: cpu=8,mem=2000M,node=2,billing=8,gres/gpu=4
	// The TRES that the job requested per node, per job and per task: gres:gpu:2 (22.05), gres/gpu:2. Set only
	// for a job with a mark, because the owner of any other job can forge these fields.
	TRESPerNode, TRESPerJob, TRESPerTask string

	Configuring bool // the job's nodes are booting

	Resized core.Time // the second in which the job's size last changed; 0 if unknown. Read from consoles only

	Upfront    bool   // in a console's record, the keys from the partition to the features are Slurm's, not forged (see layout in package jobs)
	Unverified bool   // the job waits, and its owner's texts were never verified; Mark and Comment are empty
	Unreadable string // why a field is missing because it could not be parsed; "" if all fields were parsed
}

// The reasons why Slurm cannot safely resize some kinds of jobs.
const (
	UnfitHet = "a heterogeneous job cannot grow and shrink; submit it as one component"
)

// SetState sets the job's state from Slurm's name of the state. It also sets every field that depends on the state.
// `tasks` holds the task ids of an array.
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

// renumber sets the fields that follow from the ids of the tasks that the record represents.
func (r *Record) renumber(tasks string) {
	r.TaskIDs, r.TaskName, r.Elements = tasks, "", ""
	if task := r.Task(); task != "" {
		r.TaskName = fmt.Sprintf("%d_%s", r.Array, task)
	}
	if r.Array != 0 && r.State == adapter.Pending {
		r.Elements = tasks
	}
}

// HostFirst returns the nodes with the batch host first. It does not change the given slice, because other records
// may share it.
func HostFirst(nodes []string, host string) []string {
	i := slices.Index(nodes, host)
	if i <= 0 {
		return nodes
	}
	return slices.Insert(slices.Delete(slices.Clone(nodes), i, i+1), 0, host)
}

// setPending sets the fields that only a pending job has.
func setPending(r *Record, eligible core.Time) {
	r.Nodes = nil
	r.HeldByUser = r.Why == "JobHeldUser"
	r.Held = r.Held || r.Parked() || r.HeldByUser || r.Why == "JobHeldAdmin" || r.Priority == 0
	r.HeldBy, r.Adopted = r.heldBy(), r.Parked() && r.Mark != ""
	switch {
	case r.Parked() && (r.Why == "Reservation" || r.Why == "BeginTime"): // the sidecar's plan decides when this job begins
	case !r.Held || r.Parked() && !r.Stopped():
		r.Blocked = blocked(r.Why)
	}
	// Until a requeued job runs again, Slurm prints the number of nodes that it had as the number that it requests.
	// The TRES of the job still have the requested number.
	if n := nodesAmong(r.TRES); n > 0 && r.Parked() && n != r.Want {
		if r.MaxNodes == r.Want {
			r.MaxNodes = n
		}
		r.Want = n
	}
	if r.Held && r.DependsOn != "" { // Slurm prints the hold as the only reason
		r.Blocked, r.Why = true, "Dependency"
	}
	if eligible > r.Submitted {
		r.Begin = eligible
	}
	r.Latest = latest(r)
}

// latest returns the last second at which Slurm may start the job because of its deadline, or 0 if the job has no
// deadline. Slurm cancels a job that has not started by that second (state DEADLINE). A job without a limit may
// start at any time before its deadline.
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

// nodesAmong returns the number of nodes in a list of resources such as cpu=4,node=2, or 0 if the list has none.
func nodesAmong(tres string) int {
	for r := range number.Resources(tres) {
		if r.Kind == "node" {
			return int(max(r.Count, 0))
		}
	}
	return 0
}

// StateOf maps Slurm's name of a state to adapter.State. `held` reports whether that name means that the job is
// held. A state that a later release adds counts as running, so that the job's nodes do not count as free.
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

// blocked reports whether a job waits for something other than nodes. It recognizes the reasons that mean waiting
// for nodes. Slurm's hundred other reasons are limits, dates, dependencies and mistakes.
func blocked(reason string) bool {
	switch {
	case reason == "", reason == "None", reason == "Priority", reason == "Resources", reason == "Cleaning", reason == "Prolog":
		return false
	case strings.HasPrefix(reason, "ReqNodeNotAvail"):
		// The reason "UnavailableNodes:n3" means that the job requested a node that is down, so other idle nodes do
		// not help. For the other reasons the node is reserved, perhaps by the sidecar, and the job waits as other
		// jobs do.
		return strings.Contains(reason, "UnavailableNodes:") && !strings.HasSuffix(reason, "UnavailableNodes:")
	case strings.HasPrefix(reason, "Nodes required for job are DOWN"), strings.HasPrefix(reason, "Nodes_required_for_job_are_DOWN"):
		return false // the text continues "… or reserved for jobs in higher priority partitions", so the nodes may also be reserved
	}
	return true
}

// Comment returns the comment of a job. squeue and consoles lose blanks at its end.
func Comment(s string) string { return Text(strings.TrimRight(s, " ")) }

// Ends returns the second at which a running job reaches its time limit, or core.Forever if it has no limit.
func (r *Record) Ends() core.Time {
	if r.Limit >= core.Forever/2 {
		return core.Forever
	}
	return r.Started + r.Limit
}

// PerNodeRequest returns a text with everything that the job requests on each of its nodes. The text is the same
// for records of consoles and of squeue.
func (r *Record) PerNodeRequest() string {
	return fmt.Sprintf("%d CPUs, %d MB, %q, %q, %q", r.MinCPUs, r.MinMemory, r.Features, r.TRESPerNode, r.TRESPerTask)
}

// WantsGRES reports whether the job requests generic resources. Since 23.11 TRESPerTask also has the CPUs of each
// task (-c), which are not generic resources.
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

// TasksPerNode returns the number of tasks on each node, rounded up.
func (r *Record) TasksPerNode() int { return ceil(r.Tasks, r.Want) }

// CPUsPerTask returns the number of CPUs of each task, rounded up.
func (r *Record) CPUsPerTask() int { return ceil(r.CPUs, r.Tasks) }

func ceil(a, b int) int { return max(1, (a+max(b, 1)-1)/max(b, 1)) }
