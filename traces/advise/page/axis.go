package page

import (
	"fmt"
	"math"

	"accordion/core"
)

// tick is a round value of an axis, and where it is in the drawing.
type tick struct {
	At   float64
	Text string
}

// scale is where values are along an axis: from low at start to high at end.
type scale struct{ low, high, start, end float64 }

func (s scale) at(v float64) float64 {
	if s.high <= s.low {
		return s.start
	}
	return round(s.start + (v-s.low)/(s.high-s.low)*(s.end-s.start))
}

// round keeps a tenth of a pixel: more is never seen.
func round(v float64) float64 { return math.Round(10*v) / 10 }

// times are a few round lengths of time, from 0.
func (s scale) times() []tick {
	const most = 5
	every := core.Time(1)
	for _, every = range []core.Time{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400} {
		if s.high/float64(every) <= most {
			break
		}
	}
	for s.high/float64(every) > most {
		every *= 2
	}
	all := []tick{{s.at(0), "0"}}
	for t := every; float64(t) <= s.high; t += every {
		all = append(all, tick{s.at(float64(t)), core.FormatDuration(t)})
	}
	return all
}

// counts are a few round whole numbers, from 0.
func (s scale) counts() []tick {
	const most = 5
	step := 1
	for k := 0; s.high/float64(step) > most; k++ {
		step = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	var all []tick
	for n := 0; float64(n) <= s.high; n += step {
		all = append(all, tick{s.at(float64(n)), fmt.Sprint(n)})
	}
	return all
}
