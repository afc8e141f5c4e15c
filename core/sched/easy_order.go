package sched

import (
	"cmp"
	"slices"

	"accordion/core"
)

// order returns the jobs in the order in which they are tried: due jobs by the time at which they became due, then
// all others in queue order. No job goes before a foreign job that precedes it in the queue.
func (s *reference) order(now core.Time) []*waiter {
	var due []int // indexes of the due jobs in waiting
	foreign := false
	for i := range s.waiting {
		w := &s.waiting[i]
		foreign = foreign || w.Foreign
		if w.due <= now && !w.Foreign {
			due = append(due, i)
		}
	}
	slices.SortStableFunc(due, func(a, b int) int { return cmp.Compare(s.waiting[a].due, s.waiting[b].due) })
	all, in := make([]*waiter, 0, len(s.waiting)), make([]bool, len(s.waiting))
	add := func(i int) {
		if !in[i] {
			all, in[i] = append(all, &s.waiting[i]), true
		}
	}
	others := 0 // foreign jobs before this index have been added
	for _, i := range due {
		for ; foreign && others < i; others++ {
			if s.waiting[others].Foreign {
				add(others)
			}
		}
		add(i)
	}
	for i := range s.waiting {
		add(i)
	}
	return all
}

// ranks returns the index of each job in the queue.
func ranks(all []waiter) map[core.JobID]int {
	rank := make(map[core.JobID]int, len(all))
	for i := range all {
		rank[all[i].ID] = i
	}
	return rank
}

// inOrder sorts places in queue order. `rank` has the index of each job.
func inOrder(places []core.Planned, rank map[core.JobID]int) []core.Planned {
	slices.SortStableFunc(places, func(a, b core.Planned) int { return cmp.Compare(rank[a.Job], rank[b.Job]) })
	return places
}

// QueueOrder returns the order in which Patient tries the jobs of a queue, as indexes into the queue. The first `due` jobs in this
// order are due. QueueOrder is for planners that do not use a State.
func (p Patient) QueueOrder(now core.Time, queue []core.Job) (turns []int, due int) {
	turns = make([]int, len(queue))
	ranks := make([]core.Time, len(queue))
	for i, j := range queue {
		turns[i], ranks[i] = i, p.due(&j)
		if ranks[i] <= now {
			due++
		} else {
			ranks[i] = core.Forever
		}
	}
	slices.SortStableFunc(turns, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	return turns, due
}
