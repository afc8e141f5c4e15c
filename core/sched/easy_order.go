package sched

import (
	"cmp"
	"slices"

	"accordion/core"
)

// order is in which order jobs are looked at: those that are due by when they became it, then all others in the order of the queue.
// But nobody comes before somebody else's job that was before him in the queue.
func (s *plain) order(now core.Time) []*waiter {
	var due []int // of waiting
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
	others := 0 // somebody else's before are in
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

// ranks is the places of jobs in the order of the queue.
func ranks(all []waiter) map[core.JobID]int {
	rank := make(map[core.JobID]int, len(all))
	for i := range all {
		rank[all[i].ID] = i
	}
	return rank
}

// inOrder sorts places in the order of the queue, which rank tells by the job.
func inOrder(places []core.Planned, rank map[core.JobID]int) []core.Planned {
	slices.SortStableFunc(places, func(a, b core.Planned) int { return cmp.Compare(rank[a.Job], rank[b.Job]) })
	return places
}

// Turns is who of the jobs that wait, which are in the order of the queue, comes when: their numbers. due says of how many of these
// that they are due. It is the order of a State for planners that do without one.
func (p Patient) Turns(now core.Time, queue []core.Job) (turns []int, due int) {
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
