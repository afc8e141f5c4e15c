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

// This file makes of what Slurm printed what the sidecar sees: companions and halves of a growth folded into their jobs, the pool cut
// out, pending jobs in rank order.

// Snapshot makes the snapshot of the pool out of what the cluster showed.
func Snapshot(in Inventory, jobs []Record, pool []string) (*adapter.Snapshot, error) {
	inPool, err := PoolNodes(in, pool)
	if err != nil {
		return nil, err
	}
	tiers := map[string]int{} // of the partitions that reach the pool
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

// Hidden returns what Slurm hides from users, by PrivateData.
func Hidden(c Configuration) adapter.Hidden {
	words := strings.Split(strings.ToLower(c["PrivateData"]), ",")
	hides := func(some ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return w == "all" || slices.Contains(some, w) })
	}
	return adapter.Hidden{Jobs: hides("jobs"), Reservations: hides("reservations"), Nodes: hides("nodes"), Accounts: hides("accounts", "usage", "users")}
}

// remarks tell of the jobs of which something could not be read.
func remarks(jobs []Record) []adapter.Remark {
	var all []adapter.Remark
	for i := range jobs {
		if r := &jobs[i]; r.Unreadable != "" {
			all = append(all, adapter.Remark{Job: r.Key, Text: "Slurm tells of the job what cannot be read, and is done without: " + r.Unreadable})
		}
	}
	return all
}

// unknownStates returns a remark for each word of node states that is not known.
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
		text := fmt.Sprintf("node state: Accordion does not know %q, which Slurm shows: jobs are kept off such nodes (now %s)", word, hostlist.Compact(of[word]))
		all = append(all, adapter.Remark{Text: text, Once: "node state " + word})
	}
	return all
}

// ofPool keeps the jobs that hold nodes of the pool or may come upon them.
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

// ranked is the snapshot's jobs: pending in rank order, then the others as Slurm listed them.
//
// Slurm starts pending jobs by partition tier, priority, submission, id and task. A held job has priority 0 and so no rank of
// its own: it stands behind the last job that was submitted before it, so that it overtakes nobody who came first.
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

	// earliest[i] is the first submitted of waiting[i:] that could start; where it is not before a held job, that one's
	// turn has come.
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

// compareRank orders jobs of one rank as Slurm does: by submission, then by number, where all tasks of an
// array have the array's, then by task. The last task to become a job has the lowest number itself.
func compareRank(a, b *Record) int {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.number(), b.number()), cmp.Compare(a.taskNumber(), b.taskNumber()), cmp.Compare(a.ID, b.ID))
}

// MaxTasks is how many pending tasks of one array are told, so that an array of a million does not stop the sidecar.
// Slurm's own back-filling looks at the first 20 (bf_max_job_array_resv).
const MaxTasks = 256

// TaskShift is where an array task's number stands in its id; Slurm's ids have 32 bits. Slurm gives a task its own id only when it
// starts. Until then the snapshot calls a pending task by the array's id and its place among the pending ones, from 0,
// so that each has an id of its own. The first one's is the array's.
const TaskShift = 32

// appendTasks appends a pending job, and an array's pending tasks as so many jobs. Of an array with a throttle (%2) the
// tasks beyond it are blocked: nothing starts them but the end of the others.
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

// FoldCompanions makes jobs of those with companions: their nodes are the job's, and they are left out. A companion whose job does not
// run is shown as an expander of it, for somebody has to end it.
func FoldCompanions(jobs []Record) []Record {
	at := map[adapter.Key]int{} // of running jobs
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

// AddCompanions makes the nodes of its companions a job's own.
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

// WithoutHalfMerges leaves running jobs with the nodes that they have for good: those that an expander still holds too came by the first of
// two merges.
func WithoutHalfMerges(jobs []Record) []Record {
	halves := map[core.JobID][]string{} // by parent
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

// NodesWithCompanions is the nodes of a job with those of its companions, its own first.
func NodesWithCompanions(r *Record, joined []*Record) []string {
	all := slices.Clone(r.Nodes)
	for _, c := range joined {
		all = append(all, c.Nodes...)
	}
	return all
}
