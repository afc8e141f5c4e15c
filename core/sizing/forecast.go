package sizing

import "accordion/core"

// Forecast is Statistics in a form that is fast to sum over a period.
type Forecast struct {
	nodes, seconds [Classes]float64
	// until is the number of jobs that arrive from the beginning of a day to the beginning of each half hour, and to
	// the end of the day. `area` is the integral of that number over time.
	until, area [Classes][HalfHours + 1]float64
}

// Forecast returns the forecast of the statistics, or nil if no job ever arrives.
func (s *Statistics) Forecast() *Forecast {
	f := &Forecast{nodes: s.Nodes, seconds: s.Seconds}
	some := false
	for c := range Classes {
		for h := range HalfHours {
			arrivals := s.Arrivals[h][c]
			some = some || arrivals > 0
			f.until[c][h+1] = f.until[c][h] + arrivals
			f.area[c][h+1] = f.area[c][h] + (f.until[c][h]+arrivals/2)*float64(HalfHour)
		}
	}
	if !some {
		return nil
	}
	return f
}

// overlap returns the job-seconds of the jobs of a class that arrive in the next span seconds and run `lasts` seconds each, as far
// as they run within this time. lasts is at most span. This is the sum of min(lasts, span − t) over all arrival times t. With A(t)
// arrivals until t, it is the integral of A(t) − A(0) over the last `lasts` seconds of this time.
func (f *Forecast) overlap(c Class, now core.Time, span, lasts float64) float64 {
	at := float64((now%Day + Day) % Day)
	before, _ := f.to(c, at)
	_, upper := f.to(c, at+span)
	_, lower := f.to(c, at+span-lasts)
	return max(0, upper-lower-before*lasts)
}

// to returns the number of jobs that arrive from the beginning of a day until the given second, which may be on a later day. It
// also returns the integral of that number over time.
func (f *Forecast) to(c Class, second float64) (arrivals, area float64) {
	const day = float64(Day)
	days := float64(int64(second / day))
	rest := second - days*day
	h := min(int(rest/float64(HalfHour)), HalfHours-1)
	into := rest - float64(h)*float64(HalfHour)
	until, all := &f.until[c], f.until[c][HalfHours]
	rate := (until[h+1] - until[h]) / float64(HalfHour)
	arrivals = days*all + until[h] + rate*into
	area = all*day*days*(days-1)/2 + days*f.area[c][HalfHours] + // whole days
		days*all*rest + f.area[c][h] + (until[h]+rate*into/2)*into
	return arrivals, area
}
