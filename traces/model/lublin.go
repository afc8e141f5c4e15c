package model

import (
	"fmt"
	"math"

	"accordion/traces/swf"
)

// Lublin is the model of rigid jobs of Lublin and Feitelson ("The Workload on Parallel Supercomputers", JPDC 63(11), 2003),
// with the parameters of its published generator for jobs of one type: sizes, run times that depend on them, and submissions
// that follow the hours of the day. Second 0 is midnight. Requested times are the run times: the model has no others.
type Lublin struct {
	Jobs  int
	Nodes int     // of the machine, from 1
	Alpha float64 // of the gaps between submissions at the busiest time; the published one is 10.23, less is more load. At most MostAlpha
	Seed  uint64
}

// MostAlpha is the largest Alpha: beyond it nearly every gap is drawn again.
const MostAlpha = 25

// Log makes the jobs. Submissions have a stream of random numbers for themselves: with another Alpha the jobs are the same.
func (l Lublin) Log() *swf.Log {
	log := &swf.Log{Name: fmt.Sprintf("lublin-%d-%d", l.Jobs, l.Seed), Records: make([]swf.Record, l.Jobs)}
	seeds := Splitmix(l.Seed)
	jobs, gaps := Splitmix(seeds.Next()), Splitmix(seeds.Next())
	arrivals := newArrivals(l.Alpha, &gaps)
	for i := range log.Records {
		size := lublinSize(float64(l.Nodes), &jobs)
		run := lublinRun(size, &jobs)
		log.Records[i] = record(int64(i)+1, arrivals.next(), int32(size), run, run)
	}
	header(&log.Header, l.Jobs, l.Nodes, "none: the model of Lublin and Feitelson",
		fmt.Sprintf("made by accordion trace generate --model lublin --nodes %d --alpha %g --jobs %d --seed %d", l.Nodes, l.Alpha, l.Jobs, l.Seed))
	return log
}

// lublinSize is how many nodes a job has: one, a power of two, or any number. The logarithm is uniform below 2.5 under the
// machine's more often than above.
func lublinSize(machine float64, s *Splitmix) int {
	const serial, power, low, under = 0.244, 0.576, 0.8, 0.86
	high := math.Log2(machine)
	middle := high - 2.5
	kind := s.Share()
	if kind <= serial {
		return 1
	}
	from, to := low, middle
	if s.Share() > under {
		from, to = middle, high
	}
	size := from + s.Share()*(to-from)
	if kind <= serial+power {
		size = math.Round(size)
	}
	return int(min(max(math.Round(math.Exp2(size)), 1), machine))
}

// lublinRun is how long a job of so many nodes runs, in whole seconds: e to the power of one of two gamma distributions, the larger
// the job the more often the second. No job runs longer than e¹² seconds.
func lublinRun(size int, s *Splitmix) int64 {
	const longest = 12
	first := min(max(-0.0054*float64(size)+0.78, 0), 1)
	for {
		shape, scale := 4.2, 0.94
		if s.Share() > first {
			shape, scale = 312, 0.03
		}
		if power := s.gamma(shape, scale); power <= longest {
			return max(int64(math.Exp(power)), 1)
		}
	}
}

// arrivals are the submissions of the model: gaps are drawn as at the busiest time, in points; a half hour of the day has as
// many points to give as jobs are submitted in it, compared with the mean, and a gap lasts until its points are paid.
type arrivals struct {
	random  *Splitmix
	shape   float64
	weights [halfHours]float64
	half    int     // of the day, now
	paid    float64 // of this half hour's points
	begin   int64   // of the half hour, in seconds
}

const (
	halfHours = 48
	halfHour  = 1800 // seconds
)

func newArrivals(alpha float64, random *Splitmix) *arrivals {
	const (
		busiest      = 1.0225 // the gaps of the busiest time, made those of all day
		shape, scale = 8.1737, 3.9631
		dayBegins    = 11 // in half hours: the distribution goes from there to the same time of the next day
	)
	a := &arrivals{random: random, shape: alpha * busiest}
	sum := 0.0
	for i := dayBegins; i < dayBegins+halfHours; i++ {
		w := gammaBelow(float64(i)+0.5, shape, scale) - gammaBelow(float64(i)-0.5, shape, scale)
		a.weights[(i-1)%halfHours] = w
		sum += w
	}
	for i := range a.weights {
		a.weights[i] *= halfHours / sum
	}
	return a
}

// next is the second of the next submission.
func (a *arrivals) next() int64 {
	const scale, longest = 0.4871, 13
	power := math.Inf(1)
	for power > longest {
		power = a.random.gamma(a.shape, scale)
	}
	a.paid += math.Exp(power) / halfHour
	for a.paid > a.weights[a.half] {
		a.paid -= a.weights[a.half]
		a.half = (a.half + 1) % halfHours
		a.begin += halfHour
	}
	return a.begin + int64(halfHour*a.paid/a.weights[a.half])
}
