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

// A record is one line of squeue: a job, and what only this package needs to know of it.
type record struct {
	adapter.Job
	account   string
	maxNodes  int    // the most it asked for; Want is the least
	batchHost string // the node that runs the script and can never be given back
	tier      int    // of its partitions, the highest; filled in by Observe
	array     int64  // the array's id; 0 when it is in none
	elements  string // of an array's pending rest: the task ids, "7-40%2"
	dependsOn string
	parts     []adapter.Part // its companions, of a running job

	memory       int    // MB that it asks for on each node; 0: all, or none where memory is not given out
	minCPUs      int    // that it asks for on each node
	features     string // -C
	memoryPerCPU int    // the same for each CPU; 0: it says it for nodes
	perNode      string // generic resources that it asks for on each node, as Slurm writes them: gres:gpu:2
	perTask      string // the same for each task
	perJob       string // the same for the whole job
	configuring  bool   // its nodes boot
}

// fields is what is asked of squeue, in this order, as its -O names them. The last four hold what a user (or, for the
// nodes, nobody) can choose freely; they are told apart by the word.
var fields = []string{
	"JobID", "ArrayJobID", "ArrayTaskID", "HetJobID", "State", "Reason", "UserName", "UserID", "GroupID", "Partition",
	"QOS", "Account", "NumNodes", "MaxNodes", "NumTasks", "NumCPUs", "TimeLimit", "StartTime", "EligibleTime", "SubmitTime",
	"PriorityLong", "Reservation", "Dependency", "BatchHost", "NodeList",
}

var freeFields = []string{"admin_comment", "Name", "Comment"}

// format is the SQUEUE_FORMAT2 that prints each job as
//
//	field|field|…|field WORD mark WORD name WORD comment WORD newline
//
// A user may write anything into a name or comment, also a line end and a whole forged record. He cannot write the word:
// it is new with every call, and goes to squeue through its environment, which nobody else can read.
func format(word string) string {
	var b strings.Builder
	for i, f := range fields {
		b.WriteString(f + ":")
		if i < len(fields)-1 {
			b.WriteString("|,")
		} else {
			b.WriteString(word)
		}
	}
	for _, f := range freeFields {
		b.WriteString("," + f + ":" + word)
	}
	return b.String()
}

// parseSqueue reads what squeue printed under format(word). One job that cannot be read is an error: a plan that does
// not know of it would give its nodes away. A record has texts of its own: one that is kept for a job's whole life must not
// keep the megabytes of the list in which the job was first seen.
func parseSqueue(out, word string) ([]record, error) {
	if word == "" {
		return nil, fmt.Errorf("squeue: no word to separate the fields by")
	}
	jobs := make([]record, 0, strings.Count(out, word)/4)
	nodes := map[string][]string{} // host lists seen, the empty one above all
	for number := 1; out != ""; number++ {
		var parts [4]string // the plain fields, mark, name, comment
		for i := range parts {
			var ok bool
			if parts[i], out, ok = strings.Cut(out, word); !ok {
				return nil, fmt.Errorf("squeue: job %d of the list: ends too early: %w", number, errForm)
			}
			parts[i] = strings.Clone(parts[i])
		}
		if !strings.HasPrefix(out, "\n") {
			return nil, fmt.Errorf("squeue: job %d of the list: text after its end: %w", number, errForm)
		}
		out = out[1:]
		r, err := parseRecord(parts[0], nodes)
		if err != nil {
			return nil, fmt.Errorf("squeue: job %d of the list: %w", number, err)
		}
		r.Mark, r.Name, r.Comment = text(parts[1]), text(parts[2]), text(parts[3])
		r.Expands = expands(&r)
		jobs = append(jobs, r)
	}
	return jobs, nil
}

// parseRecord reads the plain fields.
func parseRecord(plain string, seen map[string][]string) (record, error) {
	var f [25]string
	for i := range f {
		var more bool
		f[i], plain, more = strings.Cut(plain, "|")
		if more != (i < len(f)-1) {
			return record{}, fmt.Errorf("not %d fields: %w", len(f), errForm)
		}
	}
	e := fieldReader{}
	var r record
	r.ID = core.JobID(e.number("JobID", f[0]))
	if array := text(f[1]); array != "" && text(f[2]) != "" {
		r.array = e.number("ArrayJobID", array)
	}
	switch {
	case r.array != 0:
		r.Unfit = unfitArray
	case text(f[3]) != "" && f[3] != "0":
		r.Unfit = unfitHet
	}
	r.State, r.Held = state(f[4])
	r.Why = text(f[5])
	r.User, r.Partition, r.QOS, r.account = f[6], f[9], text(f[10]), text(f[11])
	r.UID, r.GID = uint32(e.number("UserID", f[7])), uint32(e.number("GroupID", f[8]))
	r.Want, r.maxNodes = e.count("NumNodes", f[12]), e.count("MaxNodes", f[13])
	r.Tasks, r.CPUs = e.count("NumTasks", f[14]), e.count("NumCPUs", f[15])
	r.Limit = e.limit("TimeLimit", f[16])
	start, eligible := e.instant("StartTime", f[17]), e.instant("EligibleTime", f[18])
	r.Submitted = e.instant("SubmitTime", f[19])
	r.Priority = e.number("PriorityLong", f[20])
	r.Reservation, r.dependsOn, r.batchHost = text(f[21]), text(f[22]), text(f[23])
	if list := text(f[24]); list != "" {
		r.Nodes = hostFirst(e.nodes(list, seen), r.batchHost)
	}
	if e.err != nil {
		return record{}, e.err
	}
	r.settle(f[4], f[2], start, eligible)
	return r, nil
}

// Why Slurm cannot resize some kinds of jobs soundly.
const (
	unfitArray = "an array's tasks cannot grow and shrink; submit them as jobs of their own"
	unfitHet   = "a heterogeneous job cannot grow and shrink; submit it as one component"
)

// settle fills in, and clears, what goes with the job's state.
func (r *record) settle(word, tasks string, start, eligible core.Time) {
	switch r.State {
	case adapter.Pending:
		waiting(r, tasks, eligible)
	case adapter.Done:
		r.Why, r.Nodes = word, nil
	default:
		r.Started, r.configuring = start, word == "CONFIGURING"
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

// A role is what a job is to another one.
type role int

const (
	ordinary  role = iota
	expander       // to be merged into its parent
	companion      // beside its parent, never merged
)

// role is what the job is made for, and ordinary when it merely calls itself so: what is ours was allocated inside one of our
// reservations, where only its owner's jobs can be, or bears a mark that only root can write.
func (r *record) role() role {
	if r.parent() == 0 || !strings.HasPrefix(r.Reservation, adapter.Prefix) && companionOf(r.Mark).ID == 0 {
		return ordinary
	}
	if strings.HasPrefix(r.Name, withPrefix) {
		return companion
	}
	return expander
}

// parent is the job that this one's name says it is made for; 0 for every other name.
func (r *record) parent() core.JobID {
	for _, prefix := range []string{GrowPrefix, overPrefix, withPrefix} {
		if id, ok := strings.CutPrefix(r.Name, prefix); ok {
			if n, err := strconv.ParseUint(id, 10, 31); err == nil {
				return core.JobID(n)
			}
		}
	}
	return 0
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

func (e *fieldReader) megabytes(name, s string) int {
	n, err := megabytes(s)
	e.fail(name, err)
	return n
}

func (e *fieldReader) limit(name, s string) core.Time {
	t, err := limit(s)
	e.fail(name, err)
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
