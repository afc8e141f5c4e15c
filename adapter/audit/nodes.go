package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// runKey identifies a run of a job in accounting. An allocation that was made for a job has the key of the job's run.
type runKey = adapter.Key

// holding is the use of one node by one run, from one second until just before another.
type holding struct {
	runKey
	from, to core.Time
	alone    bool // no other job may use the node meanwhile
	away     bool // the job was suspended, so that other jobs may use the node
}

// lookAtBoth returns advice for a finding that a node was in two jobs.
func lookAtBoth(a, b core.JobID) string {
	return fmt.Sprintf("compare `accordion journal --job %d` and `--job %d` with what accounting has of both", a, b)
}

// holdings returns, for each node, which runs held it according to accounting.
func (j *judge) holdings() map[string][]holding {
	byNode := map[string][]holding{}
	for i := range j.Accounting.Jobs {
		b := &j.Accounting.Jobs[i]
		owner, alone := b.Key, b.Alone || j.history.ids[b.ID]
		if parent := j.index.parent[b]; parent != nil {
			owner, alone = parent.Key, true
		}
		for _, h := range b.Holds {
			for _, node := range h.Nodes {
				if h.From < h.To {
					byNode[node] = hold(byNode[node], holding{owner, h.From, h.To, alone, b.Suspended})
				}
			}
		}
	}
	return byNode
}

// hold appends a holding. If the last holding has the same run and ends when the new one begins, hold extends the last one instead.
func hold(held []holding, next holding) []holding {
	if n := len(held) - 1; n >= 0 && held[n].runKey == next.runKey && held[n].to == next.from && held[n].alone == next.alone {
		held[n].to = next.to
		return held
	}
	return append(held, next)
}

// index finds runs in accounting by job number, and connects allocations with the jobs for which they were made.
type index struct {
	byID   map[core.JobID][]*adapter.AccountedRun            // jobs and the allocations made for them, by number
	made   map[*adapter.AccountedRun][]*adapter.AccountedRun // the allocations made for a job
	parent map[*adapter.AccountedRun]*adapter.AccountedRun   // the job for which an allocation was made
}

// indexOf returns the index of accounting's runs.
func indexOf(books *adapter.Accounting) index {
	x := index{map[core.JobID][]*adapter.AccountedRun{}, map[*adapter.AccountedRun][]*adapter.AccountedRun{}, map[*adapter.AccountedRun]*adapter.AccountedRun{}}
	for i := range books.Jobs {
		b := &books.Jobs[i]
		x.byID[b.ID] = append(x.byID[b.ID], b)
	}
	for i := range books.Jobs {
		b := &books.Jobs[i]
		if parent := parentOf(b, x.byID[b.Expands]); b.Expands != 0 && parent != nil {
			x.parent[b], x.made[parent] = parent, append(x.made[parent], b)
		}
	}
	return x
}

// parentOf returns the run for which an allocation was made. It is the newest run at that time with
// the right job number and the same user. The user must be the same, because any user may give a job
// the name of an expander or companion. If that run had already ended, parentOf returns the next
// run, because accounting may lack the first seconds of a requeued job.
func parentOf(b *adapter.AccountedRun, runs []*adapter.AccountedRun) (parent *adapter.AccountedRun) {
	var next *adapter.AccountedRun
	for _, p := range runs {
		switch {
		case p.User != b.User:
		case p.Submitted > b.Submitted && (next == nil || p.Submitted < next.Submitted):
			next = p
		case p.Submitted <= b.Submitted && (parent == nil || p.Submitted > parent.Submitted):
			parent = p
		}
	}
	if parent != nil && next != nil && !parent.Open && endOf(parent) < began(*b) {
		return next
	}
	return parent
}

// endOf returns the second at which a run released its last nodes according to accounting, and 0 if the run held none.
func endOf(b *adapter.AccountedRun) core.Time {
	if len(b.Holds) == 0 {
		return 0
	}
	return b.Holds[len(b.Holds)-1].To
}

// twoJobs finds nodes that two jobs had at the same time although one of the jobs had to be alone
// on its nodes.
func (j *judge) twoJobs() {
	byNode := j.holdings()
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		held := byNode[node]
		slices.SortFunc(held, func(a, b holding) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ID, b.ID)) })
		var open []holding // holdings that had not ended when the last holding began
		for _, next := range held {
			open = slices.DeleteFunc(open, func(t holding) bool { return t.to <= next.from })
			for _, t := range open {
				if until := min(t.to, next.to); t.runKey != next.runKey && (t.alone || next.alone) && !t.away && !next.away && until > j.From {
					j.find(Finding{Kind: TwoJobs, Job: int64(t.ID), Node: node, At: next.from, Do: lookAtBoth(t.ID, next.ID),
						Text: fmt.Sprintf("accounting has it in jobs %d and %d for %s", t.ID, next.ID, core.FormatDuration(until-next.from))})
				}
			}
			open = append(open, next)
		}
	}
}

// watch finds nodes that two jobs had at the same time, in the states that were recorded by watching the batch system.
func (j *judge) watch() {
	seen := map[[2]core.JobID]map[string]bool{}
	for _, s := range j.Watch {
		type holder struct {
			job   core.JobID
			alone bool
		}
		on := map[string]holder{}
		for _, job := range s.Jobs {
			if job.State != adapter.Running {
				continue
			}
			h := holder{job.ID, slices.Contains(s.Exclusive, job.Partition) || j.history.ids[job.ID]}
			if job.Expands != 0 {
				h = holder{job.Expands, true}
			}
			for _, node := range job.Nodes {
				other, taken := on[node]
				pair := [2]core.JobID{min(other.job, h.job), max(other.job, h.job)}
				if taken && other.job != h.job && (other.alone || h.alone) && !seen[pair][node] {
					if seen[pair] == nil {
						seen[pair] = map[string]bool{}
					}
					seen[pair][node] = true
					j.find(Finding{Kind: TwoJobs, Job: int64(pair[0]), Node: node, At: s.At.Unix(), Do: lookAtBoth(pair[0], pair[1]),
						Text: fmt.Sprintf("jobs %d and %d were seen on it at once", pair[0], pair[1])})
				}
				if !taken || h.alone {
					on[node] = h
				}
			}
		}
	}
}
