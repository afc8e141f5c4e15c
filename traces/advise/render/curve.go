package render

import (
	"fmt"
	"math"

	"accordion/charts"
	"accordion/core"
	"accordion/traces/advise"
)

// curve is a drawing of a job's times on the sizes on which it ran, with the times of the line.
type curve struct {
	Across, Up []charts.Tick // nodes, on a logarithmic scale; time
	Told       string        // path through the line's time on each of its sizes
	Sizes      []drawnSize
}

type drawnSize struct {
	X, Median, Quantile float64
	Slower              bool
	About               string
}

func curveOf(s *advise.Sizing) *curve {
	choices := s.Choices()
	longest := core.Time(1)
	for _, c := range choices {
		longest = max(longest, c.Total())
	}
	for _, z := range s.Sizes {
		longest = max(longest, z.Quantile)
	}
	first, last := math.Log2(float64(s.Sizes[0].Nodes)), math.Log2(float64(s.Sizes[len(s.Sizes)-1].Nodes))
	x := charts.Scale{Low: first, High: last, Start: left + 16, End: right - 16}
	y := charts.Scale{High: 1.06 * float64(longest), Start: bottom, End: top}
	c := &curve{Up: y.Times()}
	for _, z := range s.Sizes {
		at := x.At(math.Log2(float64(z.Nodes)))
		c.Across = append(c.Across, charts.Tick{At: at, Text: fmt.Sprint(z.Nodes)})
		c.Sizes = append(c.Sizes, drawnSize{at, y.At(float64(z.Median)), y.At(float64(z.Quantile)), z.Slower,
			fmt.Sprintf("%s: %s, the median is %s", nodes(z.Nodes), count(z.Runs, "run"), core.FormatDuration(z.Median))})
	}
	c.Across = apart(c.Across)
	for i, choice := range choices {
		word := "L"
		if i == 0 {
			word = "M"
		}
		c.Told += fmt.Sprintf("%s%g %g", word, x.At(math.Log2(float64(choice[0].Nodes))), y.At(float64(choice[0].Duration)))
	}
	return c
}

// apart leaves out ticks that are too near to the previous tick.
func apart(all []charts.Tick) []charts.Tick {
	const near = 28
	out := all[:0]
	for _, t := range all {
		if len(out) == 0 || t.At-out[len(out)-1].At >= near {
			out = append(out, t)
		}
	}
	return out
}
