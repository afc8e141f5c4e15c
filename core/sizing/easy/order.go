package easy

import (
	"cmp"
	"math"

	"accordion/core"
	"accordion/core/sizing"
)

// Order is the order in which waiting jobs rank. Equal jobs rank in order of submission.
type Order struct {
	By    By
	Aging Aging
	// Patience is the wait in seconds after which a job goes before all others. Several such jobs are ordered by the time
	// at which their wait ended. 0 means that no job goes before the others.
	Patience core.Time
}

// By is the key by which a queue is ordered.
type By uint8

// The keys of a queue.
const (
	FirstCome By = iota // order of submission
	Class               // class, then submission
	Work                // class, then seconds × nodes of the reference
)

// Aging is what happens to a medium or long job that has waited five times the duration of its reference. By Class it
// keeps its submission time. By Work the jobs that have aged go before the others of their class, ordered by the time
// at which they aged.
type Aging uint8

// The kinds of aging.
const (
	OneUp   Aging = iota // the job moves to the next shorter class, once
	ToTop                // the job moves to the short class
	Ageless              // nothing happens
	Again                // the job moves to the next shorter class, and once more after another wait of the same length
)

// patience is how many times its run time a job waits before it ages.
const patience = 5

// rank is the rank of a waiting job. Lower ranks go first.
type rank struct {
	group  int8
	key    int64
	submit core.Time
	seq    uint32
}

func (a *rank) compare(b *rank) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.key, b.key), cmp.Compare(a.submit, b.submit), cmp.Compare(a.seq, b.seq))
}

// age is how far a job has aged. It never decreases.
type age struct {
	times   int8 // how many classes the job has moved up
	patient bool
	due     core.Time // when the job ages next; Forever if never
}

// most returns how many times a job of a class ages.
func (o *Order) most(c sizing.Class) int8 {
	switch {
	case o.By == FirstCome || o.Aging == Ageless || c == sizing.Short:
		return 0
	case o.Aging == Again:
		return int8(c)
	}
	return 1
}

// ages returns the time at which a job that has waited since `since` has aged `times` times.
func ages(s *sizing.Sizes, since core.Time, times int8) core.Time {
	waits := patience * core.Time(times)
	return later(since, waits*min(s.Seconds, core.Forever/waits))
}

// rank returns the rank of a job that has waited since `since` and has the age a.
func (o *Order) rank(s *sizing.Sizes, submit, since core.Time, a age, came uint32) rank {
	r := rank{submit: submit, seq: came, group: 1}
	class := s.Class()
	switch {
	case a.patient:
		r.group, r.key = 0, later(since, o.Patience)
		return r
	case o.By == FirstCome:
		return rank{group: 1, seq: came}
	case a.times > 0 && o.Aging == ToTop:
		class = sizing.Short
	default:
		class -= sizing.Class(a.times)
	}
	r.group += 2 * int8(class)
	if o.By == Work {
		r.key = work(s)
		if a.times > 0 {
			r.key = ages(s, since, a.times)
		} else {
			r.group++
		}
	}
	return r
}

// due returns when a job ages next.
func (o *Order) due(s *sizing.Sizes, since core.Time, a age) core.Time {
	due := core.Forever
	if o.Patience > 0 && !a.patient {
		due = later(since, o.Patience)
	}
	if !a.patient && a.times < o.most(s.Class()) {
		due = min(due, ages(s, since, a.times+1))
	}
	return due
}

// next returns the age of a job that ages now.
func (o *Order) next(s *sizing.Sizes, since, now core.Time, a age) age {
	a.patient = a.patient || o.Patience > 0 && later(since, o.Patience) <= now
	for a.times < o.most(s.Class()) && ages(s, since, a.times+1) <= now {
		a.times++
	}
	a.due = o.due(s, since, a)
	return a
}

// later returns at + seconds, but at most Forever.
func later(at, seconds core.Time) core.Time { return min(at+seconds, core.Forever) }

// work returns the node-seconds of a job's reference, at most math.MaxInt64.
func work(s *sizing.Sizes) int64 {
	if s.Nodes > 0 && s.Seconds > math.MaxInt64/int64(s.Nodes) {
		return math.MaxInt64
	}
	return s.Seconds * int64(s.Nodes)
}
