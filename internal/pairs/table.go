package pairs

import (
	"fmt"
	"math"
	"strings"

	"accordion/traces/interval"
)

// parts returns the figures in the order of a table's rows.
func (m Measured) parts() []Figures { return []Figures{m.All, m.Evolving, m.Others} }

var kinds = []string{"all", "evolving", "others"}

func (f Figures) values() []float64 { return []float64{f.Wait, f.Slowdown, f.Longest} }

// String returns the figures in one line.
func (m Measured) String() string {
	var b strings.Builder
	for i, f := range m.parts() {
		fmt.Fprintf(&b, "%s: wait %.1f s, slowdown %.2f, longest %.0f s; ", kinds[i], f.Wait, f.Slowdown, f.Longest)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// Table compares two policies that ran the same workloads. For each figure it computes the ratio of the policy's
// value to the other policy's value. It returns the geometric mean of these ratios, with its 95 % interval.
func Table(policy, other []Measured) string {
	var b strings.Builder
	b.WriteString("| jobs | mean wait | slowdown | longest wait |\n|---|---|---|---|\n")
	for kind, name := range kinds {
		b.WriteString("| " + name)
		for figure := range (Figures{}).values() {
			var logs []float64
			for i := range policy {
				x, y := policy[i].parts()[kind].values()[figure], other[i].parts()[kind].values()[figure]
				logs = append(logs, math.Log(max(x, 0.1)/max(y, 0.1))) // waits below a tenth of a second count as a tenth of a second
			}
			e := interval.Of(logs)
			fmt.Fprintf(&b, " | %.2f", math.Exp(e.Mean))
			if !math.IsNaN(e.Half) {
				fmt.Fprintf(&b, " (%.2f to %.2f)", math.Exp(e.Mean-e.Half), math.Exp(e.Mean+e.Half))
			}
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
