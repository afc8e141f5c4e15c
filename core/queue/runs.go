package queue

import (
	"slices"

	"accordion/core"
)

// runs are the jobs that run, by requested end. The soonest stands last, for most that come and go are among the soonest.
type runs struct {
	list    []held           // the latest end first
	overdue []held           // those whose end has come, in the order of their ends
	ends    table[core.Time] // of both
}

// held is a job that runs: its nodes are free at end, by its request.
type held struct {
	end   core.Time
	id    core.JobID
	nodes int
}

// near is how many of the last of a list are looked at and moved one by one, which is done sooner than a search and a copy of
// the few that they mostly are.
const near = 96

// add enters a job whose end is to come.
func (r *runs) add(h held) {
	r.ends.set(h.id, h.end)
	i := len(r.list)
	r.list = append(r.list, h)
	list := r.list
	if i > near && list[i-near].end <= h.end {
		first := later(list[:i-near], h.end)
		copy(list[first+1:], list[first:i])
		list[first] = h
		return
	}
	for i > 0 && list[i-1].end <= h.end {
		list[i] = list[i-1]
		i--
	}
	list[i] = h
}

// later is how many of a list end after an instant. Which half they end in is not known beforehand, so that a branch would be guessed
// wrongly every other time: the sign of a difference decides instead.
func later(list []held, at core.Time) int {
	low := 0
	for n := len(list); n > 0; {
		half := (n + 1) >> 1
		low += half & int((at-list[low+half-1].end)>>63) // when it ends later
		n -= half
	}
	return low
}

// take takes a job out. It is overdue when its end had come.
func (r *runs) take(id core.JobID) (h held, overdue, known bool) {
	end, known := r.ends.take(id)
	if !known {
		return held{}, false, false
	}
	for i, h := range r.overdue {
		if h.id == id {
			r.overdue = slices.Delete(r.overdue, i, i+1)
			return h, true, true
		}
	}
	return r.remove(id, end), false, true
}

// remove takes a job out whose end is to come.
func (r *runs) remove(id core.JobID, end core.Time) held {
	list, last := r.list, len(r.list)-1
	r.list = r.list[:last]
	if last >= near && list[last-near].end <= end {
		i := later(list[:last-near], end)
		for list[i].id != id {
			i++
		}
		h := list[i]
		copy(list[i:], list[i+1:])
		return h
	}
	h := list[last]
	for i := last - 1; h.id != id; i-- {
		list[i], h = h, list[i]
	}
	return h
}

// pass finds those overdue whose end has come by an instant, and gives their nodes.
func (r *runs) pass(now core.Time) (nodes int) {
	for i := len(r.list) - 1; i >= 0 && r.list[i].end <= now; i-- {
		nodes += r.list[i].nodes
		r.overdue = append(r.overdue, r.list[i])
		r.list = r.list[:i]
	}
	return nodes
}

// back has all ends to come again, and gives the nodes of those that were overdue.
func (r *runs) back() (nodes int) {
	for _, h := range slices.Backward(r.overdue) {
		r.list = append(r.list, h)
		nodes += h.nodes
	}
	r.overdue = r.overdue[:0]
	return nodes
}

// next is the first end behind an instant; Forever when there is none.
func (r *runs) next(now core.Time) core.Time {
	for i := len(r.list) - 1; i >= 0; i-- {
		if end := r.list[i].end; end > now {
			return end
		}
	}
	return core.Forever
}

func (r *runs) clone() runs {
	return runs{slices.Clone(r.list), slices.Clone(r.overdue), r.ends.clone()}
}
