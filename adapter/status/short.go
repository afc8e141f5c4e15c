package status

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Limits of texts in characters, because names that users choose, and profiles with many steps, may be long. With --json there are no
// such limits.
const (
	widestCell = 48
	widestLast = 120 // width of the last cell, which has the nodes, or the reason why the job waits
	widestLine = 400 // width of a line of an explanation
	mostSteps  = 7   // largest number of a profile's steps that are shown
)

// short cuts a text to at most the given number of characters.
func short(s string, most int) string { return text.Snip(s, most, "…") }

// narrow limits the width of all cells in a table that has the given number of columns.
func narrow(t table.Writer, columns int) {
	all := make([]table.ColumnConfig, columns)
	for i := range all {
		all[i] = table.ColumnConfig{Number: i + 1, WidthMax: widestCell, WidthMaxEnforcer: short}
	}
	all[columns-1].WidthMax = widestLast
	t.SetColumnConfigs(all)
}

// leftOut returns a note that some of a profile's steps are left out. It returns "" if all steps are shown.
func leftOut(steps int) string {
	if steps <= mostSteps+1 {
		return ""
	}
	return fmt.Sprintf("… (%d steps)", steps)
}
