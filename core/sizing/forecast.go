package sizing

import "accordion/core"

// Forecast is Statistics made ready for sums over stretches of time.
type Forecast struct {
	nodes, seconds [Classes]float64
	// until is how many jobs arrive from the beginning of a day to that of each half hour, and to its end; area the integral of
	// that number over time.
	until, area [Classes][HalfHours + 1]float64
}

// Forecast makes them ready. It is nil where nothing ever arrives.
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

// overlap is the job-seconds within a stretch of time, from now on, of the jobs that arrive in it and last so many seconds
// each, at most as long as the stretch. With A(t) arrivals until t it is the sum of min(lasts, span − t) over arrivals, which is
// the integral of A over the last seconds of the stretch, less A(0) for as long.
func (f *Forecast) overlap(c Class, now core.Time, span, lasts float64) float64 {
	at := float64((now%Day + Day) % Day)
	before, _ := f.to(c, at)
	_, upper := f.to(c, at+span)
	_, lower := f.to(c, at+span-lasts)
	return max(0, upper-lower-before*lasts)
}

// to is how many jobs arrive from the beginning of a day to a second of it, or of a later one, and the integral of that number.
func (f *Forecast) to(c Class, second float64) (arrivals, area float64) {
	const day = float64(Day)
	days := float64(int64(second / day))
	rest := second - days*day
	h := min(int(rest/float64(HalfHour)), HalfHours-1)
	into := rest - float64(h)*float64(HalfHour)
	until, all := &f.until[c], f.until[c][HalfHours]
	rate := (until[h+1] - until[h]) / float64(HalfHour)
	arrivals = days*all + until[h] + rate*into
	area = all*day*days*(days-1)/2 + days*f.area[c][HalfHours] + // of whole days
		days*all*rest + f.area[c][h] + (until[h]+rate*into/2)*into
	return arrivals, area
}
