package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"accordion/adapter"
	"accordion/core"
)

// tenant is a run of a job as accounting has it. Allocations made for a job hold nodes in its name.
type tenant = adapter.Key

// A tenure is one tenant's hold of one node, from one second until just before another.
type tenure struct {
	tenant
	from, to core.Time
	alone    bool // no other tenant may be on the node
	away     bool // it was suspended, when others may be there
}

// lookAtBoth returns what to do about two jobs on a node.
func lookAtBoth(a, b core.JobID) string {
	return fmt.Sprintf("compare `accordion journal --job %d` and `--job %d` with what accounting has of both", a, b)
}

// tenures returns who held each node by the books.
func (j *judge) tenures() map[string][]tenure {
	byNode := map[string][]tenure{}
	for i := range j.Accounting.Jobs {
		b := &j.Accounting.Jobs[i]
		owner, alone := b.Key, b.Alone || j.told.ids[b.ID]
		if parent := j.index.parent[b]; parent != nil {
			owner, alone = parent.Key, true
		}
		for _, h := range b.Holds {
			for _, node := range h.Nodes {
				if h.From < h.To {
					byNode[node] = hold(byNode[node], tenure{owner, h.From, h.To, alone, b.Suspended})
				}
			}
		}
	}
	return byNode
}

// hold adds a tenure, to the one before it where that is the same tenant's and ends then.
func hold(held []tenure, next tenure) []tenure {
	if n := len(held) - 1; n >= 0 && held[n].tenant == next.tenant && held[n].to == next.from && held[n].alone == next.alone {
		held[n].to = next.to
		return held
	}
	return append(held, next)
}

// An index finds runs of accounting.
type index struct {
	byID   map[core.JobID][]*adapter.AccountedRun            // jobs and what was made for them
	made   map[*adapter.AccountedRun][]*adapter.AccountedRun // what was made for a job
	parent map[*adapter.AccountedRun]*adapter.AccountedRun   // the job for which it was made
}

// indexOf returns the index of the books.
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

// parentOf returns the run for which an allocation was made, of those with its job's number: the newest of the same user by
// then, for any user may call a job so. Where that one had ended, it is the run after it: accounting may lack the first
// seconds of a requeued job.
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

// endOf returns the second until which accounting has nodes of a run; 0: it has none.
func endOf(b *adapter.AccountedRun) core.Time {
	if len(b.Holds) == 0 {
		return 0
	}
	return b.Holds[len(b.Holds)-1].To
}

// twoJobs finds nodes that two jobs had at once though one of them had to be alone there.
func (j *judge) twoJobs() {
	byNode := j.tenures()
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		held := byNode[node]
		slices.SortFunc(held, func(a, b tenure) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ID, b.ID)) })
		var open []tenure // those that had not ended when the last one began
		for _, next := range held {
			open = slices.DeleteFunc(open, func(t tenure) bool { return t.to <= next.from })
			for _, t := range open {
				if until := min(t.to, next.to); t.tenant != next.tenant && (t.alone || next.alone) && !t.away && !next.away && until > j.From {
					j.find(Finding{Kind: TwoJobs, Job: int64(t.ID), Node: node, At: next.from, Do: lookAtBoth(t.ID, next.ID),
						Text: fmt.Sprintf("accounting has it in jobs %d and %d for %s", t.ID, next.ID, core.FormatDuration(until-next.from))})
				}
			}
			open = append(open, next)
		}
	}
}

// watch finds the same in what a watch saw.
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
			h := holder{job.ID, slices.Contains(s.Exclusive, job.Partition) || j.told.ids[job.ID]}
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
