package advise

import (
	"fmt"
	"slices"
	"strings"

	"accordion/core"
)

// Draw draws a profile with characters, time to the right and nodes upward, in at most `rows` rows. A row
// stands for the number of nodes at its left, and for all smaller numbers down to the number of the next row.
//
//	16 |      ######
//	 4 |  ##########
//	 2 |################
//	   +----------------
//	    0            3h
func Draw(ep core.EP, columns, rows int) string {
	levels := levelsOf(ep, rows)
	total := ep.Total()
	if len(levels) == 0 || total <= 0 || columns < 1 {
		return ""
	}
	left := len(fmt.Sprint(levels[0]))
	needs := make([]int, columns) // maximum number of nodes in each column
	var at core.Time
	for _, s := range ep {
		first := int(at * core.Time(columns) / total)
		at += s.Duration
		last := int((at*core.Time(columns)+total-1)/total) - 1
		for c := first; c <= last && c < columns; c++ {
			needs[c] = max(needs[c], s.Nodes)
		}
	}
	var b strings.Builder
	for i, level := range levels {
		below := 0
		if i+1 < len(levels) {
			below = levels[i+1]
		}
		line := make([]byte, columns)
		for c := range line {
			line[c] = ' '
			if needs[c] > below {
				line[c] = '#'
			}
		}
		fmt.Fprintf(&b, "%*d |%s\n", left, level, strings.TrimRight(string(line), " "))
	}
	end := core.FormatDuration(total)
	fmt.Fprintf(&b, "%*s +%s\n%*s  0%*s\n", left, "", strings.Repeat("-", columns), left, "", max(columns-1, len(end)+1), end)
	return b.String()
}

// levelsOf returns the sizes of a profile, the largest first. If a profile has more than `rows` sizes, levelsOf returns some of them at
// equal distances.
func levelsOf(ep core.EP, rows int) []int {
	var levels []int
	for _, s := range ep {
		if s.Nodes > 0 {
			levels = append(levels, s.Nodes)
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	slices.Reverse(levels)
	if len(levels) <= rows || rows < 1 {
		return levels
	}
	few := make([]int, rows)
	for i := range few {
		few[i] = levels[i*(len(levels)-1)/max(rows-1, 1)]
	}
	return few
}
