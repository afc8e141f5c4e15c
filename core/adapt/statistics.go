package adapt

import "accordion/core"

// Class is a kind of job by its length (Barsanti and Sodan, JSSPP 2006, Table 1).
type Class uint8

// The classes, by the requested seconds of a job's reference.
const (
	Short  Class = iota // less than a minute
	Medium              // less than an hour
	Long
	Classes = 3
)

// ClassOf is the class of a job whose reference lasts so many seconds.
func ClassOf(seconds core.Time) Class {
	switch {
	case seconds < 60:
		return Short
	case seconds < 3600:
		return Medium
	}
	return Long
}

// String is the class in a word.
func (c Class) String() string {
	return [...]string{"short", "medium", "long"}[min(c, Long)]
}

// A day is HalfHours stretches of HalfHour seconds. It begins where seconds divided by Day leave 0.
const (
	HalfHour  core.Time = 1800
	HalfHours           = 48
	Day                 = HalfHours * HalfHour
)

// HalfHourOf is in which half hour of its day a second lies, from 0.
func HalfHourOf(at core.Time) int { return int((at%Day + Day) % Day / HalfHour) }

// Statistics are what is known of jobs that nobody has submitted yet (section 4.3 of the paper): how many of each class
// arrive, by the half hour of the day, and what they are on average.
type Statistics struct {
	Arrivals [HalfHours][Classes]float64 // jobs in that half hour of a day, on average
	Nodes    [Classes]float64            // of their references, mean
	Seconds  [Classes]float64            // that they run on so many nodes, mean
}
