package sizing

import "accordion/core"

// Class classifies jobs by length (Barsanti and Sodan, JSSPP 2006, Table 1).
type Class uint8

// The classes, by the requested duration of a job's reference.
const (
	Short  Class = iota // less than a minute
	Medium              // less than an hour
	Long
	Classes = 3
)

// ClassOf returns the class of a job whose reference lasts the given seconds.
func ClassOf(seconds core.Time) Class {
	switch {
	case seconds < 60:
		return Short
	case seconds < 3600:
		return Medium
	}
	return Long
}

// String returns the class as a word.
func (c Class) String() string {
	return [...]string{"short", "medium", "long"}[min(c, Long)]
}

// A day consists of HalfHours periods of HalfHour seconds. It begins at a multiple of Day.
const (
	HalfHour  core.Time = 1800
	HalfHours           = 48
	Day                 = HalfHours * HalfHour
)

// HalfHourOf returns the index of the half hour of the day that contains a second; the first one is 0.
func HalfHourOf(at core.Time) int { return int((at%Day + Day) % Day / HalfHour) }

// Statistics describe the jobs that users will submit (section 4.3 of the paper): how many of each class arrive, by
// half hour of the day, and their means.
type Statistics struct {
	Arrivals [HalfHours][Classes]float64 // mean number of jobs in that half hour of a day
	Nodes    [Classes]float64            // mean nodes of the jobs' references
	Seconds  [Classes]float64            // mean run time on the reference
}

// Tally counts jobs for Statistics when they are submitted and when they end. The zero value is ready to use.
type Tally struct {
	begun    bool
	from, to core.Time // times of the first and the last submission
	arrivals [HalfHours][Classes]int64
	nodes    [Classes]int64
	ended    [Classes]int64
	seconds  [Classes]float64
}

// Arrives counts a submission.
func (t *Tally) Arrives(at core.Time, s *Sizes) {
	if !t.begun {
		t.begun, t.from, t.to = true, at, at
	}
	t.from, t.to = min(t.from, at), max(t.to, at)
	t.arrivals[HalfHourOf(at)][s.Class()]++
	t.nodes[s.Class()] += int64(s.Nodes)
}

// Ends counts the end of a job that would have run the given seconds on its reference.
func (t *Tally) Ends(s *Sizes, seconds float64) {
	t.ended[s.Class()]++
	t.seconds[s.Class()] += seconds
}

// Statistics returns the statistics of the jobs counted until now. It returns false before a whole day has passed, because some
// half hours of the day are unknown until then.
func (t *Tally) Statistics(now core.Time) (Statistics, bool) {
	now = max(now, t.to)
	if !t.begun || now-t.from < Day {
		return Statistics{}, false
	}
	var s Statistics
	for c := range Classes {
		arrivals := int64(0)
		for h := range HalfHours {
			arrivals += t.arrivals[h][c]
			s.Arrivals[h][c] = float64(t.arrivals[h][c]) * float64(HalfHour) / float64(t.seen(h, now))
		}
		s.Nodes[c] = float64(t.nodes[c]) / float64(max(1, arrivals))
		s.Seconds[c] = t.seconds[c] / float64(max(1, t.ended[c]))
	}
	return s, true
}

// seen returns how many seconds of a half hour of the day have passed until now.
func (t *Tally) seen(h int, now core.Time) core.Time {
	first := (t.from%Day + Day) % Day
	length := now - t.from
	seconds := length / Day * HalfHour
	for _, begin := range [...]core.Time{core.Time(h) * HalfHour, core.Time(h)*HalfHour + Day} {
		seconds += max(0, min(first+length%Day, begin+HalfHour)-max(first, begin))
	}
	return seconds
}
