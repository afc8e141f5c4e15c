package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/client"
)

// Observe reads the pool: the jobs, and all else. The jobs are read a few milliseconds earlier or later than the nodes; a
// node is idle only when both say so.
//
// Jobs that cannot come upon the pool are left out; of running jobs and of reservations that reach beyond it, only the
// nodes inside are told. A pending array stands for its tasks, one job each (see taskShift).
func (s *System) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	at := time.Now()
	type listing struct {
		jobs []record
		err  error
	}
	listed := make(chan listing, 1)
	go func() {
		jobs, err := s.list(ctx)
		listed <- listing{jobs, err}
	}()
	in, err := s.inventory(ctx)
	l := <-listed
	switch {
	case err != nil:
		return nil, fmt.Errorf("observing Slurm: %w", err)
	case l.err != nil:
		return nil, fmt.Errorf("observing Slurm: %w", l.err)
	}
	s.tendCompanions(ctx, l.jobs)
	jobs := s.yield(ctx, in, fold(whole(slices.Clone(l.jobs)))) // the list is remembered as it is
	s.split(ctx, jobs)
	s.tellApart(ctx, &in, jobs)
	s.rank(ctx, jobs)
	s.judge(ctx, in, l.jobs, jobs)
	snapshot, err := assemble(in, jobs, s.config.Partitions)
	if err != nil {
		return nil, fmt.Errorf("observing Slurm: %w", err)
	}
	s.mu.Lock()
	s.last = in
	s.mu.Unlock()
	snapshot.At = at
	return snapshot, nil
}

// inventory reads nodes, reservations and partitions.
func (s *System) inventory(ctx context.Context) (inventory, error) {
	out, err := s.run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all"}, Input: inventoryCommands, Kind: client.Listing})
	if err != nil {
		return inventory{}, err
	}
	return parseInventory(out.Stdout)
}

// assemble makes the snapshot of the pool out of what the cluster showed.
func assemble(in inventory, jobs []record, pool []string) (*adapter.Snapshot, error) {
	inPool, err := poolNodes(in, pool)
	if err != nil {
		return nil, err
	}
	tiers := map[string]int{} // of the partitions that reach the pool
	for _, p := range in.partitions {
		if slices.ContainsFunc(p.nodes, func(n string) bool { return inPool[n] }) {
			tiers[p.name] = p.tier
		}
	}
	snapshot := &adapter.Snapshot{}
	touching := touch(jobs, tiers, inPool)
	held := map[string]bool{}
	for i := range touching {
		for _, n := range touching[i].Nodes {
			held[n] = true
		}
	}
	for _, n := range in.nodes {
		if inPool[n.Name] {
			n.Idle = n.Idle && !held[n.Name]
			snapshot.Nodes = append(snapshot.Nodes, n.Node)
		}
	}
	slices.SortFunc(snapshot.Nodes, func(a, b adapter.Node) int { return hostlist.Compare(a.Name, b.Name) })
	for _, r := range in.reservations {
		if r.Nodes = within(r.Nodes, inPool); len(r.Nodes) > 0 && r.Name != Park {
			snapshot.Reservations = append(snapshot.Reservations, r)
		}
	}
	snapshot.Jobs, snapshot.Remarks = ranked(touching), remarks(touching)
	return snapshot, nil
}

// remarks tell of the jobs of which something could not be read.
func remarks(jobs []record) []adapter.Remark {
	var all []adapter.Remark
	for i := range jobs {
		if r := &jobs[i]; r.unreadable != "" {
			all = append(all, adapter.Remark{Job: r.Key, Text: "Slurm tells of the job what cannot be read, and is done without: " + r.unreadable})
		}
	}
	return all
}

// poolNodes is the set of the partitions' nodes.
func poolNodes(in inventory, pool []string) (map[string]bool, error) {
	nodes := map[string]bool{}
	for _, name := range pool {
		i := slices.IndexFunc(in.partitions, func(p partition) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no partition %q (`sinfo -a -h -o %%R` lists them)", name)
		}
		for _, n := range in.partitions[i].nodes {
			nodes[n] = true
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("partition %s has no nodes", strings.Join(pool, ", "))
	}
	return nodes, nil
}

// touch keeps the jobs that hold nodes of the pool or may come upon them.
func touch(jobs []record, tiers map[string]int, pool map[string]bool) []record {
	kept := make([]record, 0, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if j.State != adapter.Pending {
			if nodes := within(j.Nodes, pool); len(nodes) > 0 {
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

// within is the nodes that are in the pool; the same slice when all are.
func within(nodes []string, pool map[string]bool) []string {
	outside := func(n string) bool { return !pool[n] }
	if !slices.ContainsFunc(nodes, outside) {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), outside)
}

// ranked is the snapshot's jobs: pending in rank order, then the others as Slurm listed them.
//
// Slurm starts pending jobs by partition tier, priority, submission and id. A held job has priority 0 and so no rank of
// its own: it stands behind the last job that was submitted before it, so that it overtakes nobody who came first.
func ranked(jobs []record) []adapter.Job {
	var waiting, held, others []*record
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
	slices.SortStableFunc(waiting, func(a, b *record) int {
		return cmp.Or(cmp.Compare(b.tier, a.tier), cmp.Compare(b.Priority, a.Priority), first(a, b))
	})
	slices.SortStableFunc(held, first)

	// earliest[i] is the first submitted of waiting[i:] that could start; where it is not before a held job, that one's
	// turn has come.
	result := make([]adapter.Job, 0, len(jobs))
	earliest := make([]*record, len(waiting)+1)
	for i := len(waiting) - 1; i >= 0; i-- {
		earliest[i] = earliest[i+1]
		if !waiting[i].Blocked && (earliest[i] == nil || first(waiting[i], earliest[i]) < 0) {
			earliest[i] = waiting[i]
		}
	}
	for i := range waiting {
		for len(held) > 0 && (earliest[i] == nil || first(held[0], earliest[i]) < 0) {
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

// first orders by submission, then by id.
func first(a, b *record) int {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.ID, b.ID))
}

// MaxTasks is how many pending tasks of one array are told, so that an array of a million does not stop the sidecar.
// Slurm's own back-filling looks at the first 20 (bf_max_job_array_resv).
const MaxTasks = 256

// taskShift is where an array task's number stands in its id; Slurm's ids have 32 bits. Slurm gives a task its own id only when it
// starts. Until then the snapshot calls a pending task by the array's id and its place among the pending ones, from 0,
// so that each has an id of its own. The first one's is the array's.
const taskShift = 32

// appendTasks appends a pending job, and an array's pending tasks as so many jobs. Of an array with a throttle (%2) the
// tasks beyond it are blocked: nothing starts them but the end of the others.
func appendTasks(jobs []adapter.Job, r *record) []adapter.Job {
	if r.elements == "" {
		return append(jobs, r.Job)
	}
	tasks, throttle := arrayTasks(r.elements)
	for n := range min(max(tasks, 1), MaxTasks) {
		j := r.Job
		j.ID |= core.JobID(n) << taskShift
		if throttle > 0 && n >= throttle {
			j.Blocked, j.Why = true, "JobArrayTaskLimit"
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// arrayTasks counts the tasks of 1-7,9-20:2%3 and reads its throttle (0: none). What it cannot read counts as one.
func arrayTasks(s string) (tasks, throttle int) {
	list, limit, _ := strings.Cut(s, "%")
	throttle, _ = strconv.Atoi(limit)
	for piece := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		span, step, _ := strings.Cut(piece, ":")
		low, high, isRange := strings.Cut(span, "-")
		a, errA := strconv.ParseUint(low, 10, 31)
		b, errB := strconv.ParseUint(high, 10, 31)
		every, errS := strconv.ParseUint(step, 10, 31)
		if errS != nil || every == 0 {
			every = 1
		}
		if !isRange || errA != nil || errB != nil || b < a {
			tasks++
			continue
		}
		tasks = min(tasks+int((b-a)/every)+1, 1<<31)
	}
	return tasks, max(throttle, 0)
}
