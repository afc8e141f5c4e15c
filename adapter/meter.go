package adapter

import "time"

// Meter hears what the loop does, for whoever counts it (adapter/metrics for Prometheus). Its methods are called from
// several goroutines and must not block. Seconds and counts are of the cluster's own time, which may be virtual.
type Meter interface {
	// Cycle: one look, plan and act is over. The reading it was made on began at read; shown is how many managed jobs
	// stand in each phase, as View has them, and waiting how many jobs wait in all.
	Cycle(took time.Duration, read time.Time, phases map[string]int, waiting int)
	// Call: one call of the batch system is over; verb is "observe" or an intent's.
	Call(verb string, took time.Duration, err error)
	// Grew: a job's new nodes are usable, late after the planned second; cause is what they waited for, "" for nothing.
	Grew(late time.Duration, cause string)
	// Broke: a promise was broken, for the cause.
	Broke(cause string)
	// Spared: so many node-seconds were not held that the same jobs, held at their peaks all the time they ran, would have.
	Spared(nodeSeconds int64)
}

// deaf is a Meter for those who count nothing.
type deaf struct{}

func (deaf) Cycle(time.Duration, time.Time, map[string]int, int) {}
func (deaf) Call(string, time.Duration, error)                   {}
func (deaf) Grew(time.Duration, string)                          {}
func (deaf) Broke(string)                                        {}
func (deaf) Spared(int64)                                        {}
