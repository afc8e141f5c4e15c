package order

import (
	"math/rand/v2"
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// mostSnapshots limits the memory of a lister: with more applications, several share a snapshot.
const mostSnapshots = 64

// lister does what ep.Schedule does, for a search. It knows the schedule of one order, and computes the schedule of a
// neighboring order from the first difference on.
type lister struct {
	eps       []core.EP
	algorithm ep.Algorithm
	fitter    ep.Fitter
	stride    int // number of applications from one snapshot to the next

	now, next   list // the present schedule, and the schedule that is tried
	first, till int  // `next` differs from `now` at most in the positions [first, till) of the order
	work        *profile.Profile
}

// list is an order and its schedule.
//
// A list owns the memory of its allocations and snapshots. Lists exchange that memory, so that no try allocates memory.
type list struct {
	order  []int
	placed []core.Allocation  // the place of each application
	latest []core.Time        // latest[k] is the last completion of the first k applications
	snaps  []*profile.Profile // snaps[j] is the machine after the first j*stride applications were placed
}

// newLister returns a lister with at most the given number of snapshots, at least 1.
func newLister(busy *profile.Profile, eps []core.EP, a ep.Algorithm, snapshots int) *lister {
	l := &lister{eps: eps, algorithm: a, stride: 1 + len(eps)/snapshots, work: busy.Clone()}
	for _, s := range []*list{&l.now, &l.next} {
		*s = list{order: ep.InOrder(eps), placed: make([]core.Allocation, len(eps)), latest: make([]core.Time, len(eps)+1)}
		for i := range s.placed {
			s.placed[i].Job = core.JobID(i)
		}
		for range 1 + len(eps)/l.stride {
			s.snaps = append(s.snaps, busy.Clone())
		}
	}
	return l
}

// begin makes an order the present order. Every application in the order must fit the machine.
func (l *lister) begin(order []int) {
	copy(l.next.order, order)
	l.try(0, len(order)-1, core.Forever)
	l.take()
}

// makespan returns the last completion of the schedule.
func (l *lister) makespan() core.Time { return l.now.latest[len(l.eps)] }

// vary writes a neighbor of the present order to next. They differ at most in the positions from first to last.
func (l *lister) vary(random *rand.Rand) (first, last int) {
	order := l.next.order
	copy(order, l.now.order)
	i, j := random.IntN(len(order)), random.IntN(len(order)-1)
	if j >= i {
		j++
	}
	moved := order[i]
	switch {
	case random.IntN(2) == 0:
		order[i] = order[j]
	case i < j:
		copy(order[i:j], order[i+1:j+1])
	default:
		copy(order[j+1:i+1], order[j:i])
	}
	order[j] = moved
	return min(i, j), max(i, j)
}

// try schedules the next order, which differs from the present one at most in the positions from first to last.
// It returns false as soon as an application ends later than `worst`.
func (l *lister) try(first, last int, worst core.Time) bool {
	if l.now.latest[first] > worst {
		return false
	}
	l.first, l.till = first, len(l.eps)
	l.rewind(first)
	same := true
	for k := first; k < len(l.eps); k++ {
		job := l.next.order[k]
		a, ok := &l.next.placed[job], false
		a.Start, a.EP, ok = l.algorithm.PlaceInto(&l.fitter, a.EP, l.eps[job], l.work, 0)
		if !ok || a.End() > worst {
			return false
		}
		l.next.latest[k+1] = max(l.latestBefore(k), a.End())
		same = same && a.Start == l.now.placed[job].Start && slices.Equal(a.EP, l.now.placed[job].EP)
		if k == last && same { // whatever the order, the occupation is the same from here on
			l.till = k
			return l.makespan() <= worst
		}
		l.work.Add(a.Start, a.EP)
		if (k+1)%l.stride == 0 {
			l.next.snaps[(k+1)/l.stride].CopyFrom(l.work)
		}
	}
	return true
}

// latestBefore returns the last completion before position k of the order that is tried.
func (l *lister) latestBefore(k int) core.Time {
	if k == l.first {
		return l.now.latest[k]
	}
	return l.next.latest[k]
}

// rewind sets `work` to the occupation before position k of the present order.
func (l *lister) rewind(k int) {
	snap := k / l.stride
	l.work.CopyFrom(l.now.snaps[snap])
	for _, job := range l.now.order[snap*l.stride : k] {
		l.work.Add(l.now.placed[job].Start, l.now.placed[job].EP)
	}
}

// take makes the order that was tried the present order.
func (l *lister) take() {
	copy(l.now.order, l.next.order)
	for k := l.first; k < l.till; k++ {
		job := l.now.order[k]
		l.now.placed[job], l.next.placed[job] = l.next.placed[job], l.now.placed[job]
		l.now.latest[k+1] = l.next.latest[k+1]
		if (k+1)%l.stride == 0 {
			i := (k + 1) / l.stride
			l.now.snaps[i], l.next.snaps[i] = l.next.snaps[i], l.now.snaps[i]
		}
	}
}
