package figures

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"accordion/traces/paper/delegated"
)

// titles are the titles of the figures.
var titles = map[string]string{
	"fig7":  "Figure 7: one cluster, by the share of moldable jobs",
	"fig8":  "Figure 8: 20 % moldable jobs, by the number of clusters",
	"fig9":  "Figure 9: cem applications, by the number of clusters",
	"fig10": "Figure 10: a cem application that takes its time to answer",
	"fig11": "Figure 11: waste by ghosts on 4 clusters",
}

// Heading names the seeds, and what was done with jobs that are larger than a cluster.
func (e Experiment) Heading() string {
	n := delegated.Workload{Sizes: e.Sizes}.TooLarge(e.Usable)
	jobs := fmt.Sprintf("%d of the first %d jobs are larger than a cluster, and cut", n, delegated.Jobs)
	if e.Sizes == delegated.Skip || e.Sizes == delegated.NodesSkip {
		jobs = fmt.Sprintf("%s larger than a cluster left out until %d are drawn", counted(n, "job"), delegated.Jobs)
	}
	return fmt.Sprintf("%s from %d, sizes %v: %s", counted(e.Seeds, "seed"), e.Seed, e.Sizes, jobs)
}

// Text returns the figures that were made, as tables for a terminal, with the paper's statement about each.
func (d *Data) Text() string {
	var b strings.Builder
	claims := d.Claims()
	for _, name := range d.names {
		fmt.Fprintf(&b, "%s\n", titles[name])
		if name == "fig10" {
			d.delayTable(&b)
		}
		for _, p := range d.panels() {
			if number := strings.TrimPrefix(name, "fig"); p.figure == number || strings.HasPrefix(p.figure, number) && len(p.figure) > len(number) && (p.figure[len(number)] < '0' || p.figure[len(number)] > '9') {
				fmt.Fprintf(&b, "\n%s: %s\n%s\n", p.figure, p.title, d.panelTable(p))
			}
		}
		b.WriteString("\nThe paper's words:\n")
		for _, c := range claims {
			if c.figure == name {
				fmt.Fprintf(&b, "  %s %s: %s\n", c.ID, c.Printed, c.verdict())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// verdict returns a claim's verdict, with what it depends on.
func (c Claim) verdict() string {
	if c.Depends {
		return string(c.Verdict) + " (by readings chosen for their fit: no confirmation)"
	}
	return string(c.Verdict)
}

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

func (d *Data) panelTable(p panel) string {
	t := newTable()
	header := table.Row{p.axis}
	for _, s := range p.series {
		header = append(header, s.name)
	}
	t.AppendHeader(header)
	for i, x := range p.series[0].xs {
		row := table.Row{x}
		for _, s := range p.series {
			row = append(row, shown(summary(d.values(s.points[i], p.metric))))
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func (d *Data) delayTable(b *strings.Builder) {
	for _, hours := range works {
		t := newTable()
		header := table.Row{"fair-start \\ D"}
		for _, a := range adaptations {
			header = append(header, fmt.Sprintf("%d s", a))
		}
		t.AppendHeader(header)
		for _, fair := range fairs {
			row := table.Row{fmt.Sprintf("%d s", fair)}
			for _, w := range d.delays {
				if w.hours == hours && w.fair == fair {
					low, high := w.interval()
					s := summary(w.seconds)
					row = append(row, fmt.Sprintf("%.1f %%; %.0f (%.0f, %.0f); %.0f to %.0f", w.late(), s.Avg, low, high, s.Min, s.Max))
				}
			}
			t.AppendRow(row)
		}
		fmt.Fprintf(b, "\nWork %g h, %d draws: share that ends more than D later than with D = 0; mean in s (95 %% interval); least and most\n%s\n", hours, d.experiment.Draws, t.Render())
	}
}

// ClaimsText returns the table of claims.
func (d *Data) ClaimsText() string {
	t := newTable()
	t.AppendHeader(table.Row{"claim", "printed", "ours, mean of the seeds", "verdict", "expected", "rule, and where"})
	var columns []table.ColumnConfig
	for i, width := range []int{32, 56, 9, 20, 44} {
		columns = append(columns, table.ColumnConfig{Number: i + 2, WidthMax: width, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(columns)
	t.Style().Options.SeparateRows = true
	for _, c := range d.Claims() {
		id := c.ID
		if c.Depends {
			id += " †"
		}
		t.AppendRow(table.Row{id, c.Printed, c.Ours, c.Verdict, c.Expected, c.Why})
	}
	return t.Render() + "\n† depends on readings that were chosen because they fit the printed figures: it confirms the choice, not the paper.\n"
}

// Sensitive has the figures under one interpretation of the cem application.
type Sensitive struct {
	Work       string  `json:"work"`
	Iterations float64 `json:"iterations"`
	Hosts      float64 `json:"hosts"`   // mean hosts of a cem application, with 100 % cem applications on 8 clusters
	Several    float64 `json:"several"` // share of the cem applications on several clusters
	MB         float64 `json:"mb"`      // largest traffic on 8 clusters
	Unique     float64 `json:"unique"`  // largest number of unique configurations on 8 clusters
	Waste      float64 `json:"waste"`   // million host-seconds, with 100 % cem applications on 4 clusters and a fair-start delay of 30 s
}

// Sensitivity returns the figures under other interpretations of the cem application.
func (d *Data) Sensitivity() []Sensitive {
	var all []Sensitive
	for i, g := range d.modeled() {
		m, last := models[i], g[len(g)-1]
		s := Sensitive{Work: "that of the job", Iterations: m.Iterations, Hosts: d.read(last, cemHosts) / delegated.Jobs, Several: d.read(last, several)}
		if m.Hours > 0 {
			s.Work = fmt.Sprintf("%d × %.0f s", delegated.Hosts, 3600*m.Hours)
		}
		for _, p := range g {
			s.MB, s.Unique = max(s.MB, d.read(p, bytes)), max(s.Unique, d.read(p, unique))
		}
		s.Waste = d.read(d.experiment.modeled(m, d.experiment.waste(100, 30)), wasted)
		all = append(all, s)
	}
	return all
}

// SensitivityText returns Sensitivity for a terminal.
func (d *Data) SensitivityText() string {
	t := newTable()
	t.AppendHeader(table.Row{"work, iterations", "hosts of a cem application (8 clusters, 100 %)", "share over several", "MB at most (8 clusters)", "unique at most", "waste, million (4 clusters, 30 s, 100 %)"})
	for _, s := range d.Sensitivity() {
		t.AppendRow(table.Row{fmt.Sprintf("%s, %.0f", s.Work, s.Iterations), digits(s.Hosts), digits(s.Several), digits(s.MB), digits(s.Unique), digits(s.Waste)})
	}
	return fmt.Sprintf("Other readings of the cem application, mean of %s\n", counted(d.experiment.Readings, "seed")) + t.Render() + "\n"
}

func shown(s Summary) string {
	if s.Min == s.Max {
		return digits(s.Avg)
	}
	return digits(s.Avg) + " (" + digits(s.Min) + "–" + digits(s.Max) + ")"
}

func digits(x float64) string {
	if x >= 100 || x <= -100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
