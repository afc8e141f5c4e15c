package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"accordion/charts"
	"accordion/core"

	"gonum.org/v1/plot"
)

// mark is a labeled instant on a time axis.
type mark struct {
	at   core.Time
	text string
}

// marks returns some round instants of a period: dates if they are known, otherwise days or hours of the workload.
func marks(from, to core.Time, begin time.Time) []mark {
	const most = 9
	if !begin.IsZero() && to-from > 60*86400 && to-from < 1e10 {
		return months(from, to, begin, most)
	}
	zone := core.Time(0)
	if !begin.IsZero() {
		_, offset := begin.Zone()
		zone = (begin.Unix() + int64(offset)) % (14 * 86400)
	}
	every := charts.Every(float64(to-from), most)
	var all []mark
	for at := from - floorMod(from+zone, every); at <= to; at += every {
		if at >= from {
			all = append(all, mark{at, markText(at, every, begin)})
		}
	}
	return all
}

func floorMod(a, b core.Time) core.Time { return (a%b + b) % b }

func markText(at, every core.Time, begin time.Time) string {
	if begin.IsZero() {
		if every >= 86400 {
			return "day " + strconv.FormatInt(at/86400, 10)
		}
		return "day " + strconv.FormatInt((at-floorMod(at, 86400))/86400, 10) + ", " + time.Unix(floorMod(at, 86400), 0).UTC().Format("15:04")
	}
	when := time.Unix(begin.Unix()+at, 0).In(begin.Location())
	if every >= 86400 {
		return when.Format("2 Jan")
	}
	return when.Format("2 Jan 15:04")
}

// months returns the first days of months, or of years, in a period: at most `most` of them.
func months(from, to core.Time, begin time.Time, most int) []mark {
	const month = 2629746 // mean length in seconds
	every := 1
	for _, every = range []int{1, 2, 3, 6, 12, 24, 60, 120} {
		if float64(to-from)/float64(every*month) <= float64(most) {
			break
		}
	}
	first := time.Unix(begin.Unix()+from, 0).In(begin.Location())
	m := first.Year()*12 + int(first.Month()) - 1
	var all []mark
	for m = m / every * every; ; m += every {
		day := time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, begin.Location())
		at := day.Unix() - begin.Unix()
		if at > to {
			return all
		}
		if at < from {
			continue
		}
		text := day.Format("Jan 2006")
		if every%12 == 0 {
			text = day.Format("2006")
		}
		all = append(all, mark{at, text})
	}
}

// timeTicks implements plot.Ticker for a time axis.
type timeTicks struct{ begin time.Time }

func (t timeTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for _, m := range marks(core.Time(low), core.Time(high), t.begin) {
		ticks = append(ticks, plot.Tick{Value: float64(m.at), Label: m.text})
	}
	return ticks
}

// logTicks implements plot.Ticker for a logarithmic axis.
type logTicks struct{ unit string }

func (t logTicks) Ticks(low, high float64) []plot.Tick {
	values := []float64{1, 2, 5, 10, 50, 100, 1e3, 1e4, 1e5, 1e6}
	if t.unit == "seconds" {
		values = []float64{1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400}
	}
	var ticks []plot.Tick
	for _, v := range values {
		if v < low*0.999 || v > high*1.001 {
			continue
		}
		text := digits(v)
		if t.unit == "seconds" {
			text = length(v)
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(text)})
	}
	return ticks
}

// shareTicks implements plot.Ticker for 0 to 100 %.
type shareTicks struct{}

func (shareTicks) Ticks(float64, float64) []plot.Tick {
	var ticks []plot.Tick
	for k := range 5 {
		ticks = append(ticks, plot.Tick{Value: float64(k) / 4, Label: strconv.Itoa(25*k) + " %"})
	}
	return ticks
}

// countTicks implements plot.Ticker with a few round numbers from 0.
type countTicks struct{}

func (countTicks) Ticks(_, high float64) []plot.Tick {
	step := charts.Step(high, 6)
	var ticks []plot.Tick
	for v := 0.0; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: plain(thousands(strconv.FormatFloat(math.Round(v), 'f', 0, 64)))})
	}
	return ticks
}

// plain replaces thin spaces, which the figures' font lacks.
func plain(s string) string { return strings.ReplaceAll(s, thin, "\u00a0") }
