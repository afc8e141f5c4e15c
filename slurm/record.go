package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// A record is a job as squeue or a console shows it: what the sidecar sees of it, and what only this package needs to know.
// Both show the same (a test compares them), unless it says otherwise.
type record struct {
	adapter.Job
	account   string
	nice      int64
	maxNodes  int    // the most it asked for; Want is the least. Of a job that has nodes a console tells Want
	batchHost string // the node that runs the script and can never be given back; "": no script, or no node yet
	tier      int    // of its partitions, the highest; filled in by Observe
	array     int64  // the array's id; 0 when it is in none
	taskIDs   string // the number of an array's task; of a pending rest the numbers, "7-40%2"
	elements  string // the same of a pending job
	most      int    // how many of the array's tasks may run at a time; 0: any number. Consoles tell of each task, squeue of a rest only
	dependsOn string
	parts     []adapter.Part // its companions, of a running job
	suspended bool           // running, as far as nodes go: it has them, and none of its processes runs

	// What it asked for beyond nodes, tasks and CPUs.
	minCPUs       int    // at least so many on each node (--mincpus; 1 when it does not say)
	minMemory     int64  // MB, on each node or for each CPU; 0 when it does not say
	memoryPer     string // what minMemory is for: "Node", "CPU", or from 24.11 on "TRES". Consoles only: squeue does not tell
	overSubscribe string // OK, NO, YES, USER, MCS: how it shares nodes, as Slurm writes it
	features      string // -C, as it was given: fat, thin|fat, [thin*1&fat*2]; "" for none
	tres          string // cpu=8,mem=2000M,node=2,billing=8,gres/gpu=4: what it has, or where it has none what it asked for
	// TRES that it asked for by node, job and task: gres:gpu:2 (22.05), gres/gpu:2. Only of a job that bears a mark: a user
	// can make others look so.
	tresPerNode, tresPerJob, tresPerTask string

	configuring bool // its nodes boot

	upfront    bool   // of the keys in a console's record, the first from the partition to the features are Slurm's (see layout)
	unreadable string // why something in it could not be read and is missing here; "": all was
}

// Why Slurm cannot resize some kinds of jobs soundly.
const (
	unfitHet = "a heterogeneous job cannot grow and shrink; submit it as one component"
)

// settle fills in, and clears, what goes with the job's state, which is Slurm's word; tasks are the task ids of an array.
func (r *record) settle(word, tasks string, start, eligible core.Time) {
	r.State, r.Held = state(word)
	r.taskIDs = tasks
	r.suspended, r.configuring = word == "SUSPENDED", word == "CONFIGURING"
	r.Expands = expands(r)
	switch r.State {
	case adapter.Pending:
		waiting(r, tasks, eligible)
	case adapter.Done:
		r.Why, r.Nodes = word, nil
	default:
		r.Started = start
	}
}

// hostFirst is the nodes with the batch host before the others. The given list may be another job's too.
func hostFirst(nodes []string, host string) []string {
	i := slices.Index(nodes, host)
	if i <= 0 {
		return nodes
	}
	return slices.Insert(slices.Delete(slices.Clone(nodes), i, i+1), 0, host)
}

// waiting fills in what only a pending job has.
func waiting(r *record, tasks string, eligible core.Time) {
	r.Nodes = nil
	if r.array != 0 {
		r.elements = tasks
	}
	r.HeldByUser = r.Why == "JobHeldUser"
	r.Held = r.Held || r.parked() || r.HeldByUser || r.Why == "JobHeldAdmin" || r.Priority == 0
	switch {
	case r.parked() && (r.Why == "Reservation" || r.Why == "BeginTime"): // when it may begin, the plan knows
	case !r.Held || r.parked() && !r.stopped():
		r.Blocked = blocked(r.Why)
	}
	if r.Held && r.dependsOn != "" { // Slurm tells of the hold only
		r.Blocked, r.Why = true, "Dependency"
	}
	if eligible > r.Submitted {
		r.Begin = eligible
	}
}

// state maps Slurm's word to ours, and says whether the word alone means a hold. A job in a state of a later release
// counts as running: whatever nodes it shows are not free.
func state(word string) (s adapter.State, held bool) {
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

// comment is what a user wrote about his job. Blanks at its end are lost on the way.
func comment(s string) string { return text(strings.TrimRight(s, " ")) }

// A role is what a job is to another one.
type role int

const (
	ordinary  role = iota
	expander       // to be merged into its parent
	companion      // beside its parent, never merged
)

// role is what the job is made for, and ordinary when it merely calls itself so: what is ours was allocated inside one of our
// reservations, where only its owner's jobs can be, or bears a mark that only root can write. In Park everybody's jobs can be.
func (r *record) role() role {
	lent := strings.HasPrefix(r.Reservation, adapter.Prefix) && !r.parked()
	if r.parent() == 0 || !lent && companionOf(r.Mark).ID == 0 {
		return ordinary
	}
	if _, stays := Beside(r.Name); stays {
		return companion
	}
	return expander
}

// parent is the job that this one's name says it is made for; 0 for every other name.
func (r *record) parent() core.JobID {
	parent, _ := Beside(r.Name)
	return parent
}

// expands is the parent's id when the job is one of ours beside another; 0 for every other job.
func expands(r *record) core.JobID {
	if r.role() == ordinary {
		return 0
	}
	return r.parent()
}

// ends is the second of a running job's limit; core.Forever without one.
func (r *record) ends() core.Time {
	if r.Limit >= core.Forever/2 {
		return core.Forever
	}
	return r.Started + r.Limit
}

// A fieldReader reads fields and keeps the first error.
type fieldReader struct{ err error }

func (e *fieldReader) fail(name string, err error) {
	if err != nil && e.err == nil {
		e.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (e *fieldReader) number(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<32 {
		e.fail(name, fmt.Errorf("%q is not a number: %w", s, errForm))
		return 0
	}
	return n
}

func (e *fieldReader) count(name, s string) int {
	n, err := count(s)
	e.fail(name, err)
	return n
}

// most is a bound; 0 where there is none.
func (e *fieldReader) most(name, s string) int {
	if s == "UNLIMITED" {
		return 0
	}
	return e.count(name, s)
}

func (e *fieldReader) signed(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		e.fail(name, fmt.Errorf("%q is not a number: %w", s, errForm))
	}
	return n
}

func (e *fieldReader) memory(name, s string) int64 {
	n, err := megabytes(s)
	e.fail(name, err)
	return n
}

// limit is core.Forever where it cannot be read: a job that may run on keeps its nodes.
func (e *fieldReader) limit(name, s string) core.Time {
	t, err := limit(s)
	if err != nil {
		e.fail(name, err)
		return core.Forever
	}
	return t
}

func (e *fieldReader) instant(name, s string) core.Time {
	t, err := instant(s)
	e.fail(name, err)
	return t
}

func (e *fieldReader) nodes(list string, seen map[string][]string) []string {
	if names, ok := seen[list]; ok {
		return names
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		e.fail("NodeList", err)
		return nil
	}
	hostlist.Sort(names)
	seen[list] = names
	return names
}
