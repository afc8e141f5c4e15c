package gantt

import (
	"fmt"

	"accordion/traces/workload"
)

// Summary returns the chart's figures in two lines for a terminal.
func Summary(g Chart) string {
	f := g.Figures()
	text := fmt.Sprintf("%d jobs on %d nodes, %.0f %% of the machine held. ", f.Jobs, len(g.Nodes), 100*f.Utilization)
	text += fmt.Sprintf("%d growths, %.1f s late in the mean, %.1f s at worst; %d shrinks.", f.Growths, f.Lateness.Seconds(), f.Worst.Seconds(), f.Shrinks)
	if f.Missed > 0 {
		text += fmt.Sprintf(" %d growths were promised and did not come.", f.Missed)
	}
	if f.AtPeak > 0 {
		text += fmt.Sprintf("\nThe %d evolving jobs held %.0f node-minutes; as rigid jobs of their peak sizes they would have held %.0f.",
			f.ByKind[workload.Evolving], f.Held.Minutes(), f.AtPeak.Minutes())
	}
	return text
}
