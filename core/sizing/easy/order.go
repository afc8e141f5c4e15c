package easy

import (
	"cmp"
	"math"

	"accordion/core"
	"accordion/core/sizing"
)

// Order is the order in which waiting jobs rank. Equals rank as they were submitted.
type Order struct {
	By    By
	Aging Aging
	// Patience is after how many seconds of waiting a job goes before all others, by the second at which that was; 0: never.
	Patience core.Time
}

// By is what a queue is ordered by.
type By uint8

// What a queue is ordered by.
const (
	FirstCome By = iota // submission
	Class               // class, and in it submission
	Work                // class, and in it seconds × nodes of the reference
)

// Aging is what becomes of a medium or long job that has waited five times as long as its reference lasts. By Class it keeps its
// submission; by Work those that have aged go before the others of their class, by the second at which they aged.
type Aging uint8

// What becomes of it.
const (
	OneUp   Aging = iota // it is of the next shorter class, once
	ToTop                // it is a short one
	Ageless              // nothing
	Again                // it is of the next shorter class, and of the one before that when it has waited as long again
)

// patience is how many times its run time a job waits until it ages.
const patience = 5

// rank is where a job stands: the lower before the higher.
type rank struct {
	group  int8
	key    int64
	submit core.Time
	came   uint32
}

func (a *rank) compare(b *rank) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.key, b.key), cmp.Compare(a.submit, b.submit), cmp.Compare(a.came, b.came))
}

// age is how a job has aged so far. Nothing of that is ever undone.
type age struct {
	times   int8 // that it has left a class
	patient bool
	due     core.Time // when it next ages; Forever: no more
}

// most is how many times a job of a class ages.
func (o *Order) most(c sizing.Class) int8 {
	switch {
	case o.By == FirstCome || o.Aging == Ageless || c == sizing.Short:
		return 0
	case o.Aging == Again:
		return int8(c)
	}
	return 1
}

// ages is when a job that has waited since an instant ages for that many times.
func ages(s *sizing.Sizes, since core.Time, times int8) core.Time {
	waits := patience * core.Time(times)
	return later(since, waits*min(s.Seconds, core.Forever/waits))
}

// rank is where a job stands that has waited since an instant, and has aged so.
func (o *Order) rank(s *sizing.Sizes, submit, since core.Time, a age, came uint32) rank {
	r := rank{submit: submit, came: came, group: 1}
	class := s.Class()
	switch {
	case a.patient:
		r.group, r.key = 0, later(since, o.Patience)
		return r
	case o.By == FirstCome:
		return rank{group: 1, came: came}
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

// due is when a job ages next that has waited since an instant.
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

// next is how a job has aged that ages now.
func (o *Order) next(s *sizing.Sizes, since, now core.Time, a age) age {
	a.patient = a.patient || o.Patience > 0 && later(since, o.Patience) <= now
	for a.times < o.most(s.Class()) && ages(s, since, a.times+1) <= now {
		a.times++
	}
	a.due = o.due(s, since, a)
	return a
}

// later is an instant so many seconds after another; at most Forever.
func later(at, seconds core.Time) core.Time { return min(at+seconds, core.Forever) }

// work is the node-seconds of a job's reference; as many as can be counted where there are more.
func work(s *sizing.Sizes) int64 {
	if s.Nodes > 0 && s.Seconds > math.MaxInt64/int64(s.Nodes) {
		return math.MaxInt64
	}
	return s.Seconds * int64(s.Nodes)
}
