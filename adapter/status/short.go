package status

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Limits of texts, in characters, because users and long profiles can make them long. --json has no such limits.
const (
	widestCell = 48
	widestLast = 120 // width of the last cell, which has nodes or the reason to wait
	widestLine = 400 // width of a line of an explanation
	mostSteps  = 7   // number of steps that are shown of a profile
)

// short cuts a text to at most the given number of characters.
func short(s string, most int) string { return text.Snip(s, most, "…") }

// narrow limits the cells of a table with the given number of columns.
func narrow(t table.Writer, columns int) {
	all := make([]table.ColumnConfig, columns)
	for i := range all {
		all[i] = table.ColumnConfig{Number: i + 1, WidthMax: widestCell, WidthMaxEnforcer: short}
	}
	all[columns-1].WidthMax = widestLast
	t.SetColumnConfigs(all)
}

// leftOut returns a note that steps are left out, and "" if no steps are.
func leftOut(steps int) string {
	if steps <= mostSteps+1 {
		return ""
	}
	return fmt.Sprintf("… (%d steps)", steps)
}
