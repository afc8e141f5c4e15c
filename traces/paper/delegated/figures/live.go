package figures

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"accordion/traces/paper/chart"
	"accordion/traces/paper/delegated/live"
)

// Live is Figure 12: processes instead of a simulation, with a point for each share of cem applications.
type Live []live.Point

// The paper's results, relative to the simulation.
const (
	mostTraffic = 1.5
	mostTime    = 3.3
)

// LiveClaim is a claim about Figure 12.
type LiveClaim struct {
	ID      string  `json:"id"`
	Printed string  `json:"printed"`
	Bound   float64 `json:"bound"` // relative to the simulation
	Ours    float64 `json:"ours"`  // the largest point
	Verdict Verdict `json:"verdict"`
}

// Claims compares the paper's claims about the figure with our largest point.
func (l Live) Claims() []LiveClaim {
	all := []LiveClaim{
		{ID: "12a", Printed: "traffic at most 1.5 times the simulated one", Bound: mostTraffic},
		{ID: "12b", Printed: "processor time at most 3.3 times that of the simulation", Bound: mostTime},
	}
	for _, p := range l {
		all[0].Ours, all[1].Ours = max(all[0].Ours, p.Traffic()), max(all[1].Ours, p.Time())
	}
	for i := range all {
		if all[i].Verdict = Fails; all[i].Ours <= all[i].Bound {
			all[i].Verdict = Holds
		}
	}
	return all
}

// Text returns the figure for a terminal.
func (l Live) Text() string {
	t := newTable()
	t.AppendHeader(table.Row{"cem, %", "MB", "simulated", "times", "sidecar, s", "launchers, s", "simulated", "times", "makespan, s", "simulated", "launchers that failed"})
	why := ""
	for _, p := range l {
		t.AppendRow(table.Row{p.CEM, megabytes(p.Live.Bytes), megabytes(p.Simulated.Bytes), digits(p.Traffic()), digits(p.Live.Sidecar), digits(p.Live.Launchers),
			digits(p.Simulated.Seconds), digits(p.Time()), p.Live.Makespan, p.Simulated.Makespan, p.Live.Failed})
		if p.Live.Why != "" {
			why = "One of the launchers that failed said: " + p.Live.Why + "\n"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Figure 12: launchers as processes, and the sidecar over embedded clusters, beside a simulation of the same jobs\n\n%s\n%s\nThe paper's words:\n", t.Render(), why)
	for _, c := range l.Claims() {
		fmt.Fprintf(&b, "  %s %s: %s (%s times at most)\n", c.ID, c.Printed, c.Verdict, digits(c.Ours))
	}
	return b.String()
}

func megabytes(n int64) string { return digits(float64(n) / 1e6) }

// Charts returns the figure's panels.
func (l Live) Charts() []chart.Chart {
	draw := func(name string, of func(live.Point) float64) curve {
		c := curve{name: name}
		for _, p := range l {
			v := of(p)
			c.add(float64(p.CEM), Summary{v, v, v})
		}
		return c
	}
	const axis = "cem applications, %"
	return []chart.Chart{
		panelChart("12a", "traffic, MB", axis, []curve{
			draw("processes", func(p live.Point) float64 { return float64(p.Live.Bytes) / 1e6 }),
			draw("simulated", func(p live.Point) float64 { return float64(p.Simulated.Bytes) / 1e6 }),
		}),
		panelChart("12b", "processor time, s", axis, []curve{
			draw("sidecar", func(p live.Point) float64 { return p.Live.Sidecar }),
			draw("launchers", func(p live.Point) float64 { return p.Live.Launchers }),
			draw("simulation, both", func(p live.Point) float64 { return p.Simulated.Seconds }),
		}),
	}
}
