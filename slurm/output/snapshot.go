package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
)

// This file builds the sidecar's snapshot from Slurm's output. It folds companions and unfinished merges into their
// jobs, selects the pool, and puts pending jobs in rank order.

// Snapshot returns the snapshot of the pool.
func Snapshot(in Inventory, jobs []Record, pool []string) (*adapter.Snapshot, error) {
	inPool, err := PoolNodes(in, pool)
	if err != nil {
		return nil, err
	}
	tiers := map[string]int{} // PriorityTier by partition, for partitions with nodes of the pool
	for _, p := range in.Partitions {
		if slices.ContainsFunc(p.Nodes, func(n string) bool { return inPool[n] }) {
			tiers[p.Name] = p.Tier
		}
	}
	snapshot := &adapter.Snapshot{}
	touching := ofPool(jobs, tiers, inPool)
	held := map[string]bool{}
	for i := range touching {
		touching[i].Job.Account = touching[i].Account
		for _, n := range touching[i].Nodes {
			held[n] = true
		}
	}
	for _, n := range in.Nodes {
		if inPool[n.Name] {
			n.Idle = n.Idle && !held[n.Name]
			snapshot.Nodes = append(snapshot.Nodes, n.Node)
		}
	}
	slices.SortFunc(snapshot.Nodes, func(a, b adapter.Node) int { return hostlist.Compare(a.Name, b.Name) })
	for _, r := range in.Reservations {
		if r.Nodes = hostlist.Within(r.Nodes, inPool); len(r.Nodes) > 0 && !IsWaitingReservation(r.Name) {
			snapshot.Reservations = append(snapshot.Reservations, r)
		}
	}
	snapshot.Jobs, snapshot.Remarks = ranked(touching), append(remarks(touching), unknownStates(in, inPool)...)
	return snapshot, nil
}

// Hidden returns what Slurm hides from users (PrivateData).
func Hidden(c Configuration) adapter.Hidden {
	words := strings.Split(strings.ToLower(c["PrivateData"]), ",")
	hides := func(some ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return w == "all" || slices.Contains(some, w) })
	}
	return adapter.Hidden{Jobs: hides("jobs"), Reservations: hides("reservations"), Nodes: hides("nodes"), Accounts: hides("accounts", "usage", "users")}
}

// remarks returns a remark for each job with a field that could not be parsed.
func remarks(jobs []Record) []adapter.Remark {
	var all []adapter.Remark
	for i := range jobs {
		if r := &jobs[i]; r.Unreadable != "" {
			all = append(all, adapter.Remark{Job: r.Key, Text: "a field that Slurm prints of the job cannot be parsed, and is ignored: " + r.Unreadable})
		}
	}
	return all
}

// unknownStates returns a remark for each unknown word in the states of the pool's nodes.
func unknownStates(in Inventory, pool map[string]bool) (all []adapter.Remark) {
	of := map[string][]string{}
	for _, n := range in.Nodes {
		for _, word := range n.unknown {
			if pool[n.Name] {
				of[word] = append(of[word], n.Name)
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(of)) {
		text := fmt.Sprintf("node state: Slurm prints %q, which Accordion does not know: jobs are kept off such nodes (now %s)", word, hostlist.Compact(of[word]))
		all = append(all, adapter.Remark{Text: text, Once: "node state " + word})
	}
	return all
}

// ofPool returns the running jobs that hold nodes of the pool, without their other nodes. It also returns the
// pending jobs that may get nodes of the pool.
func ofPool(jobs []Record, tiers map[string]int, pool map[string]bool) []Record {
	kept := make([]Record, 0, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if j.State != adapter.Pending {
			if nodes := hostlist.Within(j.Nodes, pool); len(nodes) > 0 {
				kept = append(kept, *j)
				kept[len(kept)-1].Nodes = nodes
			}
			continue
		}
		reaches, tier := false, 0
		for p := range strings.SplitSeq(j.Partition, ",") {
			if t, ok := tiers[p]; ok {
				reaches, tier = true, max(tier, t)
			}
		}
		if reaches {
			kept = append(kept, *j)
			kept[len(kept)-1].tier = tier
		}
	}
	return kept
}

// ranked returns the snapshot's jobs: first the pending jobs in rank order, then the others in Slurm's order.
//
// Slurm starts pending jobs by partition tier, priority, submission, id and task. A held job has priority 0, and
// therefore no rank of its own. It follows the last job that was submitted before it, so that it does not overtake
// an earlier job.
func ranked(jobs []Record) []adapter.Job {
	var waiting, held, others []*Record
	for i := range jobs {
		switch j := &jobs[i]; {
		case j.State != adapter.Pending:
			others = append(others, j)
		case j.Priority == 0:
			held = append(held, j)
		default:
			waiting = append(waiting, j)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.Priority, a.Priority), compareRank(a, b))
	})
	slices.SortStableFunc(held, compareRank)

	// earliest[i] is the first submitted job of waiting[i:] that could start. A held job that was submitted before
	// earliest[i] comes before waiting[i].
	result := make([]adapter.Job, 0, len(jobs))
	earliest := make([]*Record, len(waiting)+1)
	for i := len(waiting) - 1; i >= 0; i-- {
		earliest[i] = earliest[i+1]
		if !waiting[i].Blocked && (earliest[i] == nil || compareRank(waiting[i], earliest[i]) < 0) {
			earliest[i] = waiting[i]
		}
	}
	for i := range waiting {
		for len(held) > 0 && (earliest[i] == nil || compareRank(held[0], earliest[i]) < 0) {
			result, held = appendTasks(result, held[0]), held[1:]
		}
		result = appendTasks(result, waiting[i])
	}
	for _, j := range held {
		result = appendTasks(result, j)
	}
	for _, j := range others {
		result = append(result, j.Job)
	}
	return result
}

// compareRank orders jobs of equal priority as Slurm does: by submission, then by id, then by task number, then by
// job id. The id of a task is its array's id.
func compareRank(a, b *Record) int {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.number(), b.number()), cmp.Compare(a.taskNumber(), b.taskNumber()), cmp.Compare(a.ID, b.ID))
}

// MaxTasks is the maximum number of pending tasks of one array in a snapshot. It prevents an array of a million
// tasks from slowing down the sidecar. Slurm's own backfill scheduler looks at the first 20 tasks
// (bf_max_job_array_resv).
const MaxTasks = 256

// TaskShift is the bit at which an array task's number starts in its id in the snapshot. Slurm's ids have 32 bits,
// and Slurm gives a task a job id only when it starts. Until then the task's id in the snapshot combines the
// array's id and the task's position among the pending tasks, counted from 0. So each id is unique. The first
// task's id is the array's.
const TaskShift = 32

// appendTasks appends a pending job. For an array it appends each pending task as a job. Tasks beyond the array's
// throttle (%2) are blocked, because they can start only when other tasks end.
func appendTasks(jobs []adapter.Job, r *Record) []adapter.Job {
	if r.Elements == "" {
		return append(jobs, r.Job)
	}
	tasks, throttle := arrayTasks(r.Elements)
	for n := range min(max(tasks, 1), MaxTasks) {
		j := r.Job
		j.ID |= core.JobID(n) << TaskShift
		if throttle > 0 && n >= throttle {
			j.Blocked, j.Why = true, taskLimit
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// FoldCompanions adds the nodes of companions to their jobs, and leaves the companions out. If a companion's job
// does not run, the companion stays in the list as an expander of that job, because the sidecar must end it.
func FoldCompanions(jobs []Record) []Record {
	at := map[adapter.Key]int{} // running jobs
	for i := range jobs {
		if jobs[i].State == adapter.Running && jobs[i].Role() == Ordinary {
			at[jobs[i].Key] = i
		}
	}
	kept := jobs[:0:0]
	var joined []*Record
	for i := range jobs {
		r := &jobs[i]
		of := CompanionOf(r.Mark)
		base, runs := at[of]
		switch {
		case r.Role() != Companion:
		case r.State == adapter.Running && runs:
			joined = append(joined, r)
			jobs[base].Joined = append(jobs[base].Joined, adapter.Part{Job: r.ID, Nodes: r.Nodes})
		case of.ID != 0:
			r.Expands = of.ID
		}
	}
	if len(joined) == 0 {
		return jobs
	}
	for i := range jobs {
		r := jobs[i]
		if slices.Contains(joined, &jobs[i]) {
			continue
		}
		AddCompanions(&r, r.Joined)
		kept = append(kept, r)
	}
	return kept
}

// AddCompanions adds the nodes of companions to the nodes of their job.
func AddCompanions(r *Record, companions []adapter.Part) {
	if len(companions) == 0 {
		return
	}
	r.Parts = append([]adapter.Part{{Job: r.ID, Nodes: r.Nodes}}, companions...)
	r.Nodes = nil
	for _, p := range r.Parts {
		r.Nodes = append(r.Nodes, p.Nodes...)
	}
}

// WithoutHalfMerges removes from running jobs the nodes that an expander also holds. Such nodes were added by the
// first of two merges, and the second merge has not happened yet.
func WithoutHalfMerges(jobs []Record) []Record {
	halves := map[core.JobID][]string{} // the nodes of expanders, by parent
	for i := range jobs {
		r := &jobs[i]
		if r.Role() == Expander && r.State == adapter.Running && !strings.HasPrefix(r.Name, OverPrefix) {
			halves[r.Parent()] = append(halves[r.Parent()], r.Nodes...)
		}
	}
	for i := range jobs {
		half, ok := halves[jobs[i].ID]
		if !ok || jobs[i].State != adapter.Running {
			continue
		}
		open := hostlist.Set(half)
		jobs[i].Nodes = slices.DeleteFunc(slices.Clone(jobs[i].Nodes), func(n string) bool { return open[n] })
	}
	return jobs
}

// NodesWithCompanions returns the nodes of a job, followed by the nodes of its companions.
func NodesWithCompanions(r *Record, joined []*Record) []string {
	all := slices.Clone(r.Nodes)
	for _, c := range joined {
		all = append(all, c.Nodes...)
	}
	return all
}
