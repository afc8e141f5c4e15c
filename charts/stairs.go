package charts

import (
	"fmt"
	"math"
	"strings"

	"accordion/core"
)

// Tick is a round value of an axis, with its place in the drawing.
type Tick struct {
	At   float64
	Text string
}

// Scale maps values to places on an axis: Low to Start, and High to End.
type Scale struct{ Low, High, Start, End float64 }

// At returns the place of a value.
func (s Scale) At(v float64) float64 {
	if s.High <= s.Low {
		return s.Start
	}
	return Round(s.Start + (v-s.Low)/(s.High-s.Low)*(s.End-s.Start))
}

// Round rounds to a tenth of a pixel, because less is invisible.
func Round(v float64) float64 { return math.Round(10*v) / 10 }

// Every returns the shortest round length of time that fits into `length` at most `most` times.
func Every(length float64, most int) core.Time {
	every := core.Time(1)
	for _, every = range []core.Time{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400} {
		if length/float64(every) <= float64(most) {
			break
		}
	}
	for length/float64(every) > float64(most) {
		every *= 2
	}
	return every
}

// Times returns a few ticks at round lengths of time, from 0.
func (s Scale) Times() []Tick {
	all, every := []Tick{{s.At(0), "0"}}, Every(s.High, 5)
	for t := every; float64(t) <= s.High; t += every {
		all = append(all, Tick{s.At(float64(t)), core.FormatDuration(t)})
	}
	return all
}

// Counts returns a few ticks at round whole numbers, from 0.
func (s Scale) Counts() (all []Tick) {
	step := Step(s.High, 5)
	for v := 0.0; v <= s.High; v += step {
		all = append(all, Tick{s.At(v), fmt.Sprint(int(v))})
	}
	return all
}

// Step returns the smallest of 1, 2, 5, 10… that fits into `high` at most `most` times.
func Step(high float64, most int) float64 {
	step := 1.0
	for k := 0; high/step > float64(most); k++ {
		step *= []float64{2, 2.5, 2}[k%3]
	}
	return step
}

// Span is a number of nodes during a period.
type Span struct {
	From, To core.Time
	Nodes    int
}

// Spans returns the steps of a profile that begins at a second.
func Spans(ep core.EP, at core.Time) []Span {
	all := make([]Span, len(ep))
	for i, s := range ep {
		all[i] = Span{at, at + s.Duration, s.Nodes}
		at += s.Duration
	}
	return all
}

// Stairs returns the SVG path of spans in order, which begins and ends at 0 nodes. It returns "" for no spans.
func Stairs(all []Span, x, y Scale) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%g %g", x.At(float64(all[0].From)), y.At(0))
	at := all[0].From
	for _, s := range all {
		if s.From > at {
			fmt.Fprintf(&b, "V%gH%g", y.At(0), x.At(float64(s.From)))
		}
		fmt.Fprintf(&b, "V%gH%g", y.At(float64(s.Nodes)), x.At(float64(s.To)))
		at = s.To
	}
	fmt.Fprintf(&b, "V%g", y.At(0))
	return b.String()
}
