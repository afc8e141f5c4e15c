package model

import (
	"fmt"
	"math"

	"accordion/traces/swf"
)

// Lublin is the model of rigid jobs of Lublin and Feitelson ("The Workload on Parallel Supercomputers", JPDC 63(11), 2003), with the
// parameters of its published generator for jobs of one type. Run times depend on sizes, and submissions follow the hours of the day. Second
// 0 is midnight. Requested times are equal to run times, because the model has no others.
type Lublin struct {
	Jobs  int
	Nodes int     // number of nodes of the machine, at least 1
	Alpha float64 // parameter of the gaps between submissions at the busiest time, at most MostAlpha; the published value is 10.23, a lower value gives more load
	Seed  uint64
}

// MostAlpha is the largest Alpha. With a larger Alpha nearly every gap would be rejected and drawn again.
const MostAlpha = 25

// Log returns the jobs. Submissions have their own stream of random numbers, so that Alpha does not change the jobs.
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

// lublinSize returns the number of nodes of a job: one, a power of two, or any number. Its logarithm to base 2
// is uniform in each of two ranges. The ranges meet 2.5 below the logarithm of the machine's size. The lower
// range is more frequent.
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

// lublinRun returns the run time of a job in whole seconds: e to the power of one of two gamma distributions. The second one is more frequent
// for larger jobs. No job runs longer than e¹² seconds.
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

// arrivals generates the submission times of the model. The length of a gap between submissions is drawn in points, for the busiest time.
// Each half hour of the day has a number of points: the jobs submitted in this half hour, relative to the mean. A gap ends when its points
// are used up.
type arrivals struct {
	random  *Splitmix
	shape   float64
	weights [halfHours]float64
	half    int     // current half hour of the day
	paid    float64 // points used in this half hour
	begin   int64   // beginning of this half hour, in seconds
}

const (
	halfHours = 48
	halfHour  = 1800 // seconds
)

func newArrivals(alpha float64, random *Splitmix) *arrivals {
	const (
		busiest      = 1.0225 // factor from the gaps of the busiest time to the gaps of the whole day
		shape, scale = 8.1737, 3.9631
		dayBegins    = 11 // half hour of the day at which the distribution begins; it covers one day from there
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

// next returns the second of the next submission.
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
